// A graph is captured from two streams and launched repeatedly in a third; the host waits before it reads.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void add_kernel(int* values, int amount) { values[threadIdx.x] += amount; }
__global__ void sum_kernel(const int* a, const int* b, int* sums) {
    sums[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

int main() {
    int *a, *b, *sums, *host;
    cudaMalloc(&a, 64 * sizeof(int));
    cudaMalloc(&b, 64 * sizeof(int));
    cudaMalloc(&sums, 64 * sizeof(int));
    cudaMallocHost(&host, 64 * sizeof(int));
    cudaStream_t first, second, third;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking);
    cudaEvent_t fork, join;
    cudaEventCreate(&fork);
    cudaEventCreate(&join);

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, first);
    cudaStreamWaitEvent(second, fork, 0);
    add_kernel<<<1, 64, 0, first>>>(a, 1);
    add_kernel<<<1, 64, 0, second>>>(b, 2);
    cudaEventRecord(join, second);
    cudaStreamWaitEvent(first, join, 0);
    sum_kernel<<<1, 64, 0, first>>>(a, b, sums);
    cudaMemcpyAsync(host, sums, 64 * sizeof(int), cudaMemcpyDeviceToHost, first);
    cudaStreamEndCapture(first, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphDestroy(graph);

    cudaMemsetAsync(a, 0, 64 * sizeof(int), third);
    cudaMemsetAsync(b, 0, 64 * sizeof(int), third);
    for (int i = 0; i < 5; i++) cudaGraphLaunch(exec, third);
    cudaStreamSynchronize(third);
    const bool right = host[0] == 15 && host[63] == 15;
    cudaGraphExecDestroy(exec);
    cudaFree(a);
    cudaFree(b);
    cudaFree(sums);
    cudaFreeHost(host);
    puts(right ? "ok" : "wrong");
    return !right;
}
