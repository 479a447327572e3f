#include <stdio.h>
#include <string.h>
#include "labs/vector_add/lab.h"

/*
 * The host function overlaps copies and kernels: the vectors are cut into
 * NSTREAM parts, and each part has a stream of its own.
 */
#define NSTREAM 4
#define BDIM 128

#define CHECK(call)                                                            \
{                                                                              \
    const cudaError_t error = call;                                            \
    if (error != cudaSuccess)                                                  \
    {                                                                          \
        fprintf(stderr, "Error: %s:%d, ", __FILE__, __LINE__);                 \
        fprintf(stderr, "code: %d, reason: %s\n", error,                       \
                cudaGetErrorString(error));                                    \
        exit(1);                                                               \
    }                                                                          \
}

__global__ void sumArrays(const float *A, const float *B, float *C, const size_t N)
{
    size_t idx = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

    if (idx < N) C[idx] = A[idx] + B[idx];
}

void vector_add(const float *A, const float *B, float *C, size_t N, void *scratch)
{
    (void)scratch;
    if (N == 0) return;
    dim3 block(BDIM);
    dim3 grid((N + block.x - 1) / block.x);
    sumArrays<<<grid, block>>>(A, B, C, N);
    CHECK(cudaGetLastError());
}

void vector_add_host(const float *A, const float *B, float *C, size_t nElem)
{
    size_t nBytes = nElem * sizeof(float);
    if (nElem == 0) return;

    // malloc pinned host memory for async memcpy
    float *h_A, *h_B, *gpuRef;
    CHECK(cudaHostAlloc((void**)&h_A, nBytes, cudaHostAllocDefault));
    CHECK(cudaHostAlloc((void**)&h_B, nBytes, cudaHostAllocDefault));
    CHECK(cudaHostAlloc((void**)&gpuRef, nBytes, cudaHostAllocDefault));
    memcpy(h_A, A, nBytes);
    memcpy(h_B, B, nBytes);

    float *d_A, *d_B, *d_C;
    CHECK(cudaMalloc((float**)&d_A, nBytes));
    CHECK(cudaMalloc((float**)&d_B, nBytes));
    CHECK(cudaMalloc((float**)&d_C, nBytes));

    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));

    cudaStream_t stream[NSTREAM];
    for (int i = 0; i < NSTREAM; ++i)
    {
        CHECK(cudaStreamCreate(&stream[i]));
    }

    CHECK(cudaEventRecord(start, 0));
    size_t iElem = (nElem + NSTREAM - 1) / NSTREAM;
    for (int i = 0; i < NSTREAM; ++i)
    {
        size_t ioffset = i * iElem;
        if (ioffset >= nElem) break;
        size_t part = nElem - ioffset < iElem ? nElem - ioffset : iElem;
        size_t iBytes = part * sizeof(float);
        CHECK(cudaMemcpyAsync(&d_A[ioffset], &h_A[ioffset], iBytes, cudaMemcpyHostToDevice, stream[i]));
        CHECK(cudaMemcpyAsync(&d_B[ioffset], &h_B[ioffset], iBytes, cudaMemcpyHostToDevice, stream[i]));
        dim3 grid((part + BDIM - 1) / BDIM);
        sumArrays<<<grid, BDIM, 0, stream[i]>>>(&d_A[ioffset], &d_B[ioffset], &d_C[ioffset], part);
        CHECK(cudaMemcpyAsync(&gpuRef[ioffset], &d_C[ioffset], iBytes, cudaMemcpyDeviceToHost, stream[i]));
    }
    CHECK(cudaEventRecord(stop, 0));
    CHECK(cudaEventSynchronize(stop));
    float execution_time;
    CHECK(cudaEventElapsedTime(&execution_time, start, stop));
    CHECK(cudaDeviceSynchronize());
    memcpy(C, gpuRef, nBytes);

    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    for (int i = 0; i < NSTREAM; ++i) CHECK(cudaStreamDestroy(stream[i]));
    CHECK(cudaFree(d_A));
    CHECK(cudaFree(d_B));
    CHECK(cudaFree(d_C));
    CHECK(cudaFreeHost(h_A));
    CHECK(cudaFreeHost(h_B));
    CHECK(cudaFreeHost(gpuRef));
}
