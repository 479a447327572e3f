#include "labs/vector_add/lab.h"

__global__ void VecAdd(const float* A, const float* B, float* C, size_t N)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < N)
        C[i] = A[i] + B[i];
}

void vector_add(const float* A, const float* B, float* C, size_t N, void* /*unused*/)
{
    if (N == 0) return;
    VecAdd<<<(N + 63) / 64, 64>>>(A, B, C, N);
    CUDA_CHECK(cudaGetLastError());
}

void vector_add_host(const float* h_A, const float* h_B, float* h_C, size_t N)
{
    if (N == 0) return;
    float *d_A, *d_B, *d_C;
    CUDA_CHECK(cudaMalloc(&d_A, N * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_B, N * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_C, N * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_A, h_A, N * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_B, h_B, N * sizeof(float), cudaMemcpyHostToDevice));
    vector_add(d_A, d_B, d_C, N, nullptr);
    CUDA_CHECK(cudaMemcpy(h_C, d_C, N * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_A));
    CUDA_CHECK(cudaFree(d_B));
    CUDA_CHECK(cudaFree(d_B));
}
