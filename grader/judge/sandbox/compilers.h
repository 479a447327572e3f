#pragma once
// Finds a compiler's real location if the PATH leads to a link, a wrapper script or a cache such as ccache.

#include <filesystem>
#include <string>
#include <vector>

namespace warplab::sandbox {

struct CompilerPlaces {
    std::filesystem::path program;               // the compiler itself; empty if it cannot be found
    std::vector<std::filesystem::path> folders;  // existing files and folders that it reads, except those in /usr
};

/// Ask the g++ that `found` starts for its driver, its search folders and its include folders.
CompilerPlaces gcc_places(const std::filesystem::path& found);

/// Ask the nvcc that `found` starts for its toolkit's bin, nvvm, include, lib64, lib and targets.
CompilerPlaces nvcc_places(const std::filesystem::path& found);

/// Return whether the path is the folder or is in it. Links are not resolved.
bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Return the files and folders outside /usr that the judge's other programs, such as nm, need in a sandbox.
std::vector<std::filesystem::path> helper_places(const std::vector<std::string>& programs);

/// Return the reason why the sandbox must not see one of `folders`, and a remedy; empty if all are safe. A folder is
/// unsafe if it contains a home folder or one of `secrets`, or if it is in one of `secrets`.
std::string why_unsafe(const std::vector<std::filesystem::path>& folders,
                       const std::vector<std::filesystem::path>& secrets);

}  // namespace warplab::sandbox
