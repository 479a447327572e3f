// CUB computes one histogram at a time, so each of the histograms takes a call. CUB's bins are 32-bit counts, which
// stay in scratch. CUB (of CUDA 13.0) uses shared memory only for at most 256 bins. With more, each block has
// its own copy of all bins in device memory: it clears the copy, counts in it, and adds it to the result.

#include <cub/device/device_histogram.cuh>

#include "labs/large_histogram/lab.h"

struct Plan {
    int bins, n;

    Plan(std::size_t values, unsigned columns, unsigned rows)
        : bins(static_cast<int>(columns * rows)), n(static_cast<int>(values)) {}

    void run(void* work, std::size_t& work_bytes, const unsigned* values, unsigned* counts) const {
        CUDA_CHECK(cub::DeviceHistogram::HistogramEven(work, work_bytes, values, counts, bins + 1, 0u,
                                                       static_cast<unsigned>(bins), n));
    }
    std::size_t count_bytes() const { return static_cast<std::size_t>(bins) * sizeof(unsigned); }
    std::size_t work_bytes() const {
        std::size_t bytes = 0;
        run(nullptr, bytes, nullptr, nullptr);
        return bytes;
    }
};

std::size_t large_histogram_scratch_bytes(unsigned /*histograms*/, std::size_t n, unsigned columns, unsigned rows) {
    const Plan plan(n, columns, rows);
    return (plan.count_bytes() + 255) / 256 * 256 + plan.work_bytes();
}

void large_histogram(const unsigned* values, unsigned char* /*bins*/, unsigned histograms, std::size_t n,
                     unsigned columns, unsigned rows, void* scratch) {
    const Plan plan(n, columns, rows);
    static std::size_t work_bytes = plan.work_bytes();
    auto* counts = static_cast<unsigned*>(scratch);
    void* work = static_cast<char*>(scratch) + (plan.count_bytes() + 255) / 256 * 256;
    for (unsigned h = 0; h < histograms; ++h) plan.run(work, work_bytes, values + h * n, counts);
}
