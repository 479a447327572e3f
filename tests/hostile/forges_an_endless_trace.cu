// Bomb: writes 1.5 million launches and much memory into the trace from which the judge models its time.
#include "forged_trace.h"

static void forge(char* at) {
    constexpr std::uint32_t true_records = 4 << 20;
    std::memset(at + 4096, 1, true_records);
    put(at, 1, Memory{0, 64, 0, 0}, true_records);  // spans the true records, so that the judge skips them
    for (std::uint64_t i = 1; i < 60'000; ++i) put(at, 1, Memory{i * 4096, 64, 0, 0});
    Launch launch = {{}, {1, 1, 1}, {32, 1, 1}, 0, 0};
    for (std::uint32_t i = 0; i < 1'500'000; ++i) {
        std::snprintf(launch.kernel, sizeof launch.kernel, "k%u", i);
        put(at, 2, launch);
        put(at, 3, Block{});
    }
}
