// Wrong on purpose: beyond 2^31 elements, an int index overflows. With fewer elements, the result is right.
#include "labs/vector_add/lab.h"

__global__ void add(const float* a, const float* b, float* out, std::size_t n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    if (n == 0) return;
    add<<<(n + 255) / 256, 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}

void vector_add_host(const float* a, const float* b, float* out, std::size_t n) {
    if (n == 0) return;
    float *da, *db, *dout;
    CUDA_CHECK(cudaMalloc(&da, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&db, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dout, n * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(da, a, n * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(db, b, n * sizeof(float), cudaMemcpyHostToDevice));
    vector_add(da, db, dout, n, nullptr);
    CUDA_CHECK(cudaMemcpy(out, dout, n * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(da));
    CUDA_CHECK(cudaFree(db));
    CUDA_CHECK(cudaFree(dout));
}
