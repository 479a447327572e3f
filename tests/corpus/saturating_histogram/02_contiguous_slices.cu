#include "labs/saturating_histogram/lab.h"

#define BLOCK_DIM 512

__global__ void histo_kernel(const unsigned int* input, unsigned int* bins, size_t width, size_t height, size_t pitch) {
    const size_t num_elements = width*height;
    const size_t section_size = (num_elements - 1)/BLOCK_DIM + 1;
    const size_t start = threadIdx.x*section_size;
    for(size_t k = 0; k < section_size; ++k) {
        const size_t i = start + k;
        if(i < num_elements) {
            atomicAdd(&(bins[input[(i/width)*pitch + i%width]]), 1u);
        }
    }
}

__global__ void saturate_kernel(const unsigned int* bins32, unsigned char* bins8) {
    size_t i = blockIdx.x*blockDim.x + threadIdx.x;
    if(i < bin_count) {
        bins8[i] = bins32[i] > 255 ? 255 : bins32[i];
    }
}

std::size_t saturating_histogram_scratch_bytes(std::size_t, std::size_t) {
    return bin_count*sizeof(unsigned int);
}

void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void* scratch) {
    unsigned int* bins32 = (unsigned int*)scratch;
    CUDA_CHECK(cudaMemset(bins32, 0, bin_count*sizeof(unsigned int)));
    if(width*height > 0) {
        histo_kernel<<<1, BLOCK_DIM>>>(input, bins32, width, height, pitch);
    }
    dim3 dimGrid((bin_count - 1)/BLOCK_DIM + 1, 1, 1);
    saturate_kernel<<<dimGrid, BLOCK_DIM>>>(bins32, bins);
    CUDA_CHECK(cudaGetLastError());
}
