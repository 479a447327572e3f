#pragma once
// Conditions of #if and #elif, as far as they can be known before g++ sees them.

#include <optional>
#include <string_view>

#include "grader/cpu/rewriter/tokenizer.h"

namespace warplab::rewriter {

/// nvcc compiles a file for the host and for the device; only for the device, __CUDA_ARCH__ is defined.
enum class View { host, device };

inline constexpr std::string_view architecture = "__CUDA_ARCH__", architecture_value = "900";

/// The value of the tokens [begin, end); nothing when a macro decides that only g++ knows, or when it is malformed.
/// Linear in their number.
std::optional<long long> evaluate_condition(const Token* begin, const Token* end, View view);

}  // namespace warplab::rewriter
