// Measures the constants of this GPU for the model of a stage's time, and writes them into a folder as GPU.json. Each
// constant comes from a separate microbenchmark, never from a lab.
//
// usage: calibrate FOLDER

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

#define TRY(call)                                                                       \
    do {                                                                                \
        const cudaError_t status = (call);                                              \
        if (status != cudaSuccess) {                                                    \
            std::fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(status)); \
            std::exit(2);                                                               \
        }                                                                               \
    } while (false)

constexpr int warp = 32, repeats = 5, steps = 2048;
constexpr std::size_t sector = 32, kilobyte = 1024, megabyte = 1024 * kilobyte;

cudaDeviceProp properties;
double clock_hz;
long long* clocks_of_block;  // managed: clocks that each block took
unsigned* sink;              // keeps the compiler from dropping results

template <class T>
T* allocate(std::size_t count) {
    T* memory = nullptr;
    TRY(cudaMalloc(&memory, count * sizeof(T)));
    TRY(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    return values[values.size() / 2];
}
double median_of(const std::function<double()>& measure) {
    measure();
    std::vector<double> values(repeats);
    for (double& value : values) value = measure();
    return median(values);
}

/// Return the clocks of the slowest block of a kernel that records the clocks of its blocks.
double clocks_of(int blocks, const std::function<void()>& launch) {
    return median_of([&] {
        launch();
        TRY(cudaGetLastError());
        TRY(cudaDeviceSynchronize());
        return static_cast<double>(*std::max_element(clocks_of_block, clocks_of_block + blocks));
    });
}

/// Return the seconds that the GPU takes for the kernels that `launch` starts.
double gpu_seconds(const std::function<void()>& launch) {
    cudaEvent_t begin, end;
    TRY(cudaEventCreate(&begin));
    TRY(cudaEventCreate(&end));
    const double seconds = median_of([&] {
        TRY(cudaEventRecord(begin));
        launch();
        TRY(cudaEventRecord(end));
        TRY(cudaEventSynchronize(end));
        float ms = 0;
        TRY(cudaEventElapsedTime(&ms, begin, end));
        return ms * 1e-3;
    });
    TRY(cudaEventDestroy(begin));
    TRY(cudaEventDestroy(end));
    return seconds;
}

double host_seconds(const std::function<void()>& work) {
    return median_of([&] {
        const auto begin = std::chrono::steady_clock::now();
        work();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    });
}

// One thread, or one multiprocessor

enum class Level { l1, l2, memory };

__global__ void chase(void* const* first, int count, Level level, long long* clocks, unsigned* result) {
    void* const* at = first;
    long long begin = 0;
    const int passes = level == Level::memory ? 1 : 2;  // the first one fills the caches
    for (int pass = 0; pass < passes; ++pass) {
        begin = clock64();
        if (level == Level::l1)
            for (int i = 0; i < count; ++i) asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(at) : "l"(at));
        else
            for (int i = 0; i < count; ++i) asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(at) : "l"(at));
        if (reinterpret_cast<std::uintptr_t>(at) == 1) *result = 1;
    }
    *clocks = clock64() - begin;
}

/// Return the latency, in clocks, of loads that follow a random path through `bytes` of memory.
double chase_clocks(std::size_t bytes, Level level) {
    constexpr std::size_t stride = 128;
    const std::size_t count = bytes / stride;
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, std::mt19937_64(1));
    char* const memory = allocate<char>(bytes);
    std::vector<char> image(bytes);
    for (std::size_t i = 0; i < count; ++i) {
        char* const next = memory + order[(i + 1) % count] * stride;
        std::copy_n(reinterpret_cast<const char*>(&next), sizeof next, &image[order[i] * stride]);
    }
    TRY(cudaMemcpy(memory, image.data(), bytes, cudaMemcpyHostToDevice));
    const int walked = static_cast<int>(std::min<std::size_t>(count, 1 << 16));
    std::size_t begin = 0;
    const double clocks = clocks_of(1, [&] {
        chase<<<1, 1>>>(reinterpret_cast<void**>(memory + order[begin] * stride), walked, level, clocks_of_block, sink);
        if (level == Level::memory) begin = (begin + static_cast<std::size_t>(walked)) % count;
    });
    TRY(cudaFree(memory));
    return clocks / walked;
}

