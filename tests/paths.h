#pragma once
// The folders of the project and of the built programs. `make test` sets both variables; by hand, start build/tests in
// the project's root.

#include <cstdlib>
#include <filesystem>

namespace warplab::test {

inline std::filesystem::path folder_from(const char* variable, const char* otherwise) {
    const char* value = std::getenv(variable);
    return std::filesystem::absolute(value && *value ? value : otherwise);
}

/// Return the project's root.
inline std::filesystem::path root_folder() { return folder_from("WARPLAB_ROOT", "."); }

/// Return the folder of the built programs: warplab, cpu/rewrite, labs/<lab>/oracle.so.
inline std::filesystem::path build_folder() { return folder_from("WARPLAB_BUILD", "build"); }

}  // namespace warplab::test
