// Captures the kernel into a graph, instantiates it and launches it. For a single kernel that gains nothing; the point
// is the sequence of calls.
#include "labs/vector_add/lab.h"

__global__ void addKernel(const float *a, const float *b, float *out, size_t n)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        out[i] = a[i] + b[i];
}

void vector_add(const float *a, const float *b, float *out, size_t n, void *)
{
    if (n == 0)
        return;

    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    CUDA_CHECK(cudaStreamCreate(&stream));

    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    addKernel<<<512, 256, 0, stream>>>(a, b, out, n);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&instance, graph, 0));

    CUDA_CHECK(cudaGraphLaunch(instance, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));

    CUDA_CHECK(cudaGraphExecDestroy(instance));
    CUDA_CHECK(cudaGraphDestroy(graph));
    CUDA_CHECK(cudaStreamDestroy(stream));
}
