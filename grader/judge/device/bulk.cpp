#include "grader/judge/device/bulk.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "grader/common/parallel.h"

namespace warplab {
namespace {

constexpr std::size_t min_part_bytes = 4 << 20;  // for less, starting a thread costs more than it saves
constexpr std::size_t max_threads = 16;          // with more threads, copies are no faster

/// Call work(begin, end) for parts of [0, bytes) at the same time; parts begin at multiples of 64.
template <class Work>
void in_parts(std::size_t bytes, const Work& work) {
    if (bytes == 0) return;
    const std::size_t parts = std::clamp<std::size_t>(bytes / min_part_bytes, 1, std::min(count_cores(), max_threads));
    const std::size_t part_bytes = (bytes / parts + 63) / 64 * 64;
    for_each_index((bytes + part_bytes - 1) / part_bytes, parts,
                   [&](std::size_t k) { work(k * part_bytes, std::min(bytes, (k + 1) * part_bytes)); });
}

}  // namespace

void copy_bytes(void* to, const void* from, std::size_t bytes) {
    in_parts(bytes, [&](std::size_t begin, std::size_t end) {
        std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin, end - begin);
    });
}

void fill_pattern(void* to, std::uint32_t pattern, std::size_t bytes) {
    in_parts(bytes, [&](std::size_t begin, std::size_t end) {
        std::byte* const part = static_cast<std::byte*>(to) + begin;
        const std::size_t words = (end - begin) / sizeof pattern;
        std::fill_n(reinterpret_cast<std::uint32_t*>(part), words, pattern);
        std::memcpy(part + words * sizeof pattern, &pattern, (end - begin) % sizeof pattern);
    });
}

std::optional<std::size_t> first_difference(const void* left, const void* right, std::size_t bytes) {
    const auto* a = static_cast<const std::byte*>(left);
    const auto* b = static_cast<const std::byte*>(right);
    std::atomic<std::size_t> first = bytes;
    in_parts(bytes, [&](std::size_t begin, std::size_t end) {
        if (std::memcmp(a + begin, b + begin, end - begin) == 0) return;
        const std::size_t offset = static_cast<std::size_t>(std::mismatch(a + begin, a + end, b + begin).first - a);
        std::size_t before = first;
        while (offset < before && !first.compare_exchange_weak(before, offset)) continue;
    });
    if (first == bytes) return std::nullopt;
    return first;
}

}  // namespace warplab
