#include "grader/runner/driver.h"
#include "labs/image_histogram/lab.h"

namespace {
std::size_t count_pixels(const warplab::Call& call) { return static_cast<std::size_t>(call.sizes[0]); }
}  // namespace

void driver_call(const warplab::Call& call) {
    image_histogram(call.buffer<const unsigned char>(0), call.buffer<unsigned>(1), count_pixels(call), call.scratch);
}

std::size_t driver_scratch_bytes(const warplab::Call& call) {
    return image_histogram_scratch_bytes ? image_histogram_scratch_bytes(count_pixels(call)) : 0;
}

void driver_prepare(const warplab::Call& call) {
    if (image_histogram_prepare) image_histogram_prepare(count_pixels(call));
}

bool driver_has_host() { return false; }

void driver_host_call(const warplab::Call&) {}
