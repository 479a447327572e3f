#pragma once
// Histograms on the CPU.

#include <omp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace warplab {

using Bins = std::array<std::uint32_t, 256>;

/// Count eight pixels at a time, each in separate bins, and add the counts to `bins`. Neighbours are often equal, and
/// an addition to a word that was just written must wait for that write.
inline void count_values(const std::uint8_t* pixels, std::size_t n, Bins& bins) {
    constexpr std::size_t copies = 8;
    Bins copy[copies] = {};
    std::size_t i = 0;
    for (; i + copies <= n; i += copies) {
        std::uint64_t word;
        std::memcpy(&word, pixels + i, copies);
#pragma GCC unroll 8
        for (std::size_t k = 0; k < copies; ++k) ++copy[k][word >> (8 * k) & 0xff];
    }
    for (; i < n; ++i) ++bins[pixels[i]];
    for (const Bins& counted : copy)
        for (std::size_t v = 0; v < bins.size(); ++v) bins[v] += counted[v];
}

/// Do the same on all cores, each with a part of the pixels and separate bins.
inline Bins count_values_openmp(const std::uint8_t* pixels, std::size_t n) {
    Bins bins{};
#pragma omp parallel
    {
        const auto threads = static_cast<std::size_t>(omp_get_num_threads());
        const auto thread = static_cast<std::size_t>(omp_get_thread_num());
        const std::size_t begin = n / threads * thread, end = thread + 1 == threads ? n : begin + n / threads;
        Bins core_bins{};
        count_values(pixels + begin, end - begin, core_bins);
#pragma omp critical
        for (std::size_t v = 0; v < bins.size(); ++v) bins[v] += core_bins[v];
    }
    return bins;
}

}  // namespace warplab
