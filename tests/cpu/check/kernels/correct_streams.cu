// Two streams with an event between them; the default stream, which waits for both; copies to and from pinned memory.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

__global__ void add_kernel(int* x, int value) { x[threadIdx.x] += value; }

int main() {
    int *x, *pinned, *managed, wrong = 0;
    cudaStream_t one, other;
    cudaEvent_t filled;
    cudaStreamCreate(&one);
    cudaStreamCreate(&other);
    cudaEventCreate(&filled);
    cudaMalloc(&x, 64 * sizeof(int));
    cudaMallocHost(&pinned, 64 * sizeof(int));
    cudaMallocManaged(&managed, 64 * sizeof(int));
    for (int i = 0; i < 64; ++i) pinned[i] = managed[i] = i;
    cudaMemcpyAsync(x, pinned, 64 * sizeof(int), cudaMemcpyHostToDevice, one);
    add_kernel<<<1, 64, 0, one>>>(x, 1);
    cudaEventRecord(filled, one);
    cudaStreamWaitEvent(other, filled, 0);
    add_kernel<<<1, 64, 0, other>>>(x, 2);
    add_kernel<<<1, 64>>>(x, 4);
    add_kernel<<<1, 64, 0, one>>>(x, 8);
    cudaMemcpyAsync(pinned, x, 64 * sizeof(int), cudaMemcpyDeviceToHost, one);
    add_kernel<<<1, 64, 0, other>>>(managed, 1);
    cudaStreamSynchronize(one);
    for (int i = 0; i < 64; ++i) wrong += pinned[i] != i + 15;
    cudaEventRecord(filled, other);
    cudaEventSynchronize(filled);
    for (int i = 0; i < 64; ++i) wrong += managed[i] != i + 1;
    std::vector<int> pageable(64);
    add_kernel<<<1, 64, 0, other>>>(x, 1);
    cudaMemcpyAsync(pageable.data(), x, 64 * sizeof(int), cudaMemcpyDeviceToHost, other);
    for (int i = 0; i < 64; ++i) wrong += pageable[i] != i + 16;
    cudaMemcpy(pinned, x, 64 * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; ++i) wrong += pinned[i] != i + 16;
    puts(wrong ? "wrong" : "ok");
    cudaStreamDestroy(one);
    cudaStreamDestroy(other);
    cudaEventDestroy(filled);
    cudaFree(x);
    cudaFree(managed);
    cudaFreeHost(pinned);
}
