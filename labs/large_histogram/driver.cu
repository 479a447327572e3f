#include "grader/runner/driver.h"
#include "labs/large_histogram/lab.h"

namespace {

struct Sizes {
    unsigned histograms;
    std::size_t n;
    unsigned columns, rows;
};

Sizes sizes_of(const warplab::Call& call) {
    const auto size = [&](int index) { return static_cast<unsigned>(call.sizes[index]); };
    return {size(0), static_cast<std::size_t>(call.sizes[1]), size(2), size(3)};
}

}  // namespace

void driver_call(const warplab::Call& call) {
    const Sizes s = sizes_of(call);
    large_histogram(call.buffer<const unsigned>(0), call.buffer<unsigned char>(1), s.histograms, s.n, s.columns, s.rows,
                    call.scratch);
}

std::size_t driver_scratch_bytes(const warplab::Call& call) {
    const Sizes s = sizes_of(call);
    return large_histogram_scratch_bytes ? large_histogram_scratch_bytes(s.histograms, s.n, s.columns, s.rows) : 0;
}

void driver_prepare(const warplab::Call& call) {
    const Sizes s = sizes_of(call);
    if (large_histogram_prepare) large_histogram_prepare(s.histograms, s.n, s.columns, s.rows);
}

bool driver_has_host() { return false; }

void driver_host_call(const warplab::Call&) {}
