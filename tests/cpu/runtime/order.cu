// The effects of the thread order and the block order: prints a digest of a kernel with a barrier, a digest of the same
// kernel without the barrier, the last thread that writes a word, and the first block.

#include "checks.h"

template <bool barrier>
__global__ void rotate_kernel(int* out) {
    __shared__ int values[256];
    values[threadIdx.x] = threadIdx.x + 1;
    if (barrier) __syncthreads();
    const int neighbour = values[(threadIdx.x + 1) % blockDim.x];
    if (blockIdx.x == gridDim.x - 1) out[threadIdx.x] = neighbour;
}

__global__ void last_writer_kernel(int* out) { *out = blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void first_block_kernel(int* first) { atomicCAS(first, -1, int(blockIdx.x)); }

template <class Kernel>
static unsigned digest(Kernel kernel) {
    int* out = on_device(std::vector<int>(256));
    kernel<<<4, 256>>>(out);
    unsigned result = 0;
    for (int value : from_device(out, 256)) result = result * 31 + unsigned(value);
    return result;
}

int main(int count, char** arguments) {
    use_arguments(count, arguments);
    int* last = on_device(std::vector<int>{-1});
    last_writer_kernel<<<1, 64>>>(last);
    int* first = on_device(std::vector<int>{-1});
    first_block_kernel<<<100, 1>>>(first);
    printf("right %u\nmissing %u\nlast %d\nfirst %d\n", digest(rotate_kernel<true>), digest(rotate_kernel<false>), from_device(last),
           from_device(first));
    return 0;
}
