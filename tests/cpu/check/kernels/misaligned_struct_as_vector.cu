// Structs of smaller members, read as vectors: a struct needs only its members' alignment, a vector its whole size.
#include <cuda_runtime.h>

struct Pair {
    int even, odd;
};
struct Pixel {
    unsigned char r, g, b, a;
};

__global__ void pairs_kernel(int2* out) {
    __shared__ int any;
    __shared__ Pair pairs[64];
    if (threadIdx.x == 0) any = 1;
    pairs[threadIdx.x] = {1, 2};
    __syncthreads();
    const Pair pair = pairs[63 - threadIdx.x];
    const int2 vector = *reinterpret_cast<int2*>(&pairs[63 - threadIdx.x]);  //! misaligned
    out[threadIdx.x] = make_int2(pair.even + any, vector.y);
}

__global__ void pixels_kernel(int2* out) {
    __shared__ char small[3];
    __shared__ Pixel pixels[64];
    if (threadIdx.x == 0) small[0] = 1;
    pixels[threadIdx.x] = {1, 2, 3, 4};
    __syncthreads();
    const Pixel pixel = pixels[63 - threadIdx.x];
    const unsigned word = reinterpret_cast<unsigned*>(pixels)[threadIdx.x];  //! misaligned
    __syncthreads();
    atomicAdd(reinterpret_cast<int*>(pixels) + threadIdx.x, 1);  //! misaligned
    out[threadIdx.x] = make_int2(pixel.r + small[0], word);
}

int main() {
    int2* out;
    cudaMalloc(&out, 64 * sizeof(int2));
    pairs_kernel<<<1, 64>>>(out);
    pixels_kernel<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
