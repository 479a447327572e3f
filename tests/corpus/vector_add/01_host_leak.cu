#include "labs/vector_add/lab.h"

#define HANDLE_ERROR CUDA_CHECK

__global__ void add( const float *a, const float *b, float *c, size_t N ) {
    size_t tid = threadIdx.x + blockIdx.x * (size_t)blockDim.x;
    if (tid < N)
        c[tid] = a[tid] + b[tid];
}

void vector_add( const float *a, const float *b, float *c, size_t N, void * ) {
    if (N == 0) return;
    add<<<(N+127)/128,128>>>( a, b, c, N );
    HANDLE_ERROR( cudaGetLastError() );
}

void vector_add_host( const float *a, const float *b, float *c, size_t N ) {
    if (N == 0) return;
    float *dev_a, *dev_b, *dev_c;
    HANDLE_ERROR( cudaMalloc( (void**)&dev_a, N * sizeof(float) ) );
    HANDLE_ERROR( cudaMalloc( (void**)&dev_b, N * sizeof(float) ) );
    HANDLE_ERROR( cudaMalloc( (void**)&dev_c, N * sizeof(float) ) );
    HANDLE_ERROR( cudaMemcpy( dev_a, a, N * sizeof(float), cudaMemcpyHostToDevice ) );
    HANDLE_ERROR( cudaMemcpy( dev_b, b, N * sizeof(float), cudaMemcpyHostToDevice ) );
    vector_add( dev_a, dev_b, dev_c, N, 0 );
    HANDLE_ERROR( cudaMemcpy( c, dev_c, N * sizeof(float), cudaMemcpyDeviceToHost ) );
    cudaFree( dev_a );
    cudaFree( dev_b );
}
