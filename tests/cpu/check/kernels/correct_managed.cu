// The host reads and writes managed and pinned memory between the launches.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void add_kernel(int* x, const int* pinned) { x[threadIdx.x] += pinned[threadIdx.x]; }

int main() {
    int *x, *pinned;
    cudaMallocManaged(&x, 64 * sizeof(int));
    cudaMallocHost(&pinned, 64 * sizeof(int));
    for (int i = 0; i < 64; i++) x[i] = pinned[i] = i;
    for (int launch = 0; launch < 3; launch++) {
        add_kernel<<<1, 64>>>(x, pinned);
        cudaDeviceSynchronize();
        x[launch]++;
        pinned[launch] = 0;
    }
    bool right = x[0] == 1 && x[63] == 4 * 63;
    puts(right ? "ok" : "wrong");
    return !right;
}
