// Histograms in shared memory: in dynamic memory that is declared at file scope, and in static memory.
#include <cstring>

typedef unsigned int uint;
enum { kBins = 64 };

extern __shared__ uint bins_of_block[];
extern __shared__ uint bins_of_block[];  // declared twice, as if by two headers

__device__ inline void add_to_block(uint value) { atomicAdd(&bins_of_block[value], 1u); }

__global__ void histogram_dynamic(const unsigned char *data, size_t n, uint *bins) {
    for (uint i = threadIdx.x; i < kBins; i += blockDim.x) bins_of_block[i] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        add_to_block(data[i] % kBins);
    }
    __syncthreads();
    for (uint i = threadIdx.x; i < kBins; i += blockDim.x) atomicAdd(bins + i, bins_of_block[i]);
}

__global__ void histogram_static(const unsigned char *data, size_t n, uint *bins) {
    __shared__ uint local[kBins];
    auto clear = [=](uint i) { local[i] = 0; };
    if (threadIdx.x < kBins) clear(threadIdx.x);
    __syncthreads();
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&local[data[i] % kBins], 1u);
    __syncthreads();
    if (threadIdx.x < kBins) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int main() {
    const size_t n = 5000;
    unsigned char host[n];
    uint expected[kBins] = {}, got[2][kBins];
    for (size_t i = 0; i < n; ++i) ++expected[(host[i] = (unsigned char)(i * i >> 3)) % kBins];
    unsigned char *data;
    uint *bins[2];
    cudaMalloc((void **)&data, n);
    cudaMemcpy(data, host, n, cudaMemcpyHostToDevice);
    for (int k = 0; k < 2; ++k) {
        cudaMalloc((void **)&bins[k], sizeof expected);
        cudaMemset(bins[k], 0, sizeof expected);
    }
    histogram_dynamic<<<3, 96, kBins * sizeof(uint)>>>(data, n, bins[0]);
    histogram_static<<<(n + 127) / 128, 128>>>(data, n, bins[1]);
    for (int k = 0; k < 2; ++k) {
        cudaMemcpy(got[k], bins[k], sizeof expected, cudaMemcpyDeviceToHost);
        if (memcmp(got[k], expected, sizeof expected) != 0) return 1;
    }
    return 0;
}
