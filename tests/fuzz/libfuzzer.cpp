// libFuzzer's entry point for all targets; the environment variable WARPLAB_FUZZ names one. soak_fuzz.py builds this.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/targets.h"

namespace {

const warplab::fuzz::Target& chosen_target() {
    const char* name = std::getenv("WARPLAB_FUZZ");
    const auto& targets = warplab::fuzz::targets;
    const auto is_chosen = [&](const auto& target) { return name && std::string_view(target.name) == name; };
    const auto target = std::find_if(targets.begin(), targets.end(), is_chosen);
    if (target == targets.end()) std::abort();
    return *target;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static const warplab::fuzz::Target& target = chosen_target();
    target.run({reinterpret_cast<const char*>(bytes), size});
    return 0;
}
