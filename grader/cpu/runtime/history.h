#pragma once
// For each word, the accesses of a grid with which a later access may race.

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

/// The accesses before the latest access of a kind that differ from it only in the thread: their threads are one, two,
/// three … strides before the thread of the latest access.
struct Row {
    std::uint32_t count : 11 = 0;
    std::int32_t stride : 12 = 0;
    std::uint32_t kind : 2 = 0;
};

struct alignas(16) History {
    std::array<Mark, 3> latest;  // by AccessKind
    std::uint32_t more = 0;      // 1 + the index of the accesses in more_ that neither `latest` nor `row` represents
    std::uint32_t block = 0;     // shared memory: the block to which bytes.written applies
    Bytes bytes;
    bool crowded = false;  // some of `more` may be unordered relative to the next access
    Row row;
};
static_assert(sizeof(History) == 64);

class Histories {
  public:
    HappensBefore order;

    void begin_grid() {
        order.begin_grid();
        used_ = 0;
    }

    /// Record an access and return true if it obviously cannot race (most accesses cannot): each earlier access is by
    /// the same thread, before a barrier or, in shared memory, by another block; or the access continues a row of the
    /// same reads or atomics. Otherwise, record nothing and return false.
    WARPLAB_CPU_INLINE bool add_if_alone(History& history, AccessKind kind, const Mark& mark, bool shared) {
        const bool crowded = history.crowded && (shared || has_more(history));
        if (crowded && !shared) return false;
        bool continues = false;
        for (unsigned i = 0; i < history.latest.size(); ++i) {
            const Mark& earlier = history.latest[i];
            const bool same_kind = i == static_cast<unsigned>(kind);
            if (earlier.block < order.first_block()) continue;
            if (earlier.block != mark.block) {
                if (!shared) return false;
                continue;
            }
            const bool barrier_between = earlier.generation != mark.generation;
            if (same_kind && (earlier.bytes & ~mark.bytes) && !(shared && barrier_between)) return false;
            if (barrier_between) continue;
            if (crowded) return false;
            if (same_kind && kind != AccessKind::plain_write && continues_row(history, mark, kind))
                continues = true;
            else if (earlier.thread != mark.thread || (history.row.count && history.row.kind == i))
                return false;
        }
        history.crowded = false;
        Mark& latest = history.latest[static_cast<unsigned>(kind)];
        if (continues)
            history.row = {history.row.count + 1u, static_cast<int>(mark.thread) - static_cast<int>(latest.thread),
                           static_cast<unsigned>(kind)};
        else if (history.row.kind == static_cast<unsigned>(kind))
            history.row.count = 0;
        latest = mark;
        return true;
    }

    /// Record a read or an atomic and return true if it cannot race, because this grid has made no conflicting access
    /// to the word (for shared memory: since the block began, or since its last barrier). Otherwise, record nothing and
    /// return false.
    WARPLAB_CPU_INLINE bool add_if_quiet(History& history, AccessKind kind, const Mark& mark, bool shared) {
        if (kind == AccessKind::plain_write) return false;
        const AccessKind other = kind == AccessKind::atomic ? AccessKind::plain_read : AccessKind::atomic;
        for (const AccessKind conflicting : {AccessKind::plain_write, other}) {
            const Mark& earlier = history.latest[static_cast<unsigned>(conflicting)];
            const bool current = earlier.block == mark.block && earlier.generation == mark.generation;
            if (earlier.block >= order.first_block() && (current || !shared)) return false;
        }
        end_row(history, shared);
        add(history, kind, mark, shared);
        return true;
    }

