#include "labs/image_histogram/lab.h"

#define NUM_BINS 256

__global__ void histo_private_kernel(const unsigned char* data, size_t length, unsigned int* histo) {
    // Initialize privatized bins
    __shared__ unsigned int histo_s[NUM_BINS];
    for(unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) {
        histo_s[bin] = 0u;
    }
    __syncthreads();
    // Histogram
    size_t tid = blockIdx.x*(size_t)blockDim.x + threadIdx.x;
    for(size_t i = tid; i < length; i += (size_t)blockDim.x*gridDim.x) {
        atomicAdd(&(histo_s[data[i]]), 1);
    }
    __syncthreads();
    // Commit to global memory
    for(unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) {
        unsigned int binValue = histo_s[bin];
        if(binValue > 0) {
            atomicAdd(&(histo[bin]), binValue);
        }
    }
}

void image_histogram(const unsigned char* data, unsigned int* histo, size_t length, void*) {
    CUDA_CHECK(cudaMemset(histo, 0, NUM_BINS*sizeof(unsigned int)));
    if(length == 0) return;
    unsigned int blocks = length > 32768 ? 64 : (unsigned int)((length + 511)/512);
    histo_private_kernel<<<blocks, 512>>>(data, length, histo);
    CUDA_CHECK(cudaGetLastError());
}
