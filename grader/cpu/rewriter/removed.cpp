// Refuses functions that CUDA no longer has: warp functions without _sync, and old names of the runtime's functions.
// g++ would only report an undeclared name.

#include <algorithm>
#include <set>
#include <string>

#include "grader/cpu/rewriter/passes.h"

namespace warplab::rewriter {
namespace {

constexpr std::string_view without_sync[] = {"__shfl", "__shfl_up", "__shfl_down", "__shfl_xor",
                                             "__any",  "__all",     "__ballot"};

struct Renamed {
    std::string_view old_name, new_name;
};
constexpr Renamed renamed[] = {{"cudaThreadSynchronize", "cudaDeviceSynchronize"},
                               {"cudaThreadExit", "cudaDeviceReset"},
                               {"cudaThreadSetLimit", "cudaDeviceSetLimit"},
                               {"cudaThreadGetLimit", "cudaDeviceGetLimit"},
                               {"cudaThreadSetCacheConfig", "cudaDeviceSetCacheConfig"},
                               {"cudaThreadGetCacheConfig", "cudaDeviceGetCacheConfig"}};

/// Return the call that replaces the one at `i`: with _sync, a mask and the same arguments.
std::string with_sync(const Stream& stream, int i) {
    const int close = stream.match[i + 1];
    const std::string arguments = close < 0 ? "…" : stream.text(i + 2, close);
    return std::string(stream[i]) + "_sync(0xffffffff, " + arguments + ")";
}

void refuse_removed(const Stream& stream, Context& context) {
    std::set<std::string, std::less<>> declared;  // functions with an old name that the file itself declares
    for (int i = 0; i < stream.size(); ++i) {
        const auto old = std::ranges::find(renamed, stream[i], &Renamed::old_name);
        if (old != std::end(renamed) && stream[i + 1] == "(" && !context.unit.macro_names.count(stream[i]))
            context.refuse(stream.tokens[i],
                           std::string(stream[i]) + " does not exist in CUDA 13; write " + std::string(old->new_name));
        const bool listed = std::ranges::find(without_sync, stream[i]) != std::end(without_sync);
        if (!listed || stream[i + 1] != "(" || context.unit.macro_names.count(stream[i])) continue;
        const bool is_declared = stream.is_identifier(i - 1) && stream[i - 1] != "return" && stream[i - 1] != "else";
        if (is_declared) declared.emplace(stream[i]);
        if (declared.contains(stream[i])) continue;
        context.refuse(stream.tokens[i], std::string(stream[i]) + " does not exist for GPUs since Volta; write " +
                                             with_sync(stream, i) +
                                             ", where the mask names the lanes of the warp that take part");
    }
}

}  // namespace

void refuse_removed(Context& context) {
    refuse_removed(context.unit.code, context);
    for (const auto& macro : context.unit.macros) refuse_removed(macro.body, context);
}

}  // namespace warplab::rewriter
