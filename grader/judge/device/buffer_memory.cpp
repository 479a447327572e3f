#include "grader/judge/device/buffer_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "grader/common/descriptor.h"
#include "grader/judge/device/bulk.h"

namespace warplab {
namespace {

/// A memory file, sealed against resizing so that the runner cannot shrink it while the judge uses it. The judge calls
/// pread() and pwrite() instead of mapping the file, because the page faults of a mapping would take longer.
class FileRegion : public Region {
  public:
    FileRegion(std::size_t bytes, protocol::Transport transport) : Region(bytes), transport_(transport) {
        if (!file_ || ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0 ||
            fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
            fail();
    }

    bool is_zeroed() const override { return true; }
    void write(std::size_t offset, const void* from, std::size_t count) override {
        in_steps(count, [&](std::size_t done) {
            return pwrite(file_.get(), static_cast<const std::byte*>(from) + done, count - done, at(offset + done));
        });
    }
    void read(std::size_t offset, void* to, std::size_t count) const override {
        in_steps(count, [&](std::size_t done) {
            return pread(file_.get(), static_cast<std::byte*>(to) + done, count - done, at(offset + done));
        });
    }
    std::optional<std::size_t> first_difference(std::size_t offset, const void* expected,
                                                std::size_t count) const override {
        // Pieces of a small array stay in the cache; those of a large one are large enough for several threads.
        constexpr std::size_t min_bytes = 256 << 10, max_bytes = 256 << 20;
        const std::size_t piece = std::clamp(count / 64, min_bytes, max_bytes);
        std::vector<std::byte> block(std::min(piece, count));
        for (std::size_t done = 0; done < count; done += piece) {
            const std::size_t part = std::min(piece, count - done);
            read(offset + done, block.data(), part);
            const std::byte* const begin = static_cast<const std::byte*>(expected) + done;
            if (const auto at = warplab::first_difference(block.data(), begin, part)) return done + *at;
        }
        return std::nullopt;
    }
    void fill(std::size_t offset, std::size_t count, std::uint32_t pattern) override {
        std::vector<std::uint32_t> block(std::min(count, block_bytes) / sizeof pattern, pattern);
        for (std::size_t done = 0; done < count; done += block_bytes)
            write(offset + done, block.data(), std::min(count - done, block_bytes));
    }
    void copy_from(const Region& source, std::size_t source_offset, std::size_t offset, std::size_t count) override {
        std::vector<std::byte> block(std::min(count, block_bytes));
        for (std::size_t done = 0; done < count; done += block_bytes) {
            source.read(source_offset + done, block.data(), std::min(count - done, block_bytes));
            write(offset + done, block.data(), std::min(count - done, block_bytes));
        }
    }
    void describe(protocol::Buffer& buffer) const override {
        buffer.transport = static_cast<std::uint32_t>(transport_);
        buffer.mapped_bytes = bytes();
    }
    int descriptor() const override { return file_.get(); }

  private:
    static constexpr std::size_t block_bytes = 64 << 10;  // stays in the cache

    static off_t at(std::size_t offset) { return static_cast<off_t>(offset); }

    /// Call step(done), which returns how many bytes it moved, until all are done.
    template <class Step>
    void in_steps(std::size_t count, const Step& step) const {
        for (std::size_t done = 0; done < count;) {
            const ssize_t moved = step(done);
            if (moved > 0)
                done += static_cast<std::size_t>(moved);
            else if (moved == 0 || errno != EINTR)
                fail();
        }
    }
    [[noreturn]] void fail() const {
        throw OutOfMemory(fmt::format("cannot use a memory file of {} bytes: {}", bytes(), std::strerror(errno)));
    }

    protocol::Transport transport_;
    Descriptor file_{memfd_create("warplab-buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
};

class FileMemory : public BufferMemory {
  public:
    explicit FileMemory(protocol::Transport transport) : transport_(transport) {}

    std::unique_ptr<Region> allocate(std::size_t bytes) override {
        constexpr std::size_t small_bytes = 1 << 20;  // up to this size, free_bytes() takes longer than it is worth
        if (bytes > small_bytes && bytes > free_bytes())
            throw OutOfMemory(fmt::format("{} bytes of memory are not free", bytes));
        return std::make_unique<FileRegion>(std::max<std::size_t>(bytes, 4096), transport_);
    }
    std::size_t free_bytes() const override {
        // MemAvailable includes the file cache, which the kernel gives up when programs need memory.
        std::ifstream file("/proc/meminfo");
        for (std::string word; file >> word;)
            if (std::size_t kilobytes = 0; word == "MemAvailable:" && file >> kilobytes) return kilobytes << 10;
        const long pages = sysconf(_SC_AVPHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
        return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes);
    }

  private:
    protocol::Transport transport_;
};

}  // namespace

std::unique_ptr<BufferMemory> make_file_memory(protocol::Transport transport) {
    return std::make_unique<FileMemory>(transport);
}

}  // namespace warplab
