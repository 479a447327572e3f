// Atomic loads and plain reads of words that no thread writes any more: in shared memory, an input and a constant.
#include <cstdio>
#include <cuda/atomic>

__constant__ int scale = 3;

__global__ void loads_kernel(int* in, int* out) {
    __shared__ int first;
    if (threadIdx.x == 0) first = in[0];
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_block> shared_word(first);
    cuda::atomic_ref<int, cuda::thread_scope_device> input(in[threadIdx.x]);
    cuda::atomic_ref<int, cuda::thread_scope_device> constant(const_cast<int&>(scale));
    const int read = threadIdx.x % 2 ? first : shared_word.load();
    out[threadIdx.x] = read + in[threadIdx.x] + input.load(cuda::memory_order_relaxed) * constant.load();
}

int main() {
    int *in, *out, host[64];
    for (int i = 0; i < 64; ++i) host[i] = i + 1;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    loads_kernel<<<1, 64>>>(in, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    bool right = true;
    for (int i = 0; i < 64; ++i) right = right && host[i] == 1 + 4 * (i + 1);
    std::puts(right ? "ok" : "wrong");
}
