#include "labs/image_histogram/lab.h"

#define NUM_BINS 256
#define CFACTOR 12

__global__ void histo_private_kernel(const unsigned char *data, size_t length, unsigned int *histo) {
    __shared__ unsigned int histo_s[NUM_BINS];
    for(unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) {
        histo_s[bin] = 0u;
    }
    __syncthreads();

    unsigned int accumulator = 0;
    int prevBinIdx = -1;
    size_t tid = blockIdx.x*(size_t)blockDim.x + threadIdx.x;
    size_t end = (tid + 1)*CFACTOR < length ? (tid + 1)*CFACTOR : length;
    for(size_t i = tid*CFACTOR; i < end; ++i) {
        int bin = data[i];
        if(bin == prevBinIdx) {
            ++accumulator;
        } else {
            if(accumulator > 0) {
                atomicAdd(&(histo_s[prevBinIdx]), accumulator);
            }
            accumulator = 1;
            prevBinIdx = bin;
        }
    }
    if(accumulator > 0) {
        atomicAdd(&(histo_s[prevBinIdx]), accumulator);
    }
    __syncthreads();

    for(unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) {
        unsigned int binValue = histo_s[bin];
        if(binValue > 0) {
            atomicAdd(&(histo[bin]), binValue);
        }
    }
}

void image_histogram(const unsigned char *data, unsigned int *histo, size_t length, void *) {
    CUDA_CHECK(cudaMemset(histo, 0, NUM_BINS*sizeof(unsigned int)));
    if(length == 0) return;
    const size_t perBlock = 256*(size_t)CFACTOR;
    histo_private_kernel<<<(unsigned int)((length + perBlock - 1)/perBlock), 256>>>(data, length, histo);
    CUDA_CHECK(cudaGetLastError());
}
