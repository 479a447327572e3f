// Halves and bfloat16 numbers in kernels: atomics, shuffles, shared memory, symbols, groups. float16.cu has arithmetic.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "checks.h"

namespace cg = cooperative_groups;

__constant__ half scale;
__device__ __nv_bfloat16 offsets[2];

template <class T>
__global__ void add_kernel(T* sum, T* old, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(sum, T(1));
    if (i == 0) *old = atomicAdd(sum + 1, T(0.5f));
}

__global__ void add_pairs_kernel(half2* sum, __nv_bfloat162* other) {
    atomicAdd(sum, __floats2half2_rn(1.0f, 2.0f));
    atomicAdd(other, __floats2bfloat162_rn(1.0f, -1.0f));
}

template <class T>
__global__ void reduce_kernel(const T* in, float* out) {
    __shared__ T values[64];
    values[threadIdx.x] = __ldg(in + threadIdx.x);
    __syncthreads();
    T value = values[63 - threadIdx.x];
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
    const T next = __shfl_down_sync(0xffffffff, T(int(threadIdx.x)), 1);
    out[threadIdx.x] = float(value) + 1000 * float(next);
}

__global__ void shuffle_pairs_kernel(half2* out) {
    const half2 here(half(int(threadIdx.x)), __hneg(half(int(threadIdx.x))));
    out[threadIdx.x] = __shfl_sync(0xffffffff, here, (threadIdx.x + 1) % 32);
}

__global__ void group_kernel(half* out) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const half one = 1.0f;
    out[threadIdx.x] = cg::reduce(tile, one, cg::plus<half>()) * scale + tile.shfl(one, 3);
}

__global__ void symbol_kernel(float* out) {
    half mixed = scale;
    mixed += half(3);
    out[0] = mixed;
    out[1] = offsets[0] + offsets[1];
    volatile __shared__ __half kept;
    kept = __half_raw{0x3c00};
    out[2] = __half2float(__half(__half_raw(kept)));
}

template <class T>
void test_adding() {
    T* sum = on_device(std::vector<T>{T(0), T(2), T(0)});
    add_kernel<<<4, 64>>>(sum, sum + 2, 250);
    const auto values = from_device(sum, 3);
    CHECK_EQUAL(float(values[0]), 250.0f);
    CHECK_EQUAL(float(values[1]), 2.5f);
    CHECK_EQUAL(float(values[2]), 2.0f);
    cudaFree(sum);
}

template <class T>
void test_reducing() {
    std::vector<T> in(64);
    for (int i = 0; i < 64; ++i) in[i] = T(i % 4);
    T* device = on_device(in);
    float* out = on_device(std::vector<float>(64));
    reduce_kernel<<<1, 64>>>(device, out);
    const auto values = from_device(out, 64);
    for (int i = 0; i < 64; ++i) CHECK_EQUAL(values[i], 48.0f + 1000.0f * float(i % 32 == 31 ? i : i + 1));
    cudaFree(device);
    cudaFree(out);
}

void test_pairs() {
    half2* sums = on_device(std::vector<half2>(33, half2(half(0), half(0))));
    __nv_bfloat162* other = on_device(std::vector<__nv_bfloat162>(1, __float2bfloat162_rn(0.0f)));
    add_pairs_kernel<<<2, 50>>>(sums + 32, other);
    shuffle_pairs_kernel<<<1, 32>>>(sums);
    const auto values = from_device(sums, 33);
    CHECK_EQUAL(__low2float(values[32]), 100.0f);
    CHECK_EQUAL(__high2float(values[32]), 200.0f);
    CHECK_EQUAL(__high2float(from_device(other)), -100.0f);
    for (int i = 0; i < 32; ++i) CHECK(values[i] == half2(half((i + 1) % 32), half(-((i + 1) % 32))));
    cudaFree(sums);
    cudaFree(other);
}

void test_groups_and_symbols() {
    const half two = 2.0f;
    const __nv_bfloat16 values_of_offsets[2] = {1.0f, 2.0f};
    CHECK(cudaMemcpyToSymbol(scale, &two, sizeof(two)) == cudaSuccess);
    CHECK(cudaMemcpyToSymbol(offsets, values_of_offsets, sizeof(values_of_offsets)) == cudaSuccess);
    half* halves = on_device(std::vector<half>(32));
    float* floats = on_device(std::vector<float>(3));
    group_kernel<<<1, 32>>>(halves);
    symbol_kernel<<<1, 1>>>(floats);
    for (const half value : from_device(halves, 32)) CHECK_EQUAL(float(value), 65.0f);
    const auto values = from_device(floats, 3);
    CHECK_EQUAL(values[0], 5.0f);
    CHECK_EQUAL(values[1], 3.0f);
    CHECK_EQUAL(values[2], 1.0f);
    static_assert(sizeof(half) == 2 && sizeof(half2) == 4 && alignof(half2) == 4);
    static_assert(std::is_trivially_copyable_v<half> && std::is_trivially_default_constructible_v<__nv_bfloat16>);
    cudaFree(halves);
    cudaFree(floats);
}

int main(int count, char** arguments) {
    use_arguments(count, arguments);
    test_adding<half>();
    test_adding<__nv_bfloat16>();
    test_reducing<half>();
    test_reducing<__nv_bfloat16>();
    test_pairs();
    test_groups_and_symbols();
    return wrong_checks != 0;
}
