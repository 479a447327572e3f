// Two nodes of a graph use the same memory, and no dependency orders them.
#include <cuda_runtime.h>

__global__ void write_kernel(int* values) { values[threadIdx.x] = threadIdx.x; }  //! unfinished
__global__ void read_kernel(const int* values, int* out) {
    out[threadIdx.x] = values[threadIdx.x];  //! unfinished
}

int main() {
    int *values, *out;
    cudaMalloc(&values, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t write, read;
    cudaGraphCreate(&graph, 0);
    void* write_arguments[] = {&values};
    void* read_arguments[] = {&values, &out};
    cudaKernelNodeParams params = {};
    params.func = (void*)write_kernel;
    params.gridDim = dim3(1);
    params.blockDim = dim3(64);
    params.kernelParams = write_arguments;
    cudaGraphAddKernelNode(&write, graph, nullptr, 0, &params);
    params.func = (void*)read_kernel;
    params.kernelParams = read_arguments;
    cudaGraphAddKernelNode(&read, graph, nullptr, 0, &params);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
