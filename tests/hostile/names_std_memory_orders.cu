// Honest: cuda::std::memory_order_* with <cuda/atomic> alone; partial sums in a lock-free list of blocks.
#include "labs/dot_product/lab.h"
#include <cuda/atomic>
struct Node { int value, next; };
__global__ void k(const int* a, const int* b, int* out, std::size_t n, Node* nodes, int* head, unsigned* done) {
    __shared__ int sum; __shared__ bool last;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) cuda::atomic_ref<int, cuda::thread_scope_block>(sum).fetch_add(a[i] * b[i], cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> h(*head);
        Node& mine = nodes[blockIdx.x];
        mine.value = sum;
        int old = h.load(cuda::std::memory_order_relaxed);
        do mine.next = old; while (!h.compare_exchange_weak(old, int(blockIdx.x) + 1, cuda::std::memory_order_release, cuda::std::memory_order_relaxed));
        last = cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*done).fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 32) { int total = 0; for (int at = *head; at; at = nodes[at - 1].next) total += nodes[at - 1].value; *out = total; *head = 0; *done = 0; }
}
std::size_t dot_product_scratch_bytes(std::size_t n) { return ((n + 255) / 256 + 2) * sizeof(Node); }
void dot_product(const int* a, const int* b, int* out, std::size_t n, void* scratch) {
    const unsigned blocks = n ? unsigned((n + 255) / 256) : 1;
    CUDA_CHECK(cudaMemset(scratch, 0, 8));
    int* head = static_cast<int*>(scratch);
    k<<<blocks, 256>>>(a, b, out, n, reinterpret_cast<Node*>(scratch) + 1, head, reinterpret_cast<unsigned*>(head + 1));
}
