// Honest: a class has a member function with the name of a kernel, and libcu++'s init() has the name of another.
#include <cuda/barrier>

#include "labs/dot_product/lab.h"

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void reset(int* out) { *out = 0; }

__global__ void init(int* counts) { counts[threadIdx.x] = 0; }

__global__ void add_products(const int* a, const int* b, int* out, std::size_t n) {
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Barrier barrier;
    __shared__ int sum;
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        sum = 0;
    }
    __syncthreads();
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum, a[i] * b[i]);
    barrier.arrive_and_wait();
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

class Dot {
  public:
    explicit Dot(int* out) : out_(out) {}
    void run(const int* a, const int* b, std::size_t n) {
        reset();
        if (n) add_products<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out_, n);
    }

  private:
    void reset() { ::reset<<<1, 1>>>(out_); }
    int* out_;
};

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) { Dot(out).run(a, b, n); }