enum class Chain { arithmetic, fp64, shuffle, shared, shared_atomic, atomic, barrier, store_and_barrier };

/// A chain of `steps` operations, each of which needs the result of the previous one.
template <Chain chain>
__global__ void run_chain(unsigned seed, unsigned* device_word, long long* clocks, unsigned* result) {
    __shared__ unsigned words[1024];
    words[threadIdx.x] = 0;
    __syncthreads();
    unsigned value = seed + threadIdx.x, at = static_cast<unsigned>(__cvta_generic_to_shared(words)) + 4 * (seed & 1);
    double wide = seed;
    if (chain == Chain::shared && threadIdx.x == 0) words[seed & 1] = at;
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 64
    for (int i = 0; i < steps; ++i) {
        if (chain == Chain::arithmetic) asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(value) : "r"(seed));
        if (chain == Chain::fp64) asm volatile("fma.rn.f64 %0, %0, %0, %0;" : "+d"(wide));
        if (chain == Chain::shuffle) asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, -1;" : "+r"(value));
        if (chain == Chain::shared) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
        if (chain == Chain::shared_atomic)
            asm volatile("atom.shared.add.u32 %0, [%1], %2;"
                         : "=r"(value)
                         : "r"(at + (value & seed)), "r"(i)
                         : "memory");
        if (chain == Chain::atomic)
            asm volatile("atom.global.add.u32 %0, [%1], %2;"
                         : "=r"(value)
                         : "l"(device_word + (value & seed)), "r"(i)
                         : "memory");
        if (chain == Chain::store_and_barrier) *static_cast<volatile unsigned*>(&words[threadIdx.x]) = i;
        if (chain == Chain::barrier || chain == Chain::store_and_barrier) __syncthreads();
    }
    const long long end = clock64();
    *result = value + at + static_cast<unsigned>(wide) + words[threadIdx.x];
    if (threadIdx.x == 0) *clocks = end - begin;
}

template <Chain chain>
double chain_clocks(int threads, unsigned* device_word) {
    return clocks_of(1, [&] { run_chain<chain><<<1, threads>>>(0, device_word, clocks_of_block, sink); }) / steps;
}

enum class Stream { fp64, shuffle, shared_atomic, tag };

/// Many independent operations on one full multiprocessor.
template <Stream stream>
__global__ void run_stream(unsigned seed, const unsigned* memory, long long* clocks, unsigned* result) {
    __shared__ unsigned words[1024];
    words[threadIdx.x] = 0;
    __syncthreads();
    constexpr int independent = 8;
    unsigned values[independent] = {};
    double wide[independent];
    for (int k = 0; k < independent; ++k) wide[k] = seed + k, values[k] = seed + k + threadIdx.x;
    const unsigned lane = threadIdx.x % warp;
    unsigned at = seed;
    const long long begin = clock64();
#pragma unroll 8
    for (int i = 0; i < steps / independent; ++i)
        for (int k = 0; k < independent; ++k) {
            if (stream == Stream::fp64) asm volatile("fma.rn.f64 %0, %0, %0, %0;" : "+d"(wide[k]));
            if (stream == Stream::shuffle) asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, -1;" : "+r"(values[k]));
            if (stream == Stream::shared_atomic) atomicAdd(&words[(threadIdx.x + 32 * k) % 1024], seed + 1);
            if (stream == Stream::tag) {
                unsigned loaded;
                asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(loaded) : "l"(memory + (32 + 1) * lane + at));
                values[k] += loaded;
                at = (at + seed + 1) % 32;
            }
        }
    __syncthreads();
    const long long end = clock64();
    for (int k = 0; k < independent; ++k) seed += values[k] + static_cast<unsigned>(wide[k]);
    if (seed == 12345) *result = seed + words[threadIdx.x];
    if (threadIdx.x == 0) *clocks = end - begin;
}

/// Return the clocks that the multiprocessor takes for one operation of a warp.
template <Stream stream>
double stream_clocks(const unsigned* memory) {
    constexpr int threads = 1024;
    const double clocks = clocks_of(1, [&] { run_stream<stream><<<1, threads>>>(0, memory, clocks_of_block, sink); });
    return clocks / (static_cast<double>(steps) * threads / warp);
}

// The whole GPU

