#include "grader/cpu/runtime/history.h"

#include <algorithm>

namespace warplab_cpu {
namespace {

bool has_bytes_of(const Mark& mark, const Mark& other) { return (other.bytes & ~mark.bytes) == 0; }

/// Drops accesses of a thread that accessed the same bytes later.
void drop_repeated(std::vector<Mark>& peers) {
    std::array<std::uint8_t, 1024> bytes_of_thread{};
    std::vector<Mark> kept;
    for (auto peer = peers.rbegin(); peer != peers.rend(); ++peer) {
        std::uint8_t& later = bytes_of_thread[peer->thread];
        if (peer->bytes & ~later) kept.push_back(*peer);
        later |= peer->bytes;
    }
    peers.assign(kept.rbegin(), kept.rend());
}

void add_peer(std::vector<Mark>& peers, const Mark& mark) {
    constexpr std::size_t most = 4096;  // 1024 threads, a byte each
    peers.push_back(mark);
    if (peers.size() > 2 * most) drop_repeated(peers);
}

}  // namespace

/// Null if `latest` represents all accesses; entries of an earlier grid are ignored.
Histories::Earlier* Histories::earlier_of(const History& history, AccessKind kind) {
    if (history.more == 0 || history.more > used_) return nullptr;
    More& more = more_[history.more - 1];
    return more.owner == &history ? &more.kinds[static_cast<unsigned>(kind)] : nullptr;
}

Histories::Earlier& Histories::provide_earlier(History& history, AccessKind kind) {
    if (Earlier* known = earlier_of(history, kind)) return *known;
    if (used_ == more_.size()) more_.emplace_back();
    More& more = more_[used_++];
    history.more = static_cast<std::uint32_t>(used_);
    more.owner = &history;
    for (Earlier& one : more.kinds) {
        one.other_blocks = {};
        one.peers.clear();
    }
    return more.kinds[static_cast<unsigned>(kind)];
}

/// Called when a later block accesses the word: keeps one access for each byte, preferably an unpublished one.
void Histories::leave_block(Earlier& earlier, const Mark& latest) {
    earlier.peers.push_back(latest);
    for (unsigned byte = 0; byte < earlier.other_blocks.size(); ++byte) {
        Mark& kept = earlier.other_blocks[byte];
        if (kept.block >= order.first_block() && order.unpublished(kept)) continue;
        const auto has_byte = [&](const Mark& mark) { return mark.bytes >> byte & 1; };
        const auto end = earlier.peers.rend(), last = std::find_if(earlier.peers.rbegin(), end, has_byte);
        const auto best =
            std::find_if(last, end, [&](const Mark& mark) { return has_byte(mark) && order.unpublished(mark); });
        if (last != end) kept = best != end ? *best : *last;
    }
    earlier.peers.clear();
}

void Histories::add_to_more(History& history, AccessKind kind, const Mark& mark, bool shared) {
    const Mark& latest = history.latest[static_cast<unsigned>(kind)];
    if (latest.block < order.first_block()) return;
    Earlier* earlier = earlier_of(history, kind);
    if (latest.block != mark.block) {
        if (!shared) return leave_block(earlier ? *earlier : provide_earlier(history, kind), latest);
        if (earlier) earlier->peers.clear();
        return;
    }
    const bool barrier_between = latest.generation != mark.generation;
    if (barrier_between && earlier)
        std::erase_if(earlier->peers, [&](const Mark& peer) { return shared || has_bytes_of(mark, peer); });
    if (has_bytes_of(mark, latest) ? order.ordered(latest) : barrier_between && shared) return;
    add_peer((earlier ? *earlier : provide_earlier(history, kind)).peers, latest);
}

bool Histories::is_unordered(const Mark& earlier, const Mark& mark, const Query& query) {
    if (earlier.block < order.first_block() || !(earlier.bytes & mark.bytes)) return false;
    if (earlier.block != mark.block && query.shared) return false;
    return !order.ordered(earlier) && !is_signal(earlier, mark, query);
}

/// Flags, counters and locks: volatile accesses and atomics on one word, by which threads tell each other.
bool Histories::is_signal(const Mark& earlier, const Mark& mark, const Query& query) {
    const bool earlier_strong = earlier.atomic || earlier.is_volatile, strong = mark.atomic || mark.is_volatile;
    if (earlier_strong && order.observed_fence_of(earlier)) return true;
    if (!earlier_strong || !strong) return false;
    const bool earlier_writes = query.kind == AccessKind::plain_write, writes = query.writes && !mark.atomic;
    if (earlier_writes && writes) return false;
    if (!earlier_writes && !writes) return !earlier.atomic;
    const bool other_block = earlier.block != mark.block && !earlier.atomic && !mark.atomic;
    return other_block || (earlier_writes ? earlier.fenced : mark.fenced);
}

const Mark* Histories::find_unordered(const History& history, const Mark& mark, const Query& query) {
    const Mark& latest = history.latest[static_cast<unsigned>(query.kind)];
    const auto is_race = [&](const Mark& earlier) { return is_unordered(earlier, mark, query); };
    if (is_race(latest)) return &latest;
    // An atomic that this thread knows of has read what those before it wrote.
    if (query.kind == AccessKind::atomic && order.ordered(latest)) return nullptr;
    const Earlier* earlier = earlier_of(history, query.kind);
    if (!earlier) return nullptr;
    const auto found = std::find_if(earlier->peers.rbegin(), earlier->peers.rend(), is_race);
    if (found != earlier->peers.rend()) return &*found;
    const auto other = std::find_if(earlier->other_blocks.begin(), earlier->other_blocks.end(), is_race);
    return other != earlier->other_blocks.end() ? &*other : nullptr;
}

const Mark* Histories::own(const History& history, AccessKind kind, const Mark& mark) {
    const auto is_own = [&](const Mark& earlier) {
        return earlier.block == mark.block && earlier.thread == mark.thread && earlier.generation == mark.generation;
    };
    const Mark& latest = history.latest[static_cast<unsigned>(kind)];
    if (is_own(latest)) return &latest;
    const Earlier* earlier = earlier_of(history, kind);
    if (!earlier) return nullptr;
    const auto found = std::find_if(earlier->peers.rbegin(), earlier->peers.rend(), is_own);
    return found == earlier->peers.rend() ? nullptr : &*found;
}

}  // namespace warplab_cpu
