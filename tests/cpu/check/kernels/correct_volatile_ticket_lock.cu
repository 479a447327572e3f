// Blocks take turns by two counters: the next ticket, and the ticket being served, which a volatile write sets after a
// fence.
#include <cuda_runtime.h>

#include <cstdio>

__device__ unsigned next_ticket;
__device__ volatile unsigned served;

__global__ void add_kernel(int* total) {
    for (int turn = 0; threadIdx.x == 0 && turn < 3; ++turn) {
        const unsigned own = atomicAdd(&next_ticket, 1u);
        while (served != own) {
        }
        __threadfence();
        *total += 1;
        __threadfence();
        served = own + 1;
    }
}

int main() {
    int host = 0, *total;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    add_kernel<<<8, 32>>>(total);
    cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost);
    puts(host == 24 ? "ok" : "wrong");
    cudaFree(total);
}
