// Copies and fills get device variables by name, as if the names were pointers.
#include <cuda_runtime.h>

__constant__ float weights[5];
__device__ unsigned counts[16], spare[16];

__global__ void count_kernel(unsigned* out) {
    atomicAdd(&counts[threadIdx.x % 16], 1u);
    out[threadIdx.x] = static_cast<unsigned>(weights[threadIdx.x % 5]) + spare[threadIdx.x % 16];
}

int main() {
    const float host[5] = {1, 2, 3, 4, 5};
    unsigned back[16], *out;
    cudaMalloc(&out, 32 * sizeof(unsigned));
    cudaMemcpy(weights, host, sizeof host, cudaMemcpyHostToDevice);  //! copy_direction
    cudaMemset(counts, 0, sizeof counts);                            //! copy_direction
    count_kernel<<<1, 32>>>(out);
    cudaMemcpy(back, counts, sizeof back, cudaMemcpyDeviceToHost);                  //! copy_direction
    cudaMemcpyToSymbol(spare, counts, sizeof counts, 0, cudaMemcpyDeviceToDevice);  //! copy_direction
    cudaMemcpy(out, &counts[4], 4 * sizeof(unsigned), cudaMemcpyDeviceToDevice);    //! copy_direction
    cudaFree(out);
    return 0;
}
