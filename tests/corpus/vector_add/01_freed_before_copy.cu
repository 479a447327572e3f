#include "labs/vector_add/lab.h"

__global__ void kernel(const float *a, const float *b, float *c, size_t n)
{
	size_t i = blockDim.x * (size_t)blockIdx.x + threadIdx.x;
	if (i >= n) return;
	c[i] = a[i] + b[i];
}

void vector_add(const float *a, const float *b, float *c, size_t n, void *s)
{
	if (n) kernel<<<(n - 1) / 128 + 1, 128>>>(a, b, c, n);
	CUDA_CHECK(cudaGetLastError());
}

void vector_add_host(const float *a, const float *b, float *c, size_t n)
{
	float *da, *db, *dc;
	size_t sz = sizeof(float) * n;
	if (!n) return;

	CUDA_CHECK(cudaMalloc(&da, sz));
	CUDA_CHECK(cudaMalloc(&db, sz));
	CUDA_CHECK(cudaMalloc(&dc, sz));
	CUDA_CHECK(cudaMemcpy(da, a, sz, cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemcpy(db, b, sz, cudaMemcpyHostToDevice));
	vector_add(da, db, dc, n, 0);

	/* clean up */
	cudaFree(da);
	cudaFree(db);
	cudaFree(dc);

	CUDA_CHECK(cudaMemcpy(c, dc, sz, cudaMemcpyDeviceToHost));
}
