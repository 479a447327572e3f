#include "grader/cpu/runtime/history.h"

#include <algorithm>

namespace warplab_cpu {
namespace {

bool has_bytes_of(const Mark& mark, const Mark& other) { return (other.bytes & ~mark.bytes) == 0; }

/// Drop accesses that the same thread has repeated later, to the same bytes and with the same is_volatile and fenced.
void drop_repeated(std::vector<Mark>& peers) {
    static std::array<std::array<std::uint8_t, 4>, 1024> later_bytes;  // by thread and kind; all 0 between calls
    const auto bytes_of = [](const Mark& peer) -> std::uint8_t& {
        return later_bytes[peer.thread][peer.is_volatile * 2u + peer.fenced];
    };
    std::size_t kept_count = peers.size();
    for (std::size_t i = peers.size(); i-- > 0;) {
        const Mark peer = peers[i];
        std::uint8_t& later = bytes_of(peer);
        if (peer.bytes & ~later) peers[--kept_count] = peer;
        later |= peer.bytes;
    }
    peers.erase(peers.begin(), peers.begin() + static_cast<std::ptrdiff_t>(kept_count));
    for (const Mark& peer : peers) bytes_of(peer) = 0;
}

}  // namespace

void Histories::forget_peers(Earlier& earlier) {
    earlier.peers.clear();
    earlier.any_weak = false;
}

void Histories::add_peer(Earlier& earlier, const Mark& mark, bool shared) {
    constexpr std::size_t always_kept = 8;
    if (!earlier.peers.empty()) {
        const Mark& last = earlier.peers.back();
        if (last.block != mark.block || (shared && last.generation != mark.generation)) forget_peers(earlier);
    }
    earlier.peers.push_back(mark);
    earlier.any_weak |= !is_strong(mark);
    if (earlier.peers.size() <= std::max(earlier.max_peers, always_kept)) return;
    drop_repeated(earlier.peers);
    earlier.max_peers = 2 * earlier.peers.size();
}

/// Return the accesses of a kind that History does not represent; null if this grid made none.
Histories::Earlier* Histories::earlier_of(const History& history, AccessKind kind) {
    return has_more(history) ? &more_[history.more - 1].kinds[static_cast<unsigned>(kind)] : nullptr;
}

Histories::Earlier& Histories::provide_earlier(History& history, AccessKind kind) {
    history.crowded = true;
    if (Earlier* existing = earlier_of(history, kind)) return *existing;
    if (used_ == more_.size()) more_.emplace_back();
    More& more = more_[used_++];
    history.more = static_cast<std::uint32_t>(used_);
    more.owner = &history;
    for (Earlier& earlier : more.kinds) {
        earlier.other_blocks = {};
        earlier.max_peers = 0;
        forget_peers(earlier);
    }
    return more.kinds[static_cast<unsigned>(kind)];
}

void Histories::end_long_row(History& history, bool shared) {
    const Row row = history.row;
    history.row = {};
    const Mark& latest = history.latest[row.kind];
    const bool current = latest.block == block_state.epoch && latest.generation == block_state.generation;
    if (latest.block < order.first_block() || (shared && !current)) return;
    Earlier& earlier = provide_earlier(history, static_cast<AccessKind>(row.kind));
    for (int before = static_cast<int>(row.count); before > 0; --before) {
        Mark mark = latest;
        mark.thread = static_cast<unsigned>(static_cast<int>(latest.thread) - before * row.stride);
        add_peer(earlier, mark, shared);
    }
}

/// Prepare for an access by a later block: keep one access for each byte, preferably an unpublished one.
void Histories::leave_block(Earlier& earlier, const Mark& latest) {
    earlier.peers.push_back(latest);
    for (unsigned byte = 0; byte < earlier.other_blocks.size(); ++byte) {
        Mark& kept_access = earlier.other_blocks[byte];
        if (kept_access.block >= order.first_block() && order.is_unpublished(kept_access)) continue;
        const auto has_byte = [&](const Mark& mark) { return mark.bytes >> byte & 1; };
        const auto end = earlier.peers.rend(), last = std::find_if(earlier.peers.rbegin(), end, has_byte);
        const auto best =
            std::find_if(last, end, [&](const Mark& mark) { return has_byte(mark) && order.is_unpublished(mark); });
        if (last != end) kept_access = best != end ? *best : *last;
    }
    forget_peers(earlier);
}

void Histories::add_to_more(History& history, AccessKind kind, const Mark& mark, bool shared) {
    const Mark& latest = history.latest[static_cast<unsigned>(kind)];
    if (latest.block < order.first_block()) return;
    Earlier* earlier = earlier_of(history, kind);
    if (latest.block != mark.block) {
        if (!shared) return leave_block(provide_earlier(history, kind), latest);
        if (earlier) forget_peers(*earlier);
        return;
    }
    const bool barrier_between = latest.generation != mark.generation;
    if (barrier_between && earlier)
        std::erase_if(earlier->peers, [&](const Mark& peer) { return shared || has_bytes_of(mark, peer); });
    if (has_bytes_of(mark, latest) ? order.is_ordered(latest) : barrier_between && shared) return;
    add_peer(provide_earlier(history, kind), latest, shared);
}

bool Histories::is_unordered(const History& history, const Mark& earlier, const Mark& mark, const Query& query) {
    if (earlier.block < order.first_block() || !(earlier.bytes & mark.bytes)) return false;
    return !is_signal(earlier, mark, query) && !is_polled(history, earlier, mark, query) &&
           !order.is_ordered(earlier) && !is_known_by_read(earlier, query);
}

/// Return whether a volatile read and a volatile write access a flag: the writer has read the word at the same place
/// in the code as the reader, like all threads that poll a flag until one of them sets it.
bool Histories::is_polled(const History& history, const Mark& earlier, const Mark& mark, const Query& query) {
    if (query.kind == AccessKind::atomic || !earlier.is_volatile || !mark.is_volatile) return false;
    if (query.kind == AccessKind::plain_read) {
        const Mark* const poll = mark.polled ? last_own(history, AccessKind::plain_read, mark) : nullptr;
        return poll && poll->place == earlier.place;
    }
    const Mark& latest_read = history.latest[static_cast<unsigned>(AccessKind::plain_read)];
    return !query.writes && earlier.polled && latest_read.block == mark.block && latest_read.place == mark.place;
}

/// Return whether both accesses belong to a flag, counter or lock: volatile accesses and atomics on one word, by which
/// threads signal each other.
bool Histories::is_signal(const Mark& earlier, const Mark& mark, const Query& query) {
    if (!is_strong(earlier) || !is_strong(mark)) return false;
    if (!has_plain_write(mark, query)) return true;
    const bool earlier_writes = query.kind == AccessKind::plain_write, writes = query.writes && !mark.atomic;
    if (earlier_writes && writes) return false;
    const bool other_block = earlier.block != mark.block && !earlier.atomic && !mark.atomic;
    return other_block || (earlier_writes ? earlier.fenced : mark.fenced);
}

const Mark* Histories::find_unordered(const History& history, const Mark& mark, const Query& query) {
    const Mark& latest = history.latest[static_cast<unsigned>(query.kind)];
    const auto is_race = [&](const Mark& earlier) { return is_unordered(history, earlier, mark, query); };
    if (is_race(latest)) return &latest;
    const Earlier* earlier = earlier_of(history, query.kind);
    if (!earlier) return nullptr;
    if (!peers_are_harmless(*earlier, latest, mark, query)) {
        const auto iterator = std::find_if(earlier->peers.rbegin(), earlier->peers.rend(), is_race);
        if (iterator != earlier->peers.rend()) return &*iterator;
    }
    if (query.shared) return nullptr;
    const auto other = std::ranges::find_if(earlier->other_blocks, is_race);
    return other != earlier->other_blocks.end() ? &*other : nullptr;
}

const Mark* Histories::last_own(const History& history, AccessKind kind, const Mark& mark) {
    const auto is_own = [&](const Mark& earlier) {
        return earlier.block == mark.block && earlier.thread == mark.thread && earlier.generation == mark.generation;
    };
    const Mark& latest = history.latest[static_cast<unsigned>(kind)];
    if (is_own(latest)) return &latest;
    const Earlier* earlier = earlier_of(history, kind);
    if (!earlier) return nullptr;
    const auto iterator = std::find_if(earlier->peers.rbegin(), earlier->peers.rend(), is_own);
    return iterator == earlier->peers.rend() ? nullptr : &*iterator;
}

}  // namespace warplab_cpu
