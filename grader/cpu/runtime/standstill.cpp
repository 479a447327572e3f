#include "grader/cpu/runtime/standstill.h"

#include <cstring>

namespace warplab_cpu {
namespace {

constexpr std::size_t most_bytes = std::size_t{256} << 20;  // more takes too long to read again and again

void add_to(std::uint64_t& hash, const Range& range) {
    constexpr std::uint64_t prime = 0x100000001b3;  // FNV-1a, by words
    const auto* const begin = static_cast<const char*>(range.begin);
    std::size_t at = 0;
    for (std::uint64_t word; at + sizeof word <= range.bytes; at += sizeof word) {
        std::memcpy(&word, begin + at, sizeof word);
        hash = (hash ^ word) * prime;
    }
    for (; at < range.bytes; ++at) hash = (hash ^ static_cast<unsigned char>(begin[at])) * prime;
}

/// Of device memory, added to `hash`; empty where it takes too long.
std::optional<std::uint64_t> digest_of_device(std::uint64_t hash) {
    if (has_unlisted_memory()) return std::nullopt;
    std::size_t left = most_bytes;
    for (const Range& range : memory_of_kernels()) {
        if (range.bytes > left) return std::nullopt;
        left -= range.bytes;
        add_to(hash, range);
    }
    return hash;
}

}  // namespace

std::uint64_t Standstill::digest_of_shared() {
    if (shared_count_ > shared_.size()) return ++unknown_;
    std::uint64_t hash = 0xcbf29ce484222325;
    for (std::size_t i = 0; i < shared_count_; ++i) add_to(hash, shared_[i]);
    return hash;
}

bool Standstill::is_time_to_look() {
    const auto now = Clock::now();
    if (began_ == Clock::time_point{}) {
        began_ = next_look_ = now;
        seen_.reset();
    }
    return now >= next_look_;
}

bool Standstill::has_lasted_since_look(std::uint64_t shared) {
    const auto found = digest_of_device(shared);
    if (!found || found != seen_) began_ = Clock::now();
    seen_ = found;
    next_look_ = Clock::now() + interval;
    return has_lasted();
}

}  // namespace warplab_cpu
