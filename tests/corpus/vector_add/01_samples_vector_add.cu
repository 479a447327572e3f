/**
 * Vector addition: C = A + B.
 *
 * This sample is a very basic sample that implements element by element
 * vector addition.
 */

#include <stdio.h>

#include "labs/vector_add/lab.h"

/**
 * CUDA Kernel Device code
 *
 * Computes the vector addition of A and B into C. The 3 vectors have the same
 * number of elements numElements.
 */
__global__ void vectorAdd(const float *A, const float *B, float *C, size_t numElements)
{
    size_t i = (size_t)blockDim.x * blockIdx.x + threadIdx.x;

    if (i < numElements)
    {
        C[i] = A[i] + B[i];
    }
}

void vector_add(const float *A, const float *B, float *C, size_t numElements, void *)
{
    if (numElements == 0)
        return;

    // Launch the Vector Add CUDA Kernel
    int threadsPerBlock = 256;
    size_t blocksPerGrid = (numElements + threadsPerBlock - 1) / threadsPerBlock;
    vectorAdd<<<(unsigned int)blocksPerGrid, threadsPerBlock>>>(A, B, C, numElements);
    cudaError_t err = cudaGetLastError();

    if (err != cudaSuccess)
    {
        fprintf(stderr, "Failed to launch vectorAdd kernel (error code %s)!\n", cudaGetErrorString(err));
        exit(EXIT_FAILURE);
    }
}

static void die_if(cudaError_t err, const char *what)
{
    if (err != cudaSuccess)
    {
        fprintf(stderr, "Failed to %s (error code %s)!\n", what, cudaGetErrorString(err));
        exit(EXIT_FAILURE);
    }
}

void vector_add_host(const float *h_A, const float *h_B, float *h_C, size_t numElements)
{
    size_t size = numElements * sizeof(float);
    if (size == 0)
        return;

    float *d_A = NULL;
    die_if(cudaMalloc((void **)&d_A, size), "allocate device vector A");
    float *d_B = NULL;
    die_if(cudaMalloc((void **)&d_B, size), "allocate device vector B");
    float *d_C = NULL;
    die_if(cudaMalloc((void **)&d_C, size), "allocate device vector C");

    die_if(cudaMemcpy(d_A, h_A, size, cudaMemcpyHostToDevice), "copy vector A from host to device");
    die_if(cudaMemcpy(d_B, h_B, size, cudaMemcpyHostToDevice), "copy vector B from host to device");

    vector_add(d_A, d_B, d_C, numElements, NULL);

    die_if(cudaMemcpy(h_C, d_C, size, cudaMemcpyDeviceToHost), "copy vector C from device to host");

    die_if(cudaFree(d_A), "free device vector A");
    die_if(cudaFree(d_B), "free device vector B");
    die_if(cudaFree(d_C), "free device vector C");
}
