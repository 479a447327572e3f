// Two threads each poll a volatile flag that the other sets; nothing else in the loop lets other threads run.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void polling_kernel(int* out) {
    __shared__ int values[2];
    __shared__ volatile int ready[2];
    const int here = threadIdx.x / 32, other = 1 - here;
    if (threadIdx.x % 32 == 0) ready[here] = 0;
    __syncthreads();
    if (threadIdx.x % 32 != 0) return;
    values[here] = here + 1;
    __threadfence_block();
    ready[here] = 1;
    while (ready[other] == 0) {
    }
    __threadfence_block();
    out[threadIdx.x / 32] = values[other];  // after the wait, threadIdx must be this thread's again
}

int main() {
    int host[2], *out;
    cudaMalloc(&out, sizeof host);
    polling_kernel<<<1, 64>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    puts(host[0] == 2 && host[1] == 1 ? "ok" : "wrong");
    cudaFree(out);
}
