#include "grader/runner/driver.h"
#include "labs/smoothing_filter/lab.h"

namespace {

int width(const warplab::Call& call) { return static_cast<int>(call.sizes[0]); }
int height(const warplab::Call& call) { return static_cast<int>(call.sizes[1]); }

struct Filter {
    float weights[filter_size * filter_size];

    explicit Filter(const warplab::Call& call) {
        for (int i = 0; i < filter_size * filter_size; ++i) weights[i] = static_cast<float>(call.reals[i]);
    }
};

}  // namespace

void driver_call(const warplab::Call& call) {
    const Filter filter(call);
    smoothing_filter(call.buffer<const float>(0), call.buffer<float>(1), width(call), height(call), filter.weights,
                     call.scratch);
}

std::size_t driver_scratch_bytes(const warplab::Call& call) {
    return smoothing_filter_scratch_bytes ? smoothing_filter_scratch_bytes(width(call), height(call)) : 0;
}

void driver_prepare(const warplab::Call& call) {
    const Filter filter(call);
    if (smoothing_filter_prepare) smoothing_filter_prepare(width(call), height(call), filter.weights);
}

bool driver_has_host() { return false; }

void driver_host_call(const warplab::Call&) {}
