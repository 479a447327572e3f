#pragma once
// Finds grids that hang: the threads of each running block try something again and again, and nothing that they could
// see changes any more.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "grader/cpu/runtime/memory.h"

namespace warplab_cpu {

/// Adds words to a digest.
std::uint64_t add_to_digest(std::uint64_t digest, const Range& range);

/// What an OS thread knows of the block that it runs, or of a cooperative grid, while no thread goes on.
class Standstill {
  public:
    void begin_block() {
        shared_count_ = 0;
        end();
    }
    /// Adds a shared variable of the block.
    void add_shared(const void* begin, std::size_t bytes) {
        if (shared_count_ < shared_.size()) shared_[shared_count_] = {begin, bytes};
        ++shared_count_;
    }
    /// A digest of the block's shared variables; another value each time where they are too many to follow.
    std::uint64_t digest_of_shared();
    /// A thread goes on.
    void end() { began_ = {}; }
    /// All threads have tried in vain again. Returns whether it is time for look().
    bool is_time_to_look();
    /// Compares with the last look. `digest`: of the threads' stacks and the shared variables.
    void look(std::uint64_t digest);
    /// Whether nothing has changed for `enough`.
    bool has_lasted() const;

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds interval{150}, enough{1200};

    std::array<Range, 64> shared_;
    std::size_t shared_count_ = 0;
    std::uint64_t unknown_ = 0;
    Clock::time_point began_, next_look_;
    std::optional<std::uint64_t> seen_;
};

}  // namespace warplab_cpu
