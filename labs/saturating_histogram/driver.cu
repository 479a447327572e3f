#include "grader/runner/driver.h"
#include "labs/saturating_histogram/lab.h"

namespace {
std::size_t width(const warplab::Call& call) { return static_cast<std::size_t>(call.sizes[0]); }
std::size_t height(const warplab::Call& call) { return static_cast<std::size_t>(call.sizes[1]); }
std::size_t pitch(const warplab::Call& call) { return (width(call) + 128) & ~std::size_t{127}; }
}  // namespace

void driver_call(const warplab::Call& call) {
    saturating_histogram(call.buffer<const std::uint32_t>(0), call.buffer<std::uint8_t>(1), width(call), height(call),
                         pitch(call), call.scratch);
}

std::size_t driver_scratch_bytes(const warplab::Call& call) {
    return saturating_histogram_scratch_bytes ? saturating_histogram_scratch_bytes(width(call), height(call)) : 0;
}

void driver_prepare(const warplab::Call& call) {
    if (saturating_histogram_prepare) saturating_histogram_prepare(width(call), height(call));
}

bool driver_has_host() { return saturating_histogram_host != nullptr; }

void driver_host_call(const warplab::Call& call) {
    saturating_histogram_host(call.buffer<const std::uint32_t>(0), call.buffer<std::uint8_t>(1), width(call),
                              height(call), pitch(call));
}
