#pragma once
// Temporary files for the targets, in memory if the machine has a file system in memory.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace warplab::fuzz {

/// Return a path that only this process uses.
inline std::filesystem::path scratch_path(const std::string& name) {
    const std::filesystem::path memory = "/dev/shm";
    const auto folder = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
    return folder / ("warplab-fuzz-" + std::to_string(getpid()) + "-" + name);
}

/// A file with these bytes, removed by the destructor.
struct ScratchFile {
    std::filesystem::path path;
    ScratchFile(const std::string& name, std::string_view bytes) : path(scratch_path(name)) {
        std::ofstream(path, std::ios::binary) << bytes;
    }
    ScratchFile(const ScratchFile&) = delete;
    ~ScratchFile() { unlink(path.c_str()); }
};

/// An empty folder, removed with its contents by the destructor.
struct ScratchFolder {
    std::filesystem::path path;
    explicit ScratchFolder(const std::string& name) : path(scratch_path(name)) {
        std::filesystem::create_directory(path);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
};

}  // namespace warplab::fuzz
