// Three arrays of different types share dynamic memory to its last byte.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void pack_kernel(double* out) {
    extern __shared__ double sums[];
    int n = blockDim.x, t = threadIdx.x;
    int* counts = reinterpret_cast<int*>(sums + n);
    char* flags = reinterpret_cast<char*>(counts + n);
    sums[t] = 0.5 * t;
    counts[t] = t;
    flags[t] = t % 2;
    __syncthreads();
    int other = n - 1 - t;
    out[t] = sums[other] + counts[other] + flags[other];
}

int main() {
    const int n = 63;
    double host[n], *out;
    cudaMalloc(&out, sizeof(host));
    pack_kernel<<<1, n, n*(sizeof(double) + sizeof(int) + sizeof(char))>>>(out);
    cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
    bool right = host[0] == 31 + 62 && host[62] == 0 && host[61] == 2.5;
    puts(right ? "ok" : "wrong");
    return !right;
}
