#pragma once
// Finds the calls of the tracer's hooks in a program, in the order of their addresses. A trace names a call by the
// address to which it returns.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grader/judge/predict/gimple.h"

namespace warplab::predict {

struct HookCall {
    std::uint32_t place = 0;  // the return address, from the executable's beginning
    std::string hook;
};

/// Return the short name of a hook, such as "__tsan_read4" or "warp_shuffle"; empty for other functions. `symbol` is
/// mangled or as in the intermediate code.
std::string hook_name(std::string_view symbol);

/// Return the calls of each of these functions, by mangled name. The other symbols are ignored: an untrusted file may
/// have thousands of names for one large function. A damaged file has no calls.
std::map<std::string, std::vector<HookCall>> find_hook_calls(std::string_view executable,
                                                             const std::vector<Function>& functions);

}  // namespace warplab::predict
