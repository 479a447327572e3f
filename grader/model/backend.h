#pragma once
#include <string_view>

namespace warplab {

/// The device that runs student code: a GPU, or this machine's processor without a GPU.
enum class Backend { cuda, cpu };

constexpr std::string_view backend_name(Backend backend) { return backend == Backend::cuda ? "cuda" : "cpu"; }

}  // namespace warplab
