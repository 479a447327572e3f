#include "labs/dot_product/lab.h"

#define imin(a,b) (a<b?a:b)

const int threadsPerBlock = 256;

__global__ void dot( const int *a, const int *b, int *c, size_t N ) {
    __shared__ int cache[threadsPerBlock];
    size_t tid = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;

    int temp = 0;
    while (tid < N) {
        temp += a[tid] * b[tid];
        tid += (size_t)blockDim.x * gridDim.x;
    }

    // set the cache values
    cache[cacheIndex] = temp;

    // synchronize threads in this block
    __syncthreads();

    if (cacheIndex == 0) {
        int sum = 0;
        for (int i=0; i<threadsPerBlock; i++)
            sum += cache[i];
        atomicAdd( c, sum );
    }
}

void dot_product( const int *a, const int *b, int *out, size_t N, void *scratch ) {
    const size_t blocksPerGrid =
            imin( 4096, (N+threadsPerBlock-1) / threadsPerBlock );
    CUDA_CHECK( cudaMemset( out, 0, sizeof( int ) ) );
    if (blocksPerGrid > 0)
        dot<<<blocksPerGrid,threadsPerBlock>>>( a, b, out, N );
    CUDA_CHECK( cudaGetLastError() );
}
