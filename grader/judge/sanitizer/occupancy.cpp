#include "grader/judge/sanitizer/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <iterator>
#include <vector>

#include "grader/common/nearest.h"
#include "grader/judge/device/cuda_device.h"
#include "grader/model/manifest.h"

namespace warplab {
namespace {

constexpr int kb = 1024, warp = 32;
constexpr int registers_per_multiprocessor = 65536;  // the same for all GPUs in the table

/// The limits of a compute capability, from "Technical Specifications per Compute Capability" in the CUDA C++
/// Programming Guide.
struct Capability {
    int major, minor, threads, blocks, shared_bytes, shared_bytes_per_block;
};
constexpr Capability capabilities[] = {
    {6, 1, 2048, 32, 96 * kb, 48 * kb},   {7, 0, 2048, 32, 96 * kb, 96 * kb},    {7, 5, 1024, 16, 64 * kb, 64 * kb},
    {8, 0, 2048, 32, 164 * kb, 163 * kb}, {8, 6, 1536, 16, 100 * kb, 99 * kb},   {8, 9, 1536, 24, 100 * kb, 99 * kb},
    {9, 0, 2048, 32, 228 * kb, 227 * kb}, {10, 0, 2048, 32, 228 * kb, 227 * kb}, {12, 0, 1536, 24, 100 * kb, 99 * kb},
};

constexpr Gpu gpu(const char* name, int major, int minor, int multiprocessors) {
    for (const Capability& c : capabilities)
        if (c.major == major && c.minor == minor)
            return {name,
                    major,
                    minor,
                    multiprocessors,
                    c.threads,
                    c.blocks,
                    registers_per_multiprocessor,
                    c.shared_bytes,
                    c.shared_bytes_per_block};
    throw "no such compute capability in the table";  // at compile time
}

constexpr Gpu gpus[] = {
    gpu("GTX 1080", 6, 1, 20), gpu("V100", 7, 0, 80),       gpu("T4", 7, 5, 40),       gpu("RTX 2080", 7, 5, 46),
    gpu("A100", 8, 0, 108),    gpu("A10", 8, 6, 72),        gpu("RTX 3080", 8, 6, 68), gpu("RTX 3090", 8, 6, 82),
    gpu("L4", 8, 9, 58),       gpu("RTX 4090", 8, 9, 128),  gpu("H100", 9, 0, 132),    gpu("H200", 9, 0, 132),
    gpu("B200", 10, 0, 148),   gpu("RTX 5090", 12, 0, 170),
};

/// Return a name in a form that makes "nvidia geforce rtx 3080" and "RTX-3080" equal.
std::string comparable(const std::string& name) {
    std::string letters;
    for (const char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)))
            letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const char* maker : {"nvidia", "geforce", "tesla"})
        if (const auto at = letters.find(maker); at != std::string::npos) letters.erase(at, std::string(maker).size());
    return letters;
}

const Gpu* look_up(const std::string& name) {
    const auto iterator =
        std::ranges::find_if(gpus, [&](const Gpu& gpu) { return comparable(gpu.name) == comparable(name); });
    return iterator == std::end(gpus) ? nullptr : iterator;
}

int round_up(int value, int step) { return (value + step - 1) / step * step; }

int blocks_by_shared(const Gpu& gpu, long long shared_bytes) {
    if (shared_bytes > gpu.shared_bytes_per_block) return 0;
    const int reserved = gpu.major >= 8 ? kb : 0, step = gpu.major >= 8 ? 128 : 256;
    const int allocated = round_up(static_cast<int>(shared_bytes) + reserved, step);
    return allocated ? gpu.shared_bytes / allocated : INT_MAX;
}

/// Return the number of blocks that the registers allow. Registers are allocated to whole warps, 256 at a time, and
/// each quarter of the multiprocessor has separate registers.
int blocks_by_registers(const Gpu& gpu, int warps, int registers) {
    if (registers == 0) return INT_MAX;
    if (registers > 255) return 0;
    constexpr int parts = 4;
    const int of_warp = round_up(registers * warp, 256);
    if (of_warp * round_up(warps, parts) > gpu.registers) return 0;
    return gpu.registers / parts / of_warp * parts / warps;
}

}  // namespace

std::string Gpu::architecture() const { return fmt::format("sm_{}{}", major, minor); }

const Gpu& find_gpu(const std::string& name) {
    if (const Gpu* match = look_up(name)) return *match;
    std::vector<std::string> names;
    for (const Gpu& gpu : gpus) names.push_back(gpu.name);
    throw UsageError(
        fmt::format("The table has no GPU {}.{} It has: {}.", name, did_you_mean(name, names), fmt::join(names, ", ")));
}

const Gpu& default_gpu() {
    if (why_no_device().empty())
        if (const Gpu* own_gpu = look_up(CudaDevice::get().limits().name)) return *own_gpu;
    return find_gpu("H200");
}

Occupancy occupancy(const Gpu& gpu, int threads_per_block, long long shared_bytes, int registers) {
    if (threads_per_block <= 0) return {};
    const int warps = round_up(threads_per_block, warp) / warp;
    const struct {
        int blocks;
        const char* what;
    } limits[] = {{gpu.threads / (warps * warp), "threads"},
                  {blocks_by_registers(gpu, warps, registers), "registers"},
                  {blocks_by_shared(gpu, shared_bytes), "shared memory"},
                  {gpu.blocks, "the number of blocks"}};
    const auto& tightest =
        *std::ranges::min_element(limits, [](const auto& a, const auto& b) { return a.blocks < b.blocks; });
    const int threads = tightest.blocks * threads_per_block;
    return {tightest.blocks, threads, static_cast<double>(tightest.blocks * warps * warp) / gpu.threads, tightest.what};
}

}  // namespace warplab
