#include "grader/runner/driver.h"
#include "labs/vector_add/lab.h"

namespace {
std::size_t elements(const warplab::Call& call) { return static_cast<std::size_t>(call.sizes[0]); }
}  // namespace

void driver_call(const warplab::Call& call) {
    vector_add(call.buffer<const float>(0), call.buffer<const float>(1), call.buffer<float>(2), elements(call),
               call.scratch);
}

std::size_t driver_scratch_bytes(const warplab::Call& call) {
    return vector_add_scratch_bytes ? vector_add_scratch_bytes(elements(call)) : 0;
}

void driver_prepare(const warplab::Call& call) {
    if (vector_add_prepare) vector_add_prepare(elements(call));
}

bool driver_has_host() { return vector_add_host != nullptr; }

void driver_host_call(const warplab::Call& call) {
    vector_add_host(call.buffer<const float>(0), call.buffer<const float>(1), call.buffer<float>(2), elements(call));
}
