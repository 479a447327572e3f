#include "labs/image_histogram/lab.h"

__global__ void histo_kernel( const unsigned char *buffer, size_t size, unsigned int *histo ) {
    // clear out the accumulation buffer called temp
    __shared__  unsigned int temp[256];
    temp[threadIdx.x] = 0;
    __syncthreads();

    size_t i = threadIdx.x + blockIdx.x * (size_t)blockDim.x;
    size_t stride = (size_t)blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd( &temp[buffer[i]], 1 );
        i += stride;
    }
    atomicAdd( &(histo[threadIdx.x]), temp[threadIdx.x] );
}

void image_histogram( const unsigned char *buffer, unsigned int *histo, size_t size, void * ) {
    CUDA_CHECK( cudaMemset( histo, 0, 256 * sizeof( int ) ) );
    histo_kernel<<<80,256>>>( buffer, size, histo );
    CUDA_CHECK( cudaGetLastError() );
}
