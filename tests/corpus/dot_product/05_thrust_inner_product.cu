#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/inner_product.h>

#include "labs/dot_product/lab.h"

__global__ void store(int* out, int value) { *out = value; }

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*)
{
    auto pa = thrust::device_pointer_cast(a);
    auto pb = thrust::device_pointer_cast(b);
    store<<<1, 1>>>(out, thrust::inner_product(thrust::device, pa, pa + n, pb, 0));
    CUDA_CHECK(cudaGetLastError());
}
