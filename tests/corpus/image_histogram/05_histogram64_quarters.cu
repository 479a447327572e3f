#include "labs/image_histogram/lab.h"

typedef unsigned int uint;
typedef unsigned char uchar;

#define SHARED_MEMORY_BANKS 16
#define HISTOGRAM64_BIN_COUNT 64
#define THREADBLOCK_SIZE (4 * SHARED_MEMORY_BANKS)
#define MAX_PER_THREAD 255

inline __device__ void addByte(uchar *s_ThreadBase, uint data) { s_ThreadBase[data * THREADBLOCK_SIZE]++; }

// Counts values quarter * 64 ... quarter * 64 + 63.
__global__ void histogram64Kernel(uint *bins, const uchar *d_Data, size_t n)
{
    const uint threadPos = ((threadIdx.x & ~(SHARED_MEMORY_BANKS * 4 - 1)) << 0) |
                           ((threadIdx.x & (SHARED_MEMORY_BANKS - 1)) << 2) |
                           ((threadIdx.x & (SHARED_MEMORY_BANKS * 3)) >> 4);
    __shared__ __align__(4) uchar s_Hist[THREADBLOCK_SIZE * HISTOGRAM64_BIN_COUNT];
    const uint quarter = blockIdx.y;
#pragma unroll
    for (uint i = 0; i < (HISTOGRAM64_BIN_COUNT / 4); i++)
        ((uint *)s_Hist)[threadIdx.x + i * THREADBLOCK_SIZE] = 0;
    __syncthreads();

    uchar *s_ThreadBase = s_Hist + threadPos;
    const size_t begin = (size_t)blockIdx.x * THREADBLOCK_SIZE * MAX_PER_THREAD;
    for (uint k = 0; k < MAX_PER_THREAD; k++) {
        const size_t pos = begin + k * THREADBLOCK_SIZE + threadIdx.x;
        if (pos < n) {
            const uint v = d_Data[pos];
            if (v >> 6 == quarter) addByte(s_ThreadBase, v & 63);
        }
    }
    __syncthreads();

    if (threadIdx.x < HISTOGRAM64_BIN_COUNT) {
        uchar *s_HistBase = s_Hist + threadIdx.x * THREADBLOCK_SIZE;
        uint sum = 0;
        uint pos = 4 * (threadIdx.x & (SHARED_MEMORY_BANKS - 1));
        for (uint i = 0; i < (THREADBLOCK_SIZE / 4); i++) {
            sum += s_HistBase[pos + 0] + s_HistBase[pos + 1] + s_HistBase[pos + 2] + s_HistBase[pos + 3];
            pos = (pos + 4) & (THREADBLOCK_SIZE - 1);
        }
        if (sum) atomicAdd(&bins[quarter * 64 + threadIdx.x], sum);
    }
}

void image_histogram(const uchar *pixels, uint *bins, size_t n, void *)
{
    CUDA_CHECK(cudaMemset(bins, 0, bin_count * sizeof(uint)));
    const size_t per = (size_t)THREADBLOCK_SIZE * MAX_PER_THREAD;
    if (n) histogram64Kernel<<<dim3((uint)((n + per - 1) / per), 4), THREADBLOCK_SIZE>>>(bins, pixels, n);
    CUDA_CHECK(cudaGetLastError());
}
