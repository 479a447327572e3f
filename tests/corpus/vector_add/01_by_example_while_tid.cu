#include <stdio.h>
#include <stdlib.h>
#include "labs/vector_add/lab.h"

static void HandleError( cudaError_t err,
                         const char *file,
                         int line ) {
    if (err != cudaSuccess) {
        printf( "%s in %s at line %d\n", cudaGetErrorString( err ),
                file, line );
        exit( EXIT_FAILURE );
    }
}
#define HANDLE_ERROR( err ) (HandleError( err, __FILE__, __LINE__ ))

__global__ void add( const float *a, const float *b, float *c, size_t N ) {
    size_t tid = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    while (tid < N) {
        c[tid] = a[tid] + b[tid];
        tid += (size_t)blockDim.x * gridDim.x;
    }
}

void vector_add( const float *dev_a, const float *dev_b, float *dev_c, size_t N, void *scratch ) {
    add<<<128,128>>>( dev_a, dev_b, dev_c, N );
    HANDLE_ERROR( cudaGetLastError() );
}

void vector_add_host( const float *a, const float *b, float *c, size_t N ) {
    float *dev_a, *dev_b, *dev_c;

    // allocate the memory on the GPU
    HANDLE_ERROR( cudaMalloc( (void**)&dev_a, N * sizeof(float) ) );
    HANDLE_ERROR( cudaMalloc( (void**)&dev_b, N * sizeof(float) ) );
    HANDLE_ERROR( cudaMalloc( (void**)&dev_c, N * sizeof(float) ) );

    // copy the arrays 'a' and 'b' to the GPU
    HANDLE_ERROR( cudaMemcpy( dev_a, a, N * sizeof(float),
                              cudaMemcpyHostToDevice ) );
    HANDLE_ERROR( cudaMemcpy( dev_b, b, N * sizeof(float),
                              cudaMemcpyHostToDevice ) );

    add<<<128,128>>>( dev_a, dev_b, dev_c, N );

    // copy the array 'c' back from the GPU to the CPU
    HANDLE_ERROR( cudaMemcpy( c, dev_c, N * sizeof(float),
                              cudaMemcpyDeviceToHost ) );

    // free the memory we allocated on the GPU
    HANDLE_ERROR( cudaFree( dev_a ) );
    HANDLE_ERROR( cudaFree( dev_b ) );
    HANDLE_ERROR( cudaFree( dev_c ) );
}
