#pragma once
// Logical time in a grid: which accesses happen before some point.

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace warplab_cpu {

/// One access by one thread. A thread's step count restarts at each barrier of the block; a fence or __syncwarp() ends
/// a step.
struct Mark {
    static constexpr std::uint32_t last_step = (1u << 20) - 1;  // steps after it count as ordered

    std::uint32_t block = 0;  // Block::epoch; 0: no access
    std::uint32_t generation = 0;
    std::uint32_t place : 26 = 0;  // program counter, relative to the executable
    std::uint32_t polled : 1 = 0;  // a volatile write by a thread that has read the word, which may be a flag
    std::uint32_t fenced : 1 = 0;  // the thread executed a fence earlier in this generation
    std::uint32_t bytes : 4 = 0;   // one bit for each byte of the word
    std::uint32_t step : 20 = 0;
    std::uint32_t thread : 10 = 0;
    std::uint32_t atomic : 1 = 0;
    std::uint32_t is_volatile : 1 = 0;

    bool operator==(const Mark& other) const {
        using Words = std::array<std::uint64_t, 2>;
        return std::bit_cast<Words>(*this) == std::bit_cast<Words>(other);
    }
};
static_assert(sizeof(Mark) == 16);

/// The accesses of one block that happen before some point: all accesses before a generation, and in this generation
/// the accesses of some threads before a step.
class KnownAccesses {
  public:
    bool empty() const { return block_ == 0; }
    std::uint32_t block() const { return block_; }
    bool covers(const Mark& mark) const;
    /// Return whether this object covers all accesses that `other`, of the same block, covers.
    bool contains(const KnownAccesses& other) const;
    /// Start with all accesses before a generation.
    void begin(std::uint32_t block, std::uint32_t generation);
    /// Add a thread's accesses before this step of the generation.
    void add(std::uint32_t thread, std::uint32_t step);
    /// Add the accesses that `other` covers. If `other` is of a different block, it replaces this object.
    void merge(const KnownAccesses& other);
    /// Forget everything, but keep the memory.
    void clear() {
        if (block_) begin(0, 0);
    }

  private:
    /// Provide a step for each thread in [first, end).
    void provide(std::uint32_t first, std::uint32_t end);
    std::uint32_t end() const { return first_ + static_cast<std::uint32_t>(steps_.size()); }

    std::uint32_t block_ = 0, generation_ = 0;
    std::uint32_t first_ = 0;          // the thread of the first step
    std::vector<std::int32_t> steps_;  // by thread, from first_; 0: no access of the generation
};

/// The accesses of many blocks that happen before some point. Copies share their content until they change.
class BlockClock {
  public:
    bool empty() const { return !chunks_; }
    /// Return a block's accesses, or null if the clock has none.
    const KnownAccesses* find(std::uint32_t block) const;
    void merge(const BlockClock& other);
    /// Return whether this clock and `other` share their content.
    bool shares(const BlockClock& other) const { return chunks_ == other.chunks_; }
    /// Add the accesses of one block.
    void merge(const KnownAccesses& known);

  private:
    static constexpr std::uint32_t blocks_per_chunk = 64;
    using Chunk = std::array<std::shared_ptr<const KnownAccesses>, blocks_per_chunk>;
    using Chunks = std::vector<std::pair<std::uint32_t, std::shared_ptr<const Chunk>>>;  // sorted by number

    static std::shared_ptr<const KnownAccesses> join(const std::shared_ptr<const KnownAccesses>& a,
                                                     const std::shared_ptr<const KnownAccesses>& b);
    static std::shared_ptr<const Chunk> join(const std::shared_ptr<const Chunk>& a,
                                             const std::shared_ptr<const Chunk>& b);

    std::shared_ptr<const Chunks> chunks_;
};

}  // namespace warplab_cpu
