// libFuzzer's entry: clang++ -fsanitize=fuzzer -DTARGET=report … — built by tests/soak.py.

#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

#define TRY_(name) warplab::fuzz::try_##name
#define TRY(name) TRY_(name)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    TRY(TARGET)({reinterpret_cast<const char*>(bytes), size});
    return 0;
}
