#include "grader/runner/driver.h"
#include "labs/dot_product/lab.h"

namespace {
std::size_t elements(const warplab::Call& call) { return static_cast<std::size_t>(call.sizes[0]); }
}  // namespace

void driver_call(const warplab::Call& call) {
    dot_product(call.buffer<const int>(0), call.buffer<const int>(1), call.buffer<int>(2), elements(call),
                call.scratch);
}

std::size_t driver_scratch_bytes(const warplab::Call& call) {
    return dot_product_scratch_bytes ? dot_product_scratch_bytes(elements(call)) : 0;
}

void driver_prepare(const warplab::Call& call) {
    if (dot_product_prepare) dot_product_prepare(elements(call));
}

bool driver_has_host() { return false; }

void driver_host_call(const warplab::Call&) {}
