// Many threads store 1 to the same flag.
#include <cuda_runtime.h>

__global__ void find_kernel(const int* values, int* found) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (values[i] % 5 == 0) *found = 1;  //! same_value
}

int main() {
    int host[128], *values, *found;
    for (int i = 0; i < 128; i++) host[i] = i;
    cudaMalloc(&values, sizeof(host));
    cudaMalloc(&found, sizeof(int));
    cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemset(found, 0, sizeof(int));
    find_kernel<<<2, 64>>>(values, found);
    return cudaDeviceSynchronize() != cudaSuccess;
}
