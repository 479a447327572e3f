// cudaMemcpyAsync between device buffers. It copies one and a half times the bytes of out, so that its reads and writes
// together are the 12 n bytes that vector_add moves.

#include "labs/vector_add/lab.h"

void vector_add(const float* a, const float* b, float* out, std::size_t n, void* /*scratch*/) {
    const std::size_t bytes = n * sizeof(float);
    CUDA_CHECK(cudaMemcpyAsync(out, a, bytes, cudaMemcpyDeviceToDevice));
    CUDA_CHECK(cudaMemcpyAsync(out, b, bytes / 2, cudaMemcpyDeviceToDevice));
}
