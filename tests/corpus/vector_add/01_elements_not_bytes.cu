#include "labs/vector_add/lab.h"

__global__ void vecAdd(const float *in1, const float *in2, float *out, size_t len) {
  //@@ Insert code to implement vector addition here
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < len) out[i] = in1[i] + in2[i];
}

void vector_add(const float *a, const float *b, float *out, size_t len, void *) {
  if (len == 0) return;
  dim3 DimGrid((len - 1) / 256 + 1, 1, 1);
  dim3 DimBlock(256, 1, 1);
  vecAdd<<<DimGrid, DimBlock>>>(a, b, out, len);
  CUDA_CHECK(cudaGetLastError());
}

void vector_add_host(const float *hostInput1, const float *hostInput2, float *hostOutput, size_t inputLength) {
  if (inputLength == 0) return;
  float *deviceInput1, *deviceInput2, *deviceOutput;
  //@@ Allocate GPU memory here
  CUDA_CHECK(cudaMalloc((void **)&deviceInput1, inputLength));
  CUDA_CHECK(cudaMalloc((void **)&deviceInput2, inputLength));
  CUDA_CHECK(cudaMalloc((void **)&deviceOutput, inputLength));

  //@@ Copy memory to the GPU here
  CUDA_CHECK(cudaMemcpy(deviceInput1, hostInput1, inputLength * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(deviceInput2, hostInput2, inputLength * sizeof(float), cudaMemcpyHostToDevice));

  vector_add(deviceInput1, deviceInput2, deviceOutput, inputLength, NULL);

  //@@ Copy the GPU memory back to the CPU here
  CUDA_CHECK(cudaMemcpy(hostOutput, deviceOutput, inputLength * sizeof(float), cudaMemcpyDeviceToHost));

  //@@ Free the GPU memory here
  CUDA_CHECK(cudaFree(deviceInput1));
  CUDA_CHECK(cudaFree(deviceInput2));
  CUDA_CHECK(cudaFree(deviceOutput));
}
