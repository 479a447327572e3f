#include <array>
#include <utility>
#include "labs/vector_add/lab.h"

namespace hw1 {

constexpr unsigned kThreads{192};

struct Plus {
    __host__ __device__ constexpr float operator()(float x, float y) const noexcept { return x + y; }
};

template <class Op>
__global__ void transform(const float* a, const float* b, float* out, std::size_t n, Op op) {
    const auto index = [] { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; };
    if (const auto i = index(); i < n) out[i] = op(a[i], b[i]);
}

std::pair<unsigned, unsigned> configure(std::size_t n) {
    return {static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads};
}

}  // namespace hw1

void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    if (n == 0) return;
    const auto [grid, block] = hw1::configure(n);
    hw1::transform<<<grid, block>>>(a, b, out, n, hw1::Plus{});
    CUDA_CHECK(cudaGetLastError());
}

void vector_add_host(const float* a, const float* b, float* out, std::size_t n) {
    if (n == 0) return;
    std::array<float*, 3> d{};
    for (auto& p : d) CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&p), n * sizeof(float)));
    const auto upload = [n](float* to, const float* from) {
        CUDA_CHECK(cudaMemcpy(to, from, n * sizeof *to, cudaMemcpyHostToDevice));
    };
    upload(d[0], a);
    upload(d[1], b);
    vector_add(d[0], d[1], d[2], n, nullptr);
    CUDA_CHECK(cudaMemcpy(out, d[2], n * sizeof(float), cudaMemcpyDeviceToHost));
    for (auto* p : d) CUDA_CHECK(cudaFree(p));
}
