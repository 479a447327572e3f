// Vectors in shared arrays that macros align: macros for an attribute, with or without parameters, before or after
// __shared__ or after the name, and macros for __shared__ with an attribute. Without these
// macros, the three bytes of `small` would leave the arrays unaligned.
#include <cstdio>

#define ALIGN(n) __align__(n)
#define ALIGN_16 __attribute__((aligned(16)))
#define VECTOR ALIGN(16)
#ifdef _MSC_VER
#define PORTABLE(n)
#else
#define PORTABLE(n) alignas(n)
#endif
#define TILE __shared__ ALIGN(16)
#define ALIGNED_SHARED ALIGN_16 __shared__
#define ROWS(type, name) __shared__ ALIGN(16) type name[64]

__device__ ALIGN(16) int offset[4];

struct ALIGN(16) Quad {
    int values[4];
};

template <class Array>
__device__ int turn(Array& array, char* small) {
    if (threadIdx.x == 0) small[2] = 1;
    reinterpret_cast<int4*>(&array)[threadIdx.x] = make_int4(1, 2, 3, 4);
    __syncthreads();
    const int4 vector = reinterpret_cast<int4*>(&array)[15 - threadIdx.x];
    return vector.x + vector.w + small[2] + offset[0];
}

__global__ void after_kernel(int* out) {
    __shared__ char small[3];
    __shared__ ALIGN(16) unsigned char v[256];
    out[threadIdx.x] = turn(v, small);
}
__global__ void before_kernel(int* out) {
    __shared__ char small[3];
    ALIGN(16) __shared__ unsigned char v[256];
    out[threadIdx.x] = turn(v, small);
}
__global__ void behind_kernel(int* out) {
    __shared__ char small[3];
    __shared__ float v[64] ALIGN(16);
    out[threadIdx.x] = turn(v, small);
}
__global__ void nested_kernel(int* out) {
    __shared__ char small[3];
    __shared__ VECTOR float v[64];
    out[threadIdx.x] = turn(v, small);
}
__global__ void plain_kernel(int* out) {
    __shared__ char small[3];
    ALIGN_16 __shared__ float v[64];
    out[threadIdx.x] = turn(v, small);
}
__global__ void portable_kernel(int* out) {
    __shared__ char small[3];
    __shared__ PORTABLE(16) short v[128];
    out[threadIdx.x] = turn(v, small);
}
__global__ void tile_kernel(int* out) {
    __shared__ char small[3];
    TILE float v[64];
    out[threadIdx.x] = turn(v, small);
}
__global__ void aligned_shared_kernel(int* out) {
    __shared__ char small[3];
    ALIGNED_SHARED char v[256];
    out[threadIdx.x] = turn(v, small);
}
__global__ void rows_kernel(int* out) {
    __shared__ char small[3];
    ROWS(float, v);
    out[threadIdx.x] = turn(v, small);
}
__global__ void quads_kernel(int* out) {
    __shared__ char small[3];
    __shared__ Quad v[16];
    out[threadIdx.x] = turn(v, small);
}
template <class T>
__global__ void template_kernel(int* out) {
    __shared__ char small[3];
    __shared__ ALIGN(4 * sizeof(T)) T v[64];
    out[threadIdx.x] = turn(v, small);
}
__global__ void dynamic_kernel(int* out) {
    __shared__ char small[3];
    extern __shared__ ALIGN(16) unsigned char v[];
    out[threadIdx.x] = turn(v[0], small);
}
__shared__ ALIGN(16) float of_file[64];
__global__ void file_kernel(int* out) {
    __shared__ char small[3];
    out[threadIdx.x] = turn(of_file, small);
}

int main() {
    void (*kernels[])(int*) = {after_kernel, before_kernel,   behind_kernel,        nested_kernel,
                               plain_kernel, portable_kernel, tile_kernel,          aligned_shared_kernel,
                               rows_kernel,  quads_kernel,    template_kernel<int>, dynamic_kernel,
                               file_kernel};
    int *out, host[16];
    cudaMalloc(&out, sizeof host);
    bool right = true;
    for (auto kernel : kernels) {
        kernel<<<1, 16, 256>>>(out);
        cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
        for (const int value : host) right = right && value == 6;
    }
    cudaFree(out);
    std::puts(right ? "ok" : "wrong");
}