__global__ void spin(long long clocks, long long* took, unsigned long long* nanoseconds) {
    unsigned long long first, last;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(first));
    const long long begin = clock64();
    while (clock64() - begin < clocks) {
    }
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(last));
    if (blockIdx.x == 0 && threadIdx.x == 0 && took) *took = clock64() - begin, *nanoseconds = last - first;
}

double measure_clock() {
    unsigned long long* nanoseconds;
    TRY(cudaMallocManaged(&nanoseconds, sizeof *nanoseconds));
    const double hz = median_of([&] {
        spin<<<properties.multiProcessorCount * 2, 512>>>(40'000'000, clocks_of_block, nanoseconds);
        TRY(cudaDeviceSynchronize());
        return static_cast<double>(*clocks_of_block) / static_cast<double>(*nanoseconds) * 1e9;
    });
    TRY(cudaFree(nanoseconds));
    return hz;
}

__global__ void read_all(const uint4* memory, std::size_t count, int passes, unsigned* result) {
    uint4 sum = {};
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (int pass = 0; pass < passes; ++pass)
#pragma unroll 4
        for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += stride) {
            const uint4 loaded = __ldcg(memory + i);
            sum.x ^= loaded.x, sum.y ^= loaded.y, sum.z ^= loaded.z, sum.w ^= loaded.w;
        }
    if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 12345) *result = 1;
}

/// Return the bytes per second at which `blocks` read the first `bytes` of memory repeatedly.
double read_rate(const uint4* memory, std::size_t bytes, int blocks) {
    const int passes = static_cast<int>(std::max<std::size_t>(2, 512 * megabyte / bytes));
    const auto seconds = [&](int times) {
        return gpu_seconds([&] { read_all<<<blocks, 1024>>>(memory, bytes / sizeof *memory, times, sink); });
    };
    const double all = seconds(passes), first_pass = seconds(1);
    return static_cast<double>(bytes) * (passes - 1) / (all - first_pass);
}

/// Each thread reads a value, waits for it and, if `writes`, stores it. `zero` is 0, which the compiler cannot know.
template <bool writes>
__global__ void move(const uint4* source, uint4* target, std::size_t count, unsigned zero, int times) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    for (int t = 0; t < times; ++t) {
        const uint4 loaded = __ldcg(source + i);
        if (writes || loaded.x & zero) target[i] = loaded;
        i += stride + (loaded.x & zero);
        if (i >= count) i -= count;
    }
}

struct Moved {
    double bytes_per_s, read_clocks;  // read_clocks: from one read of a thread to its next one
};

/// Measure `move` in `bytes` of memory with this number of threads per multiprocessor.
template <bool writes>
Moved moved(uint4* memory, std::size_t bytes, int threads) {
    constexpr int block = 64, max_times = 2000, parts = writes ? 2 : 1;
    const std::size_t count = bytes / sizeof *memory / parts;
    const int blocks = properties.multiProcessorCount * (threads / block);
    const std::size_t at_once = static_cast<std::size_t>(blocks) * block;
    const int times = static_cast<int>(std::min<std::size_t>(max_times, count / at_once));
    const double seconds =
        gpu_seconds([&] { move<writes><<<blocks, block>>>(memory, memory + count, count, 0, times); });
    return {static_cast<double>(at_once * times * parts * sizeof *memory) / seconds, seconds * clock_hz / times};
}

/// Return, as JSON, pairs of a share of the memory's read rate and the additional clocks of a read at this rate.
template <bool writes>
std::string measure_loads(uint4* memory, std::size_t bytes, double read_rate) {
    std::string json;
    const double alone = moved<writes>(memory, bytes, 64).read_clocks;
    for (const int threads : {128, 256, 512, 768, 1024}) {  // more threads only wait for each other
        const Moved at = moved<writes>(memory, bytes, threads);
        char point[64];
        std::snprintf(point, sizeof point, "%s[%.3g, %.4g]", json.empty() ? "" : ", ", at.bytes_per_s / read_rate,
                      std::max(0.0, at.read_clocks - alone));
        json += point;
    }
    return "[" + json + "]";
}

/// Each warp adds to 32 sectors of the window, or 32 times to the same word if the window is one word.
__global__ void add_in_window(unsigned* memory, unsigned sectors, int times) {
    const unsigned number = (blockIdx.x * blockDim.x + threadIdx.x) / warp, lane = threadIdx.x % warp;
    unsigned at = sectors ? (number * 37 + lane * (sectors / warp)) % sectors * 8 : 0;
    for (int i = 0; i < times; ++i) {
        asm volatile("red.global.add.u32 [%0], 1;" ::"l"(memory + at) : "memory");
        if (sectors) at = (at + 8) % (sectors * 8);
    }
}

