// The host reads pinned memory that a launched graph copies into, without waiting for its stream.
#include <cuda_runtime.h>

__global__ void fill_kernel(int* values) { values[threadIdx.x] = threadIdx.x; }

int main() {
    int *values, *host;
    cudaMalloc(&values, 64 * sizeof(int));
    cudaMallocHost(&host, 64 * sizeof(int));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    fill_kernel<<<1, 64, 0, stream>>>(values);
    cudaMemcpyAsync(host, values, 64 * sizeof(int), cudaMemcpyDeviceToHost, stream);  //! unfinished
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
    const int last = host[63];  //! unfinished
    cudaStreamSynchronize(stream);
    return last != 63;
}
