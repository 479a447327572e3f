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

/// What an OS thread knows of the block that it runs, while none of its threads goes on.
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
    /// A thread goes on.
    void end() { began_ = {}; }
    /// All threads of the block have tried in vain again. Returns whether nothing has changed for `enough`.
    bool lasts();

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds interval{150}, enough{1200};

    /// Of device memory and the block's shared variables; empty where it takes too long.
    std::optional<std::uint64_t> digest() const;

    std::array<Range, 64> shared_;
    std::size_t shared_count_ = 0;
    Clock::time_point began_, next_look_;
    std::optional<std::uint64_t> seen_;
};

}  // namespace warplab_cpu
