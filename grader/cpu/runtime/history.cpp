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
        one.other_block = {};
        one.peers.clear();
    }
    return more.kinds[static_cast<unsigned>(kind)];
}

/// Called when a later block accesses the word: keeps one access of this block, preferably an unpublished one.
void Histories::leave_block(Earlier& earlier, const Mark& latest) {
    Mark kept = latest;
    for (const Mark& peer : earlier.peers) {
        if (order.unpublished(kept)) break;
        kept = peer;
    }
    earlier.peers.clear();
    const bool known = earlier.other_block.block >= order.first_block();
    if (!known || !order.unpublished(earlier.other_block)) earlier.other_block = kept;
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

bool Histories::is_unordered(const Mark& earlier, const Mark& mark, bool shared, bool both_write) {
    if (earlier.block < order.first_block() || !(earlier.bytes & mark.bytes)) return false;
    if (earlier.block == mark.block) return !order.ordered(earlier);
    if (shared || order.ordered(earlier)) return false;
    const bool flag = earlier.is_volatile && mark.is_volatile;  // blocks signal each other with it
    return !flag || (both_write && !order.has_observed(earlier.block));
}

const Mark* Histories::find_unordered(const History& history, AccessKind kind, const Mark& mark, bool shared,
                                      bool both_write) {
    const Mark& latest = history.latest[static_cast<unsigned>(kind)];
    const auto is_race = [&](const Mark& earlier) { return is_unordered(earlier, mark, shared, both_write); };
    if (is_race(latest)) return &latest;
    const Earlier* earlier = earlier_of(history, kind);
    if (!earlier) return nullptr;
    const auto found = std::find_if(earlier->peers.rbegin(), earlier->peers.rend(), is_race);
    if (found != earlier->peers.rend()) return &*found;
    return is_race(earlier->other_block) ? &earlier->other_block : nullptr;
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
