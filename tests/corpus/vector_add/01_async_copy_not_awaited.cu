#include <string.h>
#include "labs/vector_add/lab.h"

__global__ void sumArrays(const float *A, const float *B, float *C, size_t N)
{
    size_t idx = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < N) C[idx] = A[idx] + B[idx];
}

void vector_add(const float *A, const float *B, float *C, size_t N, void *)
{
    if (N == 0) return;
    sumArrays<<<(N + 255) / 256, 256>>>(A, B, C, N);
    CUDA_CHECK(cudaGetLastError());
}

void vector_add_host(const float *A, const float *B, float *C, size_t N)
{
    if (N == 0) return;
    const size_t nBytes = N * sizeof(float);
    float *h_C, *d_A, *d_B, *d_C;
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaMallocHost((void **)&h_C, nBytes));
    CUDA_CHECK(cudaMalloc((void **)&d_A, nBytes));
    CUDA_CHECK(cudaMalloc((void **)&d_B, nBytes));
    CUDA_CHECK(cudaMalloc((void **)&d_C, nBytes));

    CUDA_CHECK(cudaMemcpyAsync(d_A, A, nBytes, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaMemcpyAsync(d_B, B, nBytes, cudaMemcpyHostToDevice, stream));
    sumArrays<<<(N + 255) / 256, 256, 0, stream>>>(d_A, d_B, d_C, N);
    CUDA_CHECK(cudaMemcpyAsync(h_C, d_C, nBytes, cudaMemcpyDeviceToHost, stream));
    memcpy(C, h_C, nBytes);

    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaStreamDestroy(stream));
    CUDA_CHECK(cudaFree(d_A));
    CUDA_CHECK(cudaFree(d_B));
    CUDA_CHECK(cudaFree(d_C));
    CUDA_CHECK(cudaFreeHost(h_C));
}
