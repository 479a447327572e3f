#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

#include "grader/common/descriptor.h"

namespace warplab {

/// Return the bytes of a regular file; nothing if it is another kind of file, has more than `max_bytes`, or cannot be
/// read, for example on a network drive. Reading a pipe without a writer, or a device such as /dev/zero, would never
/// end. `flags` are added to the flags of open(). Type, size and contents are those of the opened file, even if its
/// path changes.
inline std::optional<std::string> try_read_file(const std::filesystem::path& file,
                                                std::size_t max_bytes = std::numeric_limits<std::size_t>::max(),
                                                int flags = 0) {
    const Descriptor opened(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | flags));
    struct stat status {};
    if (!opened || fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    const auto expected = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));  // 0 in /proc
    if (expected > max_bytes) return std::nullopt;
    std::string bytes;
    for (;;) {
        const std::size_t old_size = bytes.size();
        bytes.resize(old_size + std::max<std::size_t>(expected + 1 > old_size ? expected + 1 - old_size : 0, 4096));
        const ssize_t count = read(opened.get(), bytes.data() + old_size, bytes.size() - old_size);
        bytes.resize(old_size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        if (bytes.size() > max_bytes || (count < 0 && errno != EINTR)) return std::nullopt;
        if (count == 0) return bytes;
    }
}

/// Return the bytes of a file; empty if it cannot be read.
inline std::string read_file(const std::filesystem::path& file) { return try_read_file(file).value_or(""); }

}  // namespace warplab
