#pragma once
// Evaluates the conditions of #if and #elif that do not depend on g++.

#include <optional>
#include <string_view>

#include "grader/cpu/rewriter/tokenizer.h"

namespace warplab::rewriter {

/// One of the two compilations of a file by nvcc. __CUDA_ARCH__ is defined only in the compilation for the device.
enum class View { host, device };

inline constexpr std::string_view architecture = "__CUDA_ARCH__", architecture_value = "900";

/// Return the value of the tokens [begin, end). Return nothing if the value depends on a macro that only g++ knows, or
/// if the condition is malformed. Takes time linear in the number of tokens.
std::optional<long long> evaluate_condition(const Token* begin, const Token* end, View view);

}  // namespace warplab::rewriter