/// Return the clocks of the GPU for one lane's addition.
double atomic_clocks(unsigned* memory, unsigned sectors) {
    const int blocks = properties.multiProcessorCount * 2, times = sectors > 4096 ? 512 : 64;
    const double seconds = gpu_seconds([&] { add_in_window<<<blocks, 1024>>>(memory, sectors, times); });
    return seconds * clock_hz / (static_cast<double>(blocks) * 1024 * times);
}

/// All warps read one word, without the L1.
__global__ void read_one_word(const volatile unsigned* memory, int times, unsigned* result) {
    unsigned sum = 0;
    for (int i = 0; i < times; ++i) sum += *memory;
    if (sum == 12345) *result = sum;
}

/// Return the clocks of the GPU for one warp's read.
double word_read_clocks(unsigned* memory) {
    const int blocks = properties.multiProcessorCount * 2, times = 256;
    const double seconds = gpu_seconds([&] { read_one_word<<<blocks, 1024>>>(memory, times, memory + 1); });
    return seconds * clock_hz / (static_cast<double>(blocks) * 1024 / warp * times);
}

enum class Scattered { read, write, atomic, read_and_atomic };

/// Each lane accesses random words, as in a histogram.
template <Scattered what>
__global__ void scatter(unsigned* memory, unsigned words, int times, unsigned* result) {
    unsigned random = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345, sum = 0;
    for (int i = 0; i < times; ++i) {
        random ^= random << 13, random ^= random >> 17, random ^= random << 5;
        unsigned* const word = memory + __umulhi(random, words);
        if (what == Scattered::write) {
            *word = random;
            continue;
        }
        const unsigned seen = what == Scattered::atomic ? random : __ldcg(word);
        sum += what == Scattered::read ? seen : atomicCAS(word, seen, seen + 1);
    }
    if (sum == 12345) *result = sum;
}

/// Return the clocks of a multiprocessor for one lane's access.
template <Scattered what>
double scattered_clocks(unsigned* memory) {
    constexpr unsigned words = 4u << 20;
    constexpr int times = 256, blocks_each = 2;
    const int blocks = properties.multiProcessorCount * blocks_each;
    const double seconds = gpu_seconds([&] { scatter<what><<<blocks, 1024>>>(memory, words, times, sink); });
    return seconds * clock_hz / (blocks_each * 1024.0 * times);
}

__global__ void nothing() {}

/// The minimum work of a block: find its place, and compare it with an argument.
__global__ void start(unsigned* result, unsigned long long last) {
    if (blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x > last) *result = 1;
}

