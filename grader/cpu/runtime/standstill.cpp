#include "grader/cpu/runtime/standstill.h"

#include <cstring>

#include "grader/cpu/runtime/scheduler.h"

namespace warplab_cpu {
namespace {

constexpr std::size_t max_bytes = std::size_t{256} << 20;  // reading more repeatedly would take too long

/// Return the digest with device memory added; empty if that takes too long, or if the host may write the memory.
std::optional<std::uint64_t> add_device(std::uint64_t digest) {
    if (has_unlisted_memory() || has_other_host_threads()) return std::nullopt;
    std::size_t remaining_bytes = max_bytes;
    for (const Range& range : memory_of_kernels()) {
        if (range.bytes > remaining_bytes) return std::nullopt;
        remaining_bytes -= range.bytes;
        digest = add_to_digest(digest, range);
    }
    return digest;
}

}  // namespace

std::uint64_t add_to_digest(std::uint64_t digest, const Range& range) {
    constexpr std::uint64_t prime = 0x100000001b3;  // FNV-1a, by words
    const auto* const begin = static_cast<const char*>(range.begin);
    std::size_t at = 0;
    for (std::uint64_t word; at + sizeof word <= range.bytes; at += sizeof word) {
        std::memcpy(&word, begin + at, sizeof word);
        digest = (digest ^ word) * prime;
    }
    for (; at < range.bytes; ++at) digest = (digest ^ static_cast<unsigned char>(begin[at])) * prime;
    return digest;
}

std::uint64_t Standstill::digest_of_shared() {
    if (shared_count_ > shared_.size()) return ++unknown_;
    std::uint64_t digest = 0xcbf29ce484222325;
    for (std::size_t i = 0; i < shared_count_; ++i) digest = add_to_digest(digest, shared_[i]);
    return digest;
}

bool Standstill::is_time_to_compare() {
    const auto now = Clock::now();
    if (began_ == Clock::time_point{}) {
        began_ = now;
        next_comparison_ = now + interval;  // a comparison takes long, and most waits end before it
        seen_.reset();
    }
    return now >= next_comparison_;
}

void Standstill::compare_memory(std::uint64_t digest) {
    const auto found = add_device(digest);
    if (!found || found != seen_) began_ = Clock::now();
    seen_ = found;
    next_comparison_ = Clock::now() + interval;
}

bool Standstill::has_lasted() const { return seen_ && Clock::now() - began_ >= min_duration; }

}  // namespace warplab_cpu
