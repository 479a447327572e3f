#include "labs/dot_product/lab.h"

#define HANDLE_ERROR( err ) CUDA_CHECK( err )

const int threadsPerBlock = 256;
const int blocksPerGrid = 32;

__global__ void dot( size_t size, const int *a, const int *b, int *c ) {
    __shared__ int cache[threadsPerBlock];
    size_t tid = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;

    int temp = 0;
    while (tid < size) {
        temp += a[tid] * b[tid];
        tid += blockDim.x * gridDim.x;
    }

    // set the cache values
    cache[cacheIndex] = temp;

    // synchronize threads in this block
    __syncthreads();

    // for reductions, threadsPerBlock must be a power of 2
    // because of the following code
    int i = blockDim.x/2;
    while (i != 0) {
        if (cacheIndex < i)
            cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }

    if (cacheIndex == 0)
        c[blockIdx.x] = cache[0];
}

void dot_product( const int *a, const int *b, int *out, size_t size, void * ) {
    int *partial_c, *dev_partial_c;
    unsigned c = 0;

    HANDLE_ERROR( cudaHostAlloc( (void**)&partial_c,
                                 blocksPerGrid*sizeof(int),
                                 cudaHostAllocMapped ) );
    HANDLE_ERROR( cudaHostGetDevicePointer( &dev_partial_c, partial_c, 0 ) );

    dot<<<blocksPerGrid,threadsPerBlock>>>( size, a, b, dev_partial_c );
    HANDLE_ERROR( cudaGetLastError() );

    HANDLE_ERROR( cudaDeviceSynchronize() );
    // finish up on the CPU side
    for (int i=0; i<blocksPerGrid; i++) {
        c += partial_c[i];
    }
    HANDLE_ERROR( cudaMemcpy( out, &c, sizeof(int), cudaMemcpyHostToDevice ) );
    HANDLE_ERROR( cudaFreeHost( partial_c ) );
}
