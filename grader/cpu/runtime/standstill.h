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
    /// A digest of the block's shared variables; another value each time where they are too many to follow.
    std::uint64_t digest_of_shared();
    /// All threads of the block have tried in vain again. Returns whether nothing has changed for `enough`: no memory
    /// of the grid's, nor the digest of shared variables, which is asked for now and then.
    template <class DigestOfShared>
    bool lasts(DigestOfShared&& digest_of_shared) {
        return !is_time_to_look() ? has_lasted() : has_lasted_since_look(digest_of_shared());
    }
    bool lasts() {
        return lasts([this] { return digest_of_shared(); });
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds interval{150}, enough{1200};

    bool is_time_to_look();
    bool has_lasted() const { return Clock::now() - began_ >= enough; }
    bool has_lasted_since_look(std::uint64_t shared);

    std::array<Range, 64> shared_;
    std::size_t shared_count_ = 0;
    std::uint64_t unknown_ = 0;
    Clock::time_point began_, next_look_;
    std::optional<std::uint64_t> seen_;
};

}  // namespace warplab_cpu
