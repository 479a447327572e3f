#pragma once
#include <string_view>

namespace warplab {

/// Where student code runs: on a GPU, or on this machine's processor without one.
enum class Backend { cuda, cpu };

constexpr std::string_view backend_name(Backend backend) { return backend == Backend::cuda ? "cuda" : "cpu"; }

}  // namespace warplab
