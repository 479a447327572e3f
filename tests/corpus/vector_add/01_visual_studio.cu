#include "labs/vector_add/lab.h"
#include "device_launch_parameters.h"

#include <stdio.h>

__global__ void addKernel(float* c, const float* a, const float* b, size_t size)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	if (i < size)
	{
		c[i] = a[i] + b[i];
	}
}

void vector_add(const float* a, const float* b, float* out, size_t n, void* scratch)
{
	if (n == 0)
		return;
	dim3 grid((unsigned int)((n + 255) / 256));
	dim3 block(256);
	addKernel << <grid, block >> > (out, a, b, n);
	cudaError_t cudaStatus = cudaGetLastError();
	if (cudaStatus != cudaSuccess) {
		fprintf(stderr, "addKernel launch failed: %s\n", cudaGetErrorString(cudaStatus));
	}
}

// Helper function for using CUDA to add vectors in parallel.
void vector_add_host(const float* a, const float* b, float* out, size_t n)
{
	float* dev_a = 0;
	float* dev_b = 0;
	float* dev_c = 0;
	cudaError_t cudaStatus;

	if (n == 0)
		return;

	cudaStatus = cudaMalloc((void**)&dev_c, n * sizeof(float));
	if (cudaStatus != cudaSuccess) {
		fprintf(stderr, "cudaMalloc failed!");
		goto Error;
	}

	cudaStatus = cudaMalloc((void**)&dev_a, n * sizeof(float));
	if (cudaStatus != cudaSuccess) {
		fprintf(stderr, "cudaMalloc failed!");
		goto Error;
	}

	cudaStatus = cudaMalloc((void**)&dev_b, n * sizeof(float));
	if (cudaStatus != cudaSuccess) {
		fprintf(stderr, "cudaMalloc failed!");
		goto Error;
	}

	cudaStatus = cudaMemcpy(dev_a, a, n * sizeof(float), cudaMemcpyHostToDevice);
	if (cudaStatus != cudaSuccess) {
		fprintf(stderr, "cudaMemcpy failed!");
		goto Error;
	}

	cudaStatus = cudaMemcpy(dev_b, b, n * sizeof(float), cudaMemcpyHostToDevice);
	if (cudaStatus != cudaSuccess) {
		fprintf(stderr, "cudaMemcpy failed!");
		goto Error;
	}

	addKernel << < (unsigned int)((n + 255) / 256), 256 >> > (dev_c, dev_a, dev_b, n);

	// cudaDeviceSynchronize waits for the kernel to finish, and returns
	// any errors encountered during the launch.
	cudaStatus = cudaDeviceSynchronize();
	if (cudaStatus != cudaSuccess) {
		fprintf(stderr, "cudaDeviceSynchronize returned error code %d after launching addKernel!\n", cudaStatus);
		goto Error;
	}

	cudaStatus = cudaMemcpy(out, dev_c, n * sizeof(float), cudaMemcpyDeviceToHost);
	if (cudaStatus != cudaSuccess) {
		fprintf(stderr, "cudaMemcpy failed!");
		goto Error;
	}

Error:
	cudaFree(dev_c);
	cudaFree(dev_a);
	cudaFree(dev_b);
}
