#include "grader/judge/device/buffer_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "grader/common/descriptor.h"

namespace warplab {
namespace {

/// A memory file, sealed against resizing so that the runner cannot shrink it while the judge uses it.
class FileRegion : public Region {
  public:
    FileRegion(std::size_t bytes, protocol::Transport transport) : Region(bytes), transport_(transport) {
        if (!file_ || ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0 ||
            fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
            fail();
        memory_ = static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0));
        if (memory_ == MAP_FAILED) fail();
    }
    ~FileRegion() override { munmap(memory_, bytes()); }

    void write(std::size_t offset, const void* from, std::size_t count) override {
        if (count) std::memcpy(memory_ + offset, from, count);
    }
    void read(std::size_t offset, void* to, std::size_t count) const override {
        if (count) std::memcpy(to, memory_ + offset, count);
    }
    void fill(std::size_t offset, std::size_t count, std::uint32_t pattern) override {
        auto* words = reinterpret_cast<std::uint32_t*>(memory_ + offset);
        std::fill(words, words + count / sizeof pattern, pattern);
    }
    void copy_from(const Region& source, std::size_t source_offset, std::size_t offset, std::size_t count) override {
        std::memcpy(memory_ + offset, static_cast<const FileRegion&>(source).memory_ + source_offset, count);
    }
    void describe(protocol::Buffer& buffer) const override {
        buffer.transport = static_cast<std::uint32_t>(transport_);
        buffer.mapped_bytes = bytes();
    }
    int descriptor() const override { return file_.get(); }

  private:
    [[noreturn]] void fail() {
        throw OutOfMemory(fmt::format("cannot make a memory file of {} bytes: {}", bytes(), std::strerror(errno)));
    }

    protocol::Transport transport_;
    Descriptor file_{memfd_create("warplab-buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    std::byte* memory_ = nullptr;
};

class FileMemory : public BufferMemory {
  public:
    explicit FileMemory(protocol::Transport transport) : transport_(transport) {}

    std::unique_ptr<Region> allocate(std::size_t bytes) override {
        if (bytes > free_bytes()) throw OutOfMemory(fmt::format("{} bytes of memory are not free", bytes));
        return std::make_unique<FileRegion>(std::max<std::size_t>(bytes, 4096), transport_);
    }
    std::size_t free_bytes() const override {
        // The file cache counts as free: a program that reads many files must not make datasets too large to run.
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
