#include "labs/saturating_histogram/lab.h"

#define BLOCKS 60
#define TILE 32

__global__ void partial_histograms(const unsigned int* input, unsigned int* partials, size_t width, size_t height, size_t pitch) {
    __shared__ unsigned int bins_s[bin_count];
    for(unsigned int b = threadIdx.x; b < bin_count; b += blockDim.x) {
        bins_s[b] = 0;
    }
    __syncthreads();
    for(size_t row = blockIdx.x; row < height; row += gridDim.x) {
        for(size_t col = threadIdx.x; col < width; col += blockDim.x) {
            atomicAdd(&bins_s[input[row*pitch + col]], 1);
        }
    }
    __syncthreads();
    for(unsigned int b = threadIdx.x; b < bin_count; b += blockDim.x) {
        partials[blockIdx.x*bin_count + b] = bins_s[b];
    }
}

__global__ void sum_partials(const unsigned int* partials, unsigned char* bins) {
    __shared__ unsigned int sums_s[TILE][TILE + 1];  // padded
    unsigned int bin = blockIdx.x*TILE + threadIdx.x;
    unsigned int sum = 0;
    for(unsigned int p = threadIdx.y; p < BLOCKS; p += TILE) {
        sum += partials[p*bin_count + bin];
    }
    sums_s[threadIdx.y][threadIdx.x] = sum;
    for(unsigned int stride = TILE/2; stride >= 1; stride /= 2) {
        __syncthreads();
        if(threadIdx.y < stride) {
            sums_s[threadIdx.y][threadIdx.x] += sums_s[threadIdx.y + stride][threadIdx.x];
        }
    }
    if(threadIdx.y == 0) {
        bins[bin] = min(sums_s[0][threadIdx.x], bin_full);
    }
}

std::size_t saturating_histogram_scratch_bytes(std::size_t, std::size_t) {
    return BLOCKS*bin_count*sizeof(unsigned int);
}

void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void* scratch) {
    unsigned int* partials = (unsigned int*)scratch;
    partial_histograms<<<BLOCKS, 512>>>(input, partials, width, height, pitch);
    CUDA_CHECK(cudaGetLastError());
    dim3 block(TILE, TILE);
    sum_partials<<<bin_count/TILE, block>>>(partials, bins);
    CUDA_CHECK(cudaGetLastError());
}
