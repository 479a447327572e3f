// A struct on the device holds a host pointer.
#include <cuda_runtime.h>

struct Image {
    int width;
    const int* pixels;
};

__global__ void sum_kernel(const Image* image, int* out) {
    int width = image->width;
    const int* pixels = image->pixels;
    atomicAdd(out, pixels[threadIdx.x % width]);  //! host_memory
}

int main() {
    int *pixels = new int[16](), *out;
    Image image{16, pixels}, *on_device;
    cudaMalloc(&on_device, sizeof(Image));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(out, 0, sizeof(int));
    cudaMemcpy(on_device, &image, sizeof(Image), cudaMemcpyHostToDevice);
    sum_kernel<<<1, 32>>>(on_device, out);
    cudaError_t error = cudaDeviceSynchronize();
    delete[] pixels;
    return error != cudaSuccess;
}
