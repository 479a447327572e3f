#pragma once
// Code that several hand-ins here share; test_hostile.py replaces their #include with it. It finds the trace from which
// the judge models a time, and calls forge() after each call.

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "labs/vector_add/lab.h"

__global__ void vector_add_kernel(const float* a, const float* b, float* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

static char* find_trace() {
    char line[4096];
    unsigned long begin = 0;
    std::FILE* const maps = std::fopen("/proc/self/maps", "r");
    while (maps && std::fgets(line, sizeof line, maps))
        if (std::strstr(line, "warplab-trace")) std::sscanf(line, "%lx", &begin);
    if (maps) std::fclose(maps);
    return reinterpret_cast<char*>(begin);
}

struct Memory {
    std::uint64_t begin, bytes;
    std::uint32_t role, unused;
};
struct Launch {
    char kernel[64];
    std::uint32_t grid[3], block[3], shared, repeats;
};
struct Block {
    std::uint64_t events, recorded;
};

template <class Record>
static void put(char*& at, std::uint32_t kind, const Record& record, std::uint32_t bytes = sizeof(Record)) {
    std::memcpy(at, &kind, sizeof kind);
    std::memcpy(at + sizeof kind, &bytes, sizeof bytes);
    std::memcpy(at + 8, &record, sizeof record);
    at += 8 + bytes;
}

static void forge(char* at);

void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    if (n) vector_add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
    static char* const trace = find_trace();
    if (trace) forge(trace);
}
