#pragma once
// Conditions of #if and #elif, as far as the rewriter can evaluate them before g++.

#include <optional>
#include <string_view>

#include "grader/cpu/rewriter/tokenizer.h"

namespace warplab::rewriter {

/// nvcc compiles a file for the host and for the device; only for the device, __CUDA_ARCH__ is defined.
enum class View { host, device };

inline constexpr std::string_view architecture = "__CUDA_ARCH__", architecture_value = "900";

/// Return the value of the tokens [begin, end). Return nothing if the value depends on a macro that only g++ knows, or
/// if the condition is malformed. Takes time linear in the number of tokens.
std::optional<long long> evaluate_condition(const Token* begin, const Token* end, View view);

}  // namespace warplab::rewriter
