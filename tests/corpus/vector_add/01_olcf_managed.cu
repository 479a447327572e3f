#include <algorithm>
#include <cstdio>

#include "labs/vector_add/lab.h"

// error checking macro
#define cudaCheckErrors(msg) \
    do { \
        cudaError_t __err = cudaGetLastError(); \
        if (__err != cudaSuccess) { \
            fprintf(stderr, "Fatal error: %s (%s at %s:%d)\n", \
                msg, cudaGetErrorString(__err), \
                __FILE__, __LINE__); \
            fprintf(stderr, "*** FAILED - ABORTING\n"); \
            exit(1); \
        } \
    } while (0)

const int block_size = 256;  // CUDA maximum is 1024

// vector add kernel: C = A + B
__global__ void vadd(const float *A, const float *B, float *C, size_t ds){
  size_t idx = threadIdx.x+(size_t)blockDim.x*blockIdx.x; // create typical 1D thread index from built-in variables
  if (idx < ds)
    C[idx] = A[idx] + B[idx];         // do the vector (element) add here
}

void vector_add(const float *A, const float *B, float *C, size_t ds, void *){
  if (ds == 0) return;
  vadd<<<(ds+block_size-1)/block_size, block_size>>>(A, B, C, ds);
  cudaCheckErrors("kernel launch failure");
}

void vector_add_host(const float *h_A, const float *h_B, float *h_C, size_t ds){
  if (ds == 0) return;
  float *A, *B, *C;
  cudaMallocManaged(&A, ds*sizeof(float));
  cudaMallocManaged(&B, ds*sizeof(float));
  cudaMallocManaged(&C, ds*sizeof(float));
  cudaCheckErrors("cudaMallocManaged failure");
  std::copy(h_A, h_A+ds, A);
  std::copy(h_B, h_B+ds, B);
  vector_add(A, B, C, ds, nullptr);
  cudaDeviceSynchronize(); // the CPU must not touch managed memory before this
  cudaCheckErrors("kernel execution failure");
  std::copy(C, C+ds, h_C);
  cudaFree(A);
  cudaFree(B);
  cudaFree(C);
  cudaCheckErrors("cudaFree failure");
}
