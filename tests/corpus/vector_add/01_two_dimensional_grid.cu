#include <cmath>
#include <cstdio>
#include "labs/vector_add/lab.h"

// #define DEBUG
#ifdef DEBUG
#define DBG(...) printf(__VA_ARGS__)
#else
#define DBG(...)
#endif

typedef unsigned long long ull;

__device__ ull global_id()
{
    ull block = blockIdx.x + (ull) blockIdx.y * gridDim.x;
    int t = threadIdx.x + threadIdx.y * blockDim.x;
    return block * (blockDim.x * blockDim.y) + t;
}

__global__ void add2d(const float * a, const float * b, float * out, ull n)
{
    ull id = global_id();
    DBG("block (%d,%d) thread (%d,%d) -> %llu\n", blockIdx.x, blockIdx.y, threadIdx.x, threadIdx.y, id);
    if (id < n) {
        out[id] = a[id] + b[id];
    }
}

void run(const float * a, const float * b, float * out, ull n, int side = 16)
{
    if (n == 0) return;
    dim3 block(side, side);
    ull blocks = (n + side * side - 1) / (side * side);
    unsigned gx = (unsigned) ceil(sqrt((double) blocks));
    unsigned gy = (unsigned) ((blocks + gx - 1) / gx);
    DBG("grid %u x %u\n", gx, gy);
    add2d<<<dim3(gx, gy), block>>>(a, b, out, n);
    CUDA_CHECK(cudaPeekAtLastError());
}

void vector_add(const float * a, const float * b, float * out, std::size_t n, void *)
{
    run(a, b, out, n);
}

void vector_add_host(const float * a, const float * b, float * out, std::size_t n)
{
    // one allocation for all three arrays
    float * buf;
    CUDA_CHECK(cudaMalloc(&buf, 3 * n * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(buf, a, n * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(buf + n, b, n * sizeof(float), cudaMemcpyHostToDevice));
    run(buf, buf + n, buf + 2 * n, n, 8);
    CUDA_CHECK(cudaMemcpy(out, buf + 2 * n, n * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(buf));
}
