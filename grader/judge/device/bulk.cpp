#include "grader/judge/device/bulk.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace warplab {
namespace {

constexpr std::size_t least_bytes =
    4 << 20;                             // the minimum per thread: for less, starting a thread costs more than it saves
constexpr std::size_t max_threads = 16;  // memory is no faster with more

/// Call work(begin, end) for parts of [0, bytes) at the same time; parts begin at multiples of 64.
template <class Work>
void in_parts(std::size_t bytes, const Work& work) {
    const std::size_t cores = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, max_threads);
    const std::size_t parts = std::clamp<std::size_t>(bytes / least_bytes, 1, cores);
    const std::size_t each = (bytes / parts + 63) / 64 * 64;
    std::vector<std::jthread> threads;
    for (std::size_t begin = each; begin < bytes; begin += each)
        threads.emplace_back([&work, begin, end = std::min(bytes, begin + each)] { work(begin, end); });
    if (bytes) work(0, std::min(bytes, each));
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

std::optional<std::size_t> first_difference(const void* one, const void* other, std::size_t bytes) {
    const auto* a = static_cast<const std::byte*>(one);
    const auto* b = static_cast<const std::byte*>(other);
    std::atomic<std::size_t> first = bytes;
    in_parts(bytes, [&](std::size_t begin, std::size_t end) {
        if (std::memcmp(a + begin, b + begin, end - begin) == 0) return;
        const std::size_t here = static_cast<std::size_t>(std::mismatch(a + begin, a + end, b + begin).first - a);
        std::size_t before = first;
        while (here < before && !first.compare_exchange_weak(before, here)) continue;
    });
    if (first == bytes) return std::nullopt;
    return first;
}

}  // namespace warplab
