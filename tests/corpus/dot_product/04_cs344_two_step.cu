#include "labs/dot_product/lab.h"

// Each block leaves one sum. The second launch is one block that adds the sums.
__global__ void shmem_reduce_kernel(int * d_out, const int * d_in, const int * d_in2, size_t count)
{
    // sdata is allocated in the kernel call: 3rd arg to <<<b, t, shmem>>>
    extern __shared__ int sdata[];

    size_t myId = threadIdx.x + (size_t)blockDim.x * blockIdx.x;
    int tid  = threadIdx.x;

    // load shared mem from global mem
    int sum = 0;
    for (size_t i = myId; i < count; i += (size_t)blockDim.x * gridDim.x)
    {
        sum += d_in2 ? d_in[i] * d_in2[i] : d_in[i];
    }
    sdata[tid] = sum;
    __syncthreads();            // make sure entire block is loaded!

    // do reduction in shared mem
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1)
    {
        if (tid < s)
        {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();        // make sure all adds at one stage are done!
    }

    // only thread 0 writes result for this block back to global mem
    if (tid == 0)
    {
        d_out[blockIdx.x] = sdata[0];
    }
}

const int maxThreadsPerBlock = 1024;
const int blocks = 256;

size_t dot_product_scratch_bytes(size_t)
{
    return blocks * sizeof(int);
}

void dot_product(const int * d_a, const int * d_b, int * d_out, size_t n, void * scratch)
{
    int * d_intermediate = (int *) scratch;
    shmem_reduce_kernel<<<blocks, maxThreadsPerBlock, maxThreadsPerBlock * sizeof(int)>>>
        (d_intermediate, d_a, d_b, n);
    CUDA_CHECK(cudaGetLastError());

    // now we're down to one block left, so reduce it
    shmem_reduce_kernel<<<1, blocks, blocks * sizeof(int)>>>
        (d_out, d_intermediate, nullptr, blocks);
    CUDA_CHECK(cudaGetLastError());
}
