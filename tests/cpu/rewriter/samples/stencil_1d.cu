// A 1D stencil with a halo in shared memory.
#include <cstdlib>
#include <new>
using namespace std;

const int RADIUS = 3;
const int BLOCK_SIZE = 64;

__global__ void stencil_1d(int *in, int *out) {
    __shared__ int temp[BLOCK_SIZE + 2 * RADIUS];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x;
    int lindex = threadIdx.x + RADIUS;

    temp[lindex] = in[gindex];
    if (threadIdx.x < RADIUS) {
        temp[lindex - RADIUS] = in[gindex - RADIUS];
        temp[lindex + BLOCK_SIZE] = in[gindex + BLOCK_SIZE];
    }
    __syncthreads();

    int result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++) result += temp[lindex + offset];
    out[gindex] = result;
}

void fill_ints(int *x, int n) { for (int i = 0; i < n; ++i) x[i] = 1; }

int main(void) {
    const int N = BLOCK_SIZE * 4;
    int size = (N + 2 * RADIUS) * sizeof(int);
    int *in = (int *)malloc(size), *out = (int *)malloc(size), *d_in, *d_out;
    fill_ints(in, N + 2 * RADIUS);
    fill_ints(out, N + 2 * RADIUS);
    cudaMalloc((void **)&d_in, size);
    cudaMalloc((void **)&d_out, size);
    cudaMemcpy(d_in, in, size, cudaMemcpyHostToDevice);
    cudaMemcpy(d_out, out, size, cudaMemcpyHostToDevice);
    stencil_1d<<<N/BLOCK_SIZE,BLOCK_SIZE>>>(d_in + RADIUS, d_out + RADIUS);
    cudaMemcpy(out, d_out, size, cudaMemcpyDeviceToHost);
    for (int i = RADIUS; i < N + RADIUS; i++) if (out[i] != 7) return 1;
    free(in); free(out);
    cudaFree(d_in); cudaFree(d_out);
    return 0;
}
