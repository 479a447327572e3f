#pragma once
#include <string_view>

namespace warplab {

/// cuda: a real GPU through nvcc. cpu: the same files without a GPU, through the rewriter and g++.
enum class Backend { cuda, cpu };

constexpr std::string_view backend_name(Backend backend) { return backend == Backend::cuda ? "cuda" : "cpu"; }

}  // namespace warplab
