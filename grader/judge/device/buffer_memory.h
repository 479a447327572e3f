#pragma once
// Memory that the judge owns and passes to the runner as descriptors: GPU memory or sealed memory files. The judge
// itself fills it before a call and reads it afterwards.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "grader/io/protocol.h"

namespace warplab {

/// One allocation. Offsets and sizes are bytes.
class Region {
  public:
    virtual ~Region() = default;
    std::size_t bytes() const { return bytes_; }

    /// Return whether new memory contains zeros, instead of what it held before.
    virtual bool is_zeroed() const { return false; }
    virtual void write(std::size_t offset, const void* from, std::size_t bytes) = 0;
    virtual void read(std::size_t offset, void* to, std::size_t bytes) const = 0;
    /// Return the distance in bytes from `offset` to the first byte that differs from `expected`; nothing if none does.
    virtual std::optional<std::size_t> first_difference(std::size_t offset, const void* expected,
                                                        std::size_t bytes) const = 0;
    /// Repeat a 32-bit pattern; offset and bytes are multiples of 4.
    virtual void fill(std::size_t offset, std::size_t bytes, std::uint32_t pattern) = 0;
    /// Copy from another region of the same BufferMemory. On a GPU, the copy may still run until
    /// BufferMemory::synchronise() returns.
    virtual void copy_from(const Region& source, std::size_t source_offset, std::size_t offset, std::size_t bytes) = 0;

    /// Set the fields that the runner needs to map the memory: transport and mapped_bytes.
    virtual void describe(protocol::Buffer& buffer) const = 0;
    /// Return the descriptor to pass to the runner; -1 if there is none.
    virtual int descriptor() const { return -1; }

  protected:
    explicit Region(std::size_t bytes) : bytes_(bytes) {}

  private:
    std::size_t bytes_;
};

class BufferMemory {
  public:
    virtual ~BufferMemory() = default;
    /// Allocate memory. Throw OutOfMemory if too little is free.
    virtual std::unique_ptr<Region> allocate(std::size_t bytes) = 0;
    /// Wait until all copies and fills have ended.
    virtual void synchronise() {}
    virtual std::size_t free_bytes() const = 0;
};

class OutOfMemory : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Make memory in files: the CPU backend's device memory and every host buffer. `transport` is shared or local.
std::unique_ptr<BufferMemory> make_file_memory(protocol::Transport transport);

}  // namespace warplab
