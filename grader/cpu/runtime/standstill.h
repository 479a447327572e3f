#pragma once
// Detects grids that hang: the threads of the running blocks only repeat failed attempts, and the memory that they can
// read does not change.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "grader/cpu/runtime/memory.h"

namespace warplab_cpu {

/// Return the digest with the words of a range added.
std::uint64_t add_to_digest(std::uint64_t digest, const Range& range);

/// An OS thread's records of its block, or of its cooperative grid, while no thread of the block or grid makes
/// progress.
class Standstill {
  public:
    void begin_block() {
        shared_count_ = 0;
        end();
    }
    /// Add a shared variable of the block.
    void add_shared(const void* begin, std::size_t bytes) {
        if (shared_count_ < shared_.size()) shared_[shared_count_] = {begin, bytes};
        ++shared_count_;
    }
    /// Return a digest of the block's shared variables. If there are too many, each call returns a different value.
    std::uint64_t digest_of_shared();
    /// Record that a thread makes progress.
    void end() { began_ = {}; }
    /// Record that all threads have failed again. Return whether it is time to call compare_memory().
    bool is_time_to_compare();
    /// Compare memory with its state at the last comparison. `digest` covers the threads' stacks and the shared
    /// variables.
    void compare_memory(std::uint64_t digest);
    /// Return whether nothing has changed for `min_duration`.
    bool has_lasted() const;

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds interval{150}, min_duration{1200};

    std::array<Range, 64> shared_;
    std::size_t shared_count_ = 0;
    std::uint64_t unknown_ = 0;  // the last result of digest_of_shared() with too many variables
    Clock::time_point began_, next_comparison_;
    std::optional<std::uint64_t> seen_;  // the digest at the last comparison
};

}  // namespace warplab_cpu