    /// Store the accesses of a row individually, for the functions below.
    void end_row(History& history, bool shared) {
        if (history.row.count) end_long_row(history, shared);
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

    /// The kind of the earlier accesses with which an access is compared, and data of the access itself.
    struct Query {
        AccessKind kind;
        bool shared;  // whether the word is in shared memory, which belongs to a new block when that block begins
        bool writes;
        std::uintptr_t place;  // the address of the first byte accessed
    };
    /// Return the last access of this grid and of the query's kind that nothing orders before `mark`; null if there is
    /// none.
    const Mark* last_unordered(const History& history, const Mark& mark, const Query& query) {
        const Mark& latest = history.latest[static_cast<unsigned>(query.kind)];
        const bool same_block = latest.block == mark.block;
        if (latest.block < order.first_block() || (query.shared && !same_block)) return nullptr;
        const bool ordered = latest.thread == mark.thread || latest.generation != mark.generation;
        if (same_block && ordered && history.more == 0) return nullptr;
        return find_unordered(history, mark, query);
    }

    /// Return the volatile write that this volatile read of global memory may miss, because a fence is missing, or
    /// null. A word that the grid has read before is a flag that threads poll.
    const Mark* find_unfenced_write(const History& history, const Mark& mark, std::uintptr_t word) const {
        const Mark& write = history.latest[static_cast<unsigned>(AccessKind::plain_write)];
        const Mark& read = history.latest[static_cast<unsigned>(AccessKind::plain_read)];
        if (write.block < order.first_block() || read.block >= order.first_block()) return nullptr;
        return (write.bytes & mark.bytes) && order.lacks_fence(word, mark.place, write) ? &write : nullptr;
    }

    static bool latest_is_own(const History& history, AccessKind kind, const Mark& mark) {
        const Mark& latest = history.latest[static_cast<unsigned>(kind)];
        return latest.block == mark.block && latest.thread == mark.thread && latest.generation == mark.generation;
    }
    /// Return the running thread's last access of a kind since the last barrier.
    const Mark* last_own(const History& history, AccessKind kind, const Mark& mark);

  private:
    /// Accesses of one kind before the latest access of this kind.
    struct Earlier {
        std::array<Mark, 4> other_blocks;  // for each byte, one access by a block before the block of the latest access
        std::vector<Mark> peers;           // of the latest access's block, but not ordered before it, or to other bytes
        std::size_t max_peers = 0;         // if there are more, the repeated ones are dropped
        bool any_weak = false;             // some of the peers are neither atomic nor volatile
    };
    /// The accesses to a word that its History does not represent.
    struct More {
        const History* owner = nullptr;
        std::array<Earlier, 3> kinds;
    };

    void add_to_more(History& history, AccessKind kind, const Mark& mark, bool shared);
    const Mark* find_unordered(const History& history, const Mark& mark, const Query& query);
    bool is_unordered(const History& history, const Mark& earlier, const Mark& mark, const Query& query);
    bool is_polled(const History& history, const Mark& earlier, const Mark& mark, const Query& query);
    /// Return whether all of the earlier accesses in `peers` are obviously ordered, or are signals.
    static bool peers_are_harmless(const Earlier& earlier, const Mark& latest, const Mark& mark, const Query& query) {
        const bool barrier_between = latest.block == mark.block && latest.generation != mark.generation;
        const bool of_other_block = !earlier.peers.empty() && earlier.peers.back().block != mark.block;
        return barrier_between || (query.shared && of_other_block) ||
               (!earlier.any_weak && is_strong(mark) && !has_plain_write(mark, query));
    }
    static bool is_strong(const Mark& mark) { return mark.atomic || mark.is_volatile; }
    /// Return whether one of the two accesses is a write and not an atomic.
    static bool has_plain_write(const Mark& mark, const Query& query) {
        return query.kind == AccessKind::plain_write || (query.writes && !mark.atomic);
    }
    static bool is_signal(const Mark& earlier, const Mark& mark, const Query& query);
    /// Return whether the running thread knows of an earlier access to a flag, counter or lock because it has read the
    /// word since.
    bool is_known_by_read(const Mark& earlier, const Query& query) {
        return (earlier.atomic || earlier.is_volatile) && order.has_read(query.place, query.shared, earlier);
    }
    static void add_peer(Earlier& earlier, const Mark& mark, bool shared);
    static void forget_peers(Earlier& earlier);
    void leave_block(Earlier& earlier, const Mark& latest);
    /// Return whether an access differs from the latest of its kind only in the thread, and the difference between the
    /// two threads is the row's stride (any difference begins a row).
    static bool continues_row(const History& history, const Mark& mark, AccessKind kind) {
        const Row& row = history.row;
        const Mark& latest = history.latest[static_cast<unsigned>(kind)];
        Mark like = latest;
        like.thread = mark.thread;
        if (!(like == mark) || latest.thread == mark.thread) return false;
        if (row.count == 0) return true;
        return row.kind == static_cast<unsigned>(kind) && row.count < 1024 &&
               static_cast<int>(mark.thread) - static_cast<int>(latest.thread) == row.stride;
    }
    void end_long_row(History& history, bool shared);
    bool has_more(const History& history) const {
        return history.more != 0 && history.more <= used_ && more_[history.more - 1].owner == &history;
    }
    Earlier* earlier_of(const History& history, AccessKind kind);
    Earlier& provide_earlier(History& history, AccessKind kind);

    std::vector<More> more_;
    std::size_t used_ = 0;  // the number of entries of more_ that this grid uses
};

}  // namespace warplab_cpu
