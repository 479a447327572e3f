// A device function fills the struct that its argument points to, which here is a constant.
#include <cuda_runtime.h>

struct Limits {
    int low, high, width, height;
};
__constant__ Limits limits;

__device__ void store(Limits* to, int value) {
    const Limits all = {value, value, value, value};
    *to = all;  //! constant_written
}

__global__ void fill_kernel(int value) { store((Limits*)&limits, value); }

int main() {
    fill_kernel<<<1, 1>>>(3);
    return cudaDeviceSynchronize() != cudaSuccess;
}
