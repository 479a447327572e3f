#pragma once
// Code that the generated programs of tests/differential share: buffers, streams, and a digest of their results.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK(call) check(call, #call)
inline void check(cudaError_t error, const char* call) {
    if (error == cudaSuccess) return;
    std::printf("%s: %s\n", call, cudaGetErrorString(error));
    std::fflush(stdout);
    std::exit(3);
}

/// Replace -0, and NaN, whose bits differ between machines, by 0.
__device__ inline float plain(float x) { return x == x ? x + 0.0f : 0.0f; }
__device__ inline double plain(double x) { return x == x ? x + 0.0 : 0.0; }

struct Pair {
    int a;
    unsigned char b;
};
struct Triple {
    long long a;
    short b;
    float c;
};

inline unsigned long long mix(unsigned long long x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/// Return the i-th number of a buffer; floats are multiples of 1/64, at least -512 and below 512.
template <class T>
T number(unsigned long long seed, size_t i) {
    const unsigned long long bits = mix(seed + i);
    if (std::is_floating_point<T>::value) return T(int(bits & 0xffff) - 32768) / 64;
    return T(bits);
}

enum class Memory { device, managed, pinned };

template <class T>
struct Buffer {
    T* data = nullptr;
    size_t size;
    Memory memory;

    Buffer(size_t count, unsigned long long seed, Memory kind) : size(count), memory(kind) {
        std::vector<T> numbers(count);
        for (size_t i = 0; i < count; ++i) numbers[i] = number<T>(seed, i);
        const size_t bytes = count * sizeof(T);
        if (kind == Memory::device) CHECK(cudaMalloc(&data, bytes));
        if (kind == Memory::managed) CHECK(cudaMallocManaged(&data, bytes));
        if (kind == Memory::pinned) CHECK(cudaMallocHost(&data, bytes));
        if (kind == Memory::device) CHECK(cudaMemcpy(data, numbers.data(), bytes, cudaMemcpyHostToDevice));
        if (kind != Memory::device) std::memcpy(data, numbers.data(), bytes);
    }
    ~Buffer() { CHECK(memory == Memory::pinned ? cudaFreeHost(data) : cudaFree(data)); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
};

static cudaStream_t streams[3];  // the first is the default stream

/// Make later work in `later` wait for all work in `earlier`.
inline void follow(cudaStream_t later, cudaStream_t earlier) {
    cudaEvent_t event;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaEventRecord(event, earlier));
    CHECK(cudaStreamWaitEvent(later, event, 0));
    CHECK(cudaEventDestroy(event));
}

/// A digest of buffers' elements in their order; with DUMP=1 in the environment it also prints them.
struct Digest {
    unsigned long long value = 0, position = 0;

    template <class T>
    void add(const char* name, const Buffer<T>& buffer) {
        std::vector<T> numbers(buffer.size);
        const size_t bytes = buffer.size * sizeof(T);
        if (buffer.memory != Memory::device) std::memcpy(numbers.data(), buffer.data, bytes);
        if (buffer.memory == Memory::device)
            CHECK(cudaMemcpy(numbers.data(), buffer.data, bytes, cudaMemcpyDeviceToHost));
        const bool dump = std::getenv("DUMP") != nullptr;
        if (dump) std::printf("  %s:", name);
        for (const T& number : numbers) {
            unsigned long long bits = 0;
            std::memcpy(&bits, &number, sizeof(number));
            value += mix(bits ^ mix(position++));
            if (dump) std::printf(" %llx", bits);
        }
        if (dump) std::printf("\n");
    }
};

struct Case {
    int number;
    unsigned long long (*run)();
};

/// Run all cases, or those whose numbers are given as arguments, and print the number and digest of each.
template <size_t count>
int run_cases(const Case (&cases)[count], int arguments, char** argument) {
    for (int i = 1; i < 3; ++i) CHECK(cudaStreamCreate(&streams[i]));
    for (const Case& test : cases) {
        bool chosen = arguments == 1;
        for (int i = 1; i < arguments; ++i) chosen |= std::atoi(argument[i]) == test.number;
        if (!chosen) continue;
        std::printf("case %d\n", test.number);
        std::fflush(stdout);
        std::printf("digest %d %016llx\n", test.number, test.run());
        std::fflush(stdout);
    }
    for (int i = 1; i < 3; ++i) CHECK(cudaStreamDestroy(streams[i]));
    return 0;
}