/// Return the clocks from one block's start to the next one's on a multiprocessor.
double block_clocks(int threads, int shared_bytes) {
    constexpr int blocks_each = 400;
    TRY(cudaFuncSetAttribute(start, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    const auto seconds = [&](int blocks) {
        return gpu_seconds(
            [&] { start<<<properties.multiProcessorCount * blocks, threads, shared_bytes>>>(sink, ~0ull); });
    };
    return (seconds(blocks_each + 1) - seconds(1)) * clock_hz / blocks_each;
}

// The host

struct Host {
    double launch, gap, start, copy_to_host, copy_to_device, fill, allocate, wait, link_bytes_per_s;
};

Host measure_host(unsigned* memory) {
    constexpr int calls = 200;
    constexpr long long held = 20'000'000;  // clocks: longer than the host takes for all calls
    Host host = {};
    unsigned word = 0;
    const auto each = [](double seconds) { return seconds / calls; };
    const auto repeat = [](const auto& work) {
        for (int i = 0; i < calls; ++i) work();
    };
    host.launch = each(median_of([&] {
        spin<<<1, 1>>>(held, nullptr, nullptr);
        const auto begin = std::chrono::steady_clock::now();
        repeat([] { nothing<<<1, warp>>>(); });
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        TRY(cudaDeviceSynchronize());
        return took.count();
    }));
    // A kernel occupies the GPU until all launches are queued, so that the host's speed does not matter.
    const auto queued = [&](const auto& work) {
        const double alone = gpu_seconds([&] { spin<<<1, 1>>>(held, nullptr, nullptr); });
        return each(gpu_seconds([&] { spin<<<1, 1>>>(held, nullptr, nullptr), repeat(work); }) - alone);
    };
    host.gap = queued([] { nothing<<<1, warp>>>(); });
    host.fill = std::max(0.0, queued([&] { TRY(cudaMemsetAsync(memory, 0, 64)); }) - host.gap);
    const double round = each(host_seconds([&] { repeat([] { nothing<<<1, warp>>>(), cudaDeviceSynchronize(); }); }));
    const auto to_host = [&] { TRY(cudaMemcpy(&word, memory, sizeof word, cudaMemcpyDeviceToHost)); };
    host.copy_to_host = each(host_seconds([&] { repeat(to_host); }));
    const double with_copy = each(host_seconds([&] { repeat([&] { nothing<<<1, warp>>>(), to_host(); }); }));
    host.start = std::max(0.0, with_copy - host.launch - host.copy_to_host);
    host.wait = std::max(0.0, round - host.launch - host.start);
    host.copy_to_device = each(
        host_seconds([&] { repeat([&] { TRY(cudaMemcpy(memory, &word, sizeof word, cudaMemcpyHostToDevice)); }); }));
    host.allocate = each(host_seconds([&] {
                        repeat([] {
                            void* some = nullptr;
                            TRY(cudaMalloc(&some, 4 * megabyte));
                            TRY(cudaFree(some));
                        });
                    })) /
                    2;
    std::vector<char> pageable(64 * megabyte, 1);
    const auto bytes = static_cast<double>(pageable.size());
    const auto copy = [&](bool back) {
        return host_seconds([&] {
            if (back)
                TRY(cudaMemcpy(pageable.data(), memory, pageable.size(), cudaMemcpyDeviceToHost));
            else
                TRY(cudaMemcpy(memory, pageable.data(), pageable.size(), cudaMemcpyHostToDevice));
        });
    };
    host.link_bytes_per_s = 2 * bytes / (copy(true) + copy(false));
    return host;
}

/// Return the largest size, in bytes, whose cost is closer to that of the smallest size than to that of the largest.
double capacity(const std::vector<std::size_t>& sizes, const std::function<double(std::size_t)>& cost) {
    std::vector<double> costs;
    for (const std::size_t size : sizes) costs.push_back(cost(size));
    const double middle = (costs.front() + costs.back()) / 2;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        std::fprintf(stderr, "  %8zu KB: %.4g\n", sizes[i] / kilobyte, costs[i]);
        if (costs[i] > middle && i > 0) {
            const double part = (middle - costs[i - 1]) / (costs[i] - costs[i - 1]);
            return static_cast<double>(sizes[i - 1]) + part * static_cast<double>(sizes[i] - sizes[i - 1]);
        }
    }
    return static_cast<double>(sizes.back());
}

std::vector<std::size_t> range(std::size_t first, std::size_t last, std::size_t step) {
    std::vector<std::size_t> sizes;
    for (std::size_t size = first; size <= last; size += step) sizes.push_back(size);
    return sizes;
}

int attribute(cudaDeviceAttr which) {
    int value = 0;
    TRY(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

/// Return the name that students type: h100 for "NVIDIA H100 80GB HBM3", rtx4090 for "NVIDIA GeForce RTX 4090".
std::string short_name(const std::string& full) {
    std::istringstream words(full);
    std::string name;
    for (std::string word; words >> word;) {
        if (word == "NVIDIA" || word == "Tesla" || word == "GeForce" || word == "Quadro" || word == "TITAN") continue;
        std::ranges::transform(word, word.begin(), [](unsigned char letter) { return std::tolower(letter); });
        name += word.substr(0, word.find('-'));
        if (name != "rtx" && name != "gtx") break;
    }
    return name.empty() ? "gpu" : name;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: calibrate FOLDER\n");
        return 2;
    }
    if (const cudaError_t status = cudaSetDevice(0); status != cudaSuccess) {
        std::fprintf(stderr, "Run this on a machine with an NVIDIA GPU. Here: %s.\n", cudaGetErrorString(status));
        return 2;
    }
    TRY(cudaGetDeviceProperties(&properties, 0));
    TRY(cudaMallocManaged(&clocks_of_block, 4096 * sizeof *clocks_of_block));
    TRY(cudaMallocManaged(&sink, sizeof *sink));
    const auto say = [](const char* what) { std::fprintf(stderr, "%s …\n", what); };

    say("clock");
    clock_hz = measure_clock();
    const std::size_t large = std::min<std::size_t>(1024 * megabyte, properties.totalGlobalMem / 4);
    uint4* const memory = reinterpret_cast<uint4*>(allocate<char>(large));
    auto* const words = reinterpret_cast<unsigned*>(memory);
    const int blocks = 2 * properties.multiProcessorCount;

    say("bandwidths of the memory and the L2");
    const double dram = read_rate(memory, large, blocks), l2 = read_rate(memory, 8 * megabyte, blocks);
    const double l2_of_one = read_rate(memory, 2 * megabyte, 1);
    const auto l2_size = static_cast<std::size_t>(properties.l2CacheSize);
    const double l2_bytes = capacity(range(l2_size / 8, 3 * l2_size, l2_size / 8),
                                     [&](std::size_t bytes) { return 1e12 / read_rate(memory, bytes, blocks); });
    say("latencies of the caches and the memory");
    const double copies = moved<true>(memory, large, properties.maxThreadsPerMultiProcessor).bytes_per_s;
    const std::string read_loads = measure_loads<false>(memory, large, dram);
    const std::string copy_loads = measure_loads<true>(memory, large, dram);
    const double l1_bytes = capacity(range(16 * kilobyte, 352 * kilobyte, 16 * kilobyte),
                                     [](std::size_t bytes) { return chase_clocks(bytes, Level::l1); });
    const double l1_clocks = chase_clocks(8 * kilobyte, Level::l1), l2_clocks = chase_clocks(4 * megabyte, Level::l2);
    const double dram_clocks = chase_clocks(std::min(large, 512 * megabyte), Level::memory);
    say("latencies of operations");
    constexpr int block_threads = 256;
    const double barrier = chain_clocks<Chain::barrier>(block_threads, words) - block_threads / warp / 4.0;
    const double store = chain_clocks<Chain::store_and_barrier>(block_threads, words) - barrier;
    const double arithmetic = chain_clocks<Chain::arithmetic>(warp, words);
    const double fp64 = chain_clocks<Chain::fp64>(warp, words);
    const double shared = chain_clocks<Chain::shared>(warp, words);
    const double shuffle = chain_clocks<Chain::shuffle>(warp, words);
    const double shared_atomic = chain_clocks<Chain::shared_atomic>(1, words);
    const double atomic = chain_clocks<Chain::atomic>(1, words);
    say("rates of operations");
    const double fp64_rate = 4 * stream_clocks<Stream::fp64>(words);
    const double shuffle_rate = stream_clocks<Stream::shuffle>(words);
    const double shared_atomic_rate = stream_clocks<Stream::shared_atomic>(words);
    const double tag_rate = stream_clocks<Stream::tag>(words) / warp;
    const double atomic_word = atomic_clocks(words, 0);
    constexpr unsigned window_sectors = 256, spread_sectors = 1u << 19;
    const double atomic_window = atomic_clocks(words, window_sectors);
    const double atomic_spread = atomic_clocks(words, spread_sectors) * properties.multiProcessorCount;
    for (unsigned sectors = 32; sectors <= spread_sectors; sectors *= 4)
        std::fprintf(stderr, "  atomics in %u sectors: %.4g clocks\n", sectors, atomic_clocks(words, sectors));
    const double slice = std::max(1.0 * sector, window_sectors * sector * atomic_window / atomic_word);
    const double sector_rate = scattered_clocks<Scattered::read>(words);
    const double partial_line = scattered_clocks<Scattered::write>(words) - sector_rate;
    const double slice_read = word_read_clocks(words);
    const double atomic_result = scattered_clocks<Scattered::atomic>(words);
    const double changed = scattered_clocks<Scattered::read_and_atomic>(words) - sector_rate - atomic_result;
    say("starts of blocks");
    const int all_shared = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);  // one block at a time
    const double small_alone = block_clocks(warp, all_shared), large_alone = block_clocks(1024, all_shared);
    const double block = block_clocks(warp, 0), warp_start = std::max(0.0, (large_alone - small_alone) / 31);
    say("launches and copies");
    const Host host = measure_host(words);

    const std::string path = std::string(arguments[1]) + "/" + short_name(properties.name) + ".json";
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (!file) {
        std::fprintf(stderr, "%s cannot be written: %s\n", path.c_str(), std::strerror(errno));
        return 2;
    }
    std::fprintf(file, "{\n");
    std::fprintf(file,
                 "  \"name\": \"%s\",\n  \"architecture\": \"sm_%d%d\",\n  \"source\": \"measured by make "
                 "calibrate\",\n  \"spread\": 1.3,\n"
                 "  \"ratio_spread\": {\"least\": 1.15, \"most\": 2.0},\n",
                 properties.name, properties.major, properties.minor);
    std::fprintf(file, "  \"multiprocessors\": %d,\n  \"clock_hz\": %.4g,\n", properties.multiProcessorCount, clock_hz);
    std::fprintf(file, "  \"multiprocessor\": {\n    \"threads\": %d, \"blocks\": %d, \"registers\": %d,\n",
                 properties.maxThreadsPerMultiProcessor, properties.maxBlocksPerMultiProcessor,
                 properties.regsPerMultiprocessor);
    std::fprintf(file, "    \"l1_bytes\": %.0f, \"shared_bytes\": %zu, \"l2_bytes_per_clock\": %.4g\n  },\n", l1_bytes,
                 properties.sharedMemPerMultiprocessor, l2_of_one / clock_hz);
    std::fprintf(file,
                 "  \"memory\": {\n    \"dram_bytes_per_s\": %.4g, \"l2_bytes_per_s\": %.4g, \"l2_bytes\": %.4g,\n",
                 dram, l2, l2_bytes);
    std::fprintf(file, "    \"l2_slice_bytes\": %.4g, \"dram_copy_bytes_per_s\": %.4g,\n", slice, copies);
    std::fprintf(file, "    \"dram_reads\": %s,\n    \"dram_copies\": %s\n  },\n", read_loads.c_str(),
                 copy_loads.c_str());
    std::fprintf(file, "  \"latency_clocks\": {\n    \"arithmetic\": %.3g, \"fp64\": %.3g, \"shared\": %.3g, ",
                 arithmetic, fp64, shared);
    std::fprintf(file, "\"shared_write\": %.3g, \"l1\": %.3g,\n    \"l2\": %.4g, \"dram\": %.4g, ",
                 std::max(0.0, store), l1_clocks, l2_clocks, dram_clocks);
    std::fprintf(file, "\"shuffle\": %.3g, \"barrier\": %.3g, \"atomic\": %.4g, \"shared_atomic\": %.3g,\n", shuffle,
                 barrier, atomic, shared_atomic);
    std::fprintf(file, "    \"block_start\": %.4g, \"warp_start\": %.3g\n  },\n", std::max(0.0, small_alone - block),
                 warp_start);
    std::fprintf(file, "  \"occupies_clocks\": {\n    \"fp64\": %.3g, \"shuffle\": %.3g, \"tag\": %.3g, ", fp64_rate,
                 shuffle_rate, tag_rate);
    std::fprintf(file, "\"shared_atomic\": %.3g, \"atomic\": %.3g,\n    \"atomic_lane\": %.3g, ", shared_atomic_rate,
                 atomic_spread, atomic_word);
    std::fprintf(file, "\"atomic_result\": %.3g, \"sector\": %.3g, \"slice_read\": %.3g, \"partial_line\": %.3g,\n    ",
                 atomic_result, sector_rate, slice_read, std::max(0.0, partial_line));
    std::fprintf(file, "\"changed_sector\": %.3g, \"block\": %.3g\n  },\n", std::max(0.0, changed), block);
    std::fprintf(file, "  \"host_seconds\": {\n    \"launch\": %.3g, \"gap\": %.3g, \"start\": %.3g, ", host.launch,
                 host.gap, host.start);
    std::fprintf(file, "\"copy_to_host\": %.3g,\n    \"copy_to_device\": %.3g, \"fill\": %.3g, ", host.copy_to_host,
                 host.copy_to_device, host.fill);
    std::fprintf(file, "\"allocate\": %.3g, \"wait\": %.3g,\n    \"link_bytes_per_s\": %.3g\n  }\n}\n", host.allocate,
                 host.wait, host.link_bytes_per_s);
    std::fclose(file);
    std::printf("%s\n", path.c_str());
    return 0;
}
