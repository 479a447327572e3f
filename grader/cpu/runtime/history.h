#pragma once
// The accesses of a grid to one word that a later access may race with.

#include <array>
#include <cstdint>
#include <vector>

#include "grader/cpu/runtime/happens_before.h"

namespace warplab_cpu {

enum class AccessKind : unsigned { plain_write, plain_read, atomic };

/// Masks with one bit per byte of a word.
struct Bytes {
    std::uint8_t written = 0, read = 0;
};

struct History {
    std::array<Mark, 3> latest;  // by AccessKind
    std::uint32_t more = 0;      // in Histories: this grid's accesses that `latest` does not represent
    std::uint32_t block = 0;     // shared memory: the block to which bytes.written applies
    Bytes bytes;
};

class Histories {
  public:
    HappensBefore order;

    void begin_grid() {
        order.begin_grid();
        used_ = 0;
    }

    /// Record an access.
    void add(History& history, AccessKind kind, const Mark& mark, bool shared) {
        Mark& latest = history.latest[static_cast<unsigned>(kind)];
        const bool first = latest.block < order.first_block();
        const bool follows = latest.block == mark.block && (latest.bytes & ~mark.bytes) == 0 &&
                             (latest.thread == mark.thread || latest.generation != mark.generation);
        if (history.more != 0 || !(first || follows)) add_to_more(history, kind, mark, shared);
        latest = mark;
    }

    /// Selects the earlier accesses to compare with, and describes the access itself.
    struct Query {
        AccessKind kind;
        bool shared;  // shared memory belongs to a new block when that block begins
        bool writes;
    };
    /// The last access of this grid and the query's kind, if any, that nothing orders before `mark`.
    const Mark* unordered(const History& history, const Mark& mark, const Query& query) {
        const Mark& latest = history.latest[static_cast<unsigned>(query.kind)];
        if (latest.block < order.first_block()) return nullptr;
        const bool own = latest.block == mark.block && latest.thread == mark.thread;
        if (own && history.more == 0) return nullptr;
        return find_unordered(history, mark, query);
    }

    /// The running thread's last access of a kind since the last barrier.
    const Mark* own(const History& history, AccessKind kind, const Mark& mark);

  private:
    struct Earlier {
        std::array<Mark, 4> other_blocks;  // for each byte, one of a block before that of the latest access
        std::vector<Mark> peers;           // of the latest one's block: not ordered before it, or of other bytes
    };
    struct More {
        const History* owner = nullptr;
        std::array<Earlier, 3> kinds;
    };

    void add_to_more(History& history, AccessKind kind, const Mark& mark, bool shared);
    const Mark* find_unordered(const History& history, const Mark& mark, const Query& query);
    bool is_unordered(const Mark& earlier, const Mark& mark, const Query& query);
    bool is_signal(const Mark& earlier, const Mark& mark, const Query& query);
    void leave_block(Earlier& earlier, const Mark& latest);
    Earlier* earlier_of(const History& history, AccessKind kind);
    Earlier& provide_earlier(History& history, AccessKind kind);

    std::vector<More> more_;
    std::size_t used_ = 0;  // of more_, in this grid
};

}  // namespace warplab_cpu
