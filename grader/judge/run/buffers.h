#pragma once
// The buffers of one problem in memory that the judge owns: `slots` copies of each, each copy between guard zones that
// hold a pattern, so that the judge detects a write outside a buffer.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "grader/judge/device/buffer_memory.h"
#include "grader/judge/lab/oracle.h"
#include "grader/model/manifest.h"

namespace warplab {

/// 32-bit patterns. They are NaNs as float and double, so that they do not look like a correct answer. draw() makes
/// them from a seed.
struct Poison {
    std::uint32_t output;  // in outputs and scratch before a call, and around them
    std::uint32_t beyond;  // around inputs
    static Poison draw(std::uint64_t seed);
};

/// A write into a guard zone.
struct GuardViolation {
    std::string buffer;
    std::int64_t index;  // the overwritten element, relative to the buffer's first: negative or ≥ `count`
    std::size_t count;   // the buffer's number of elements
};

class Buffers {
  public:
    /// Throw OutOfMemory if too little memory is free. `guard_bytes` must be a multiple of 256.
    Buffers(BufferMemory& memory, const Lab& lab, const Problem& shape, std::size_t scratch_bytes, std::uint32_t slots,
            std::size_t guard_bytes, Poison poison);

    /// Return the bytes of all buffers for one slot.
    static std::size_t bytes_per_slot(const Problem& shape, std::size_t scratch_bytes, std::size_t guard_bytes);

    /// Set the buffers of a request, and append the descriptors to send with it.
    void describe(protocol::Request& request, std::vector<int>& descriptors) const;

    void poison_all();  // every output, inout and scratch, with their guards
    void poison_scratch() { poison_whole(parts_.back()); }
    void poison_whole(std::size_t buffer) { poison_whole(parts_[buffer]); }
    /// Poison only the guards, and up to 3 bytes before each: write() must follow.
    void poison_around(std::size_t buffer) { poison_around(parts_[buffer]); }
    void write(std::size_t buffer, std::uint32_t slot, const Array& contents);
    Array read(std::size_t buffer, std::uint32_t slot) const;
    Array read_part(std::size_t buffer, std::uint32_t slot, std::size_t first, std::size_t count) const;
    /// Return the first element that differs from `expected`, bit for bit; nothing if none does.
    std::optional<std::size_t> first_change(std::size_t buffer, std::uint32_t slot, const Array& expected) const;
    /// Fill a buffer's copy in one slot from `pool`, beginning at byte `pool_offset` of the pool.
    void copy_into(std::size_t buffer, std::uint32_t slot, const Region& pool, std::size_t pool_offset);

    /// Swap the memory of two sets of buffers of the same shape. Scratch is swapped only if both have the same amount.
    void exchange_memory(Buffers& other);

    /// Return the first guard violation around `slot`.
    std::optional<GuardViolation> find_guard_violation(std::uint32_t slot) const;

    std::uint32_t slots() const { return slots_; }
    Poison poison() const { return poison_; }

  private:
    struct Part {
        std::string name;
        ElementType type = ElementType::uint8;
        std::size_t count = 0, bytes = 0, stride = 0;
        std::uint32_t pattern = 0;
        bool is_input = false;
        std::unique_ptr<Region> region = nullptr;
    };
    void poison_whole(const Part& part) const;
    void poison_around(const Part& part) const;
    bool is_inout(std::size_t buffer) const;
    std::size_t offset(const Part& part, std::uint32_t slot) const { return guard_bytes_ + slot * part.stride; }
    std::optional<GuardViolation> violation_in(const Part& part, std::uint32_t slot, std::int64_t begin,
                                               std::int64_t end) const;

    const Lab& lab_;
    std::uint32_t slots_;
    std::size_t guard_bytes_;
    Poison poison_;
    std::vector<Part> parts_;  // one per buffer, then scratch
};

/// Return an array filled with a poison pattern, like an output before a call.
Array poisoned(ElementType type, std::size_t count, std::uint32_t pattern);

}  // namespace warplab
