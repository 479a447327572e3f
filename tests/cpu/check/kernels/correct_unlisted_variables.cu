// Device variables without a plain declaration: in a function, by a macro, as a template.
#include <cstdio>

#define DEVICE_ARRAY(type, name, count) __device__ type name[count]

DEVICE_ARRAY(int, partials, 64);

template <class T>
__device__ T total;

__device__ int next() {
    static __device__ int calls;
    return atomicAdd(&calls, 1);
}

__global__ void clear_kernel() {
    partials[threadIdx.x] = 1;
    if (threadIdx.x == 0) total<int> = 0;
}

__global__ void sum_kernel(int* sum) {
    atomicAdd(&total<int>, partials[threadIdx.x] + (next() >= 0));
    __syncthreads();
    if (threadIdx.x == 0) *sum = total<int>;
}

int main() {
    int *sum, result = 0;
    cudaMalloc(&sum, sizeof(int));
    clear_kernel<<<1, 64>>>();
    sum_kernel<<<1, 64>>>(sum);
    cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(sum);
    std::puts(result == 128 ? "ok" : "wrong");
}
