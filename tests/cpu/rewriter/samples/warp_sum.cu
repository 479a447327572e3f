// Sums by shuffles, counts by votes.
#define FULL_MASK 0xffffffffu
#define WARP_SIZE 32

template <typename T>
__inline__ __device__ T warp_sum(T value) {
#pragma unroll
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2) value += __shfl_down_sync(FULL_MASK, value, offset);
    return value;
}

__inline__ __device__ int block_sum(int value) {
    static __shared__ int shared[WARP_SIZE];  // partial sums of the warps
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
    value = warp_sum(value);
    if (lane == 0) shared[warp] = value;
    __syncthreads();
    value = threadIdx.x < blockDim.x / WARP_SIZE ? shared[lane] : 0;
    if (warp == 0) value = warp_sum<int>(value);
    return value;
}

__noinline__ __device__ int is_odd(int x) { return x & 1; }

__global__ void sum_kernel(const int* in, int n, int* sum, int* odd) {
    int total = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) total += in[i];
    const unsigned votes = __ballot_sync(FULL_MASK, is_odd(total));
    if ((threadIdx.x & 31) == 0) atomicAdd(odd, __popc(votes));
    total = block_sum(total);
    if (threadIdx.x == 0) atomicAdd(sum, total);
}

int main() {
    const int n = 3000;
    int *in, *out;
    cudaMallocManaged(&in, n * sizeof(int));
    cudaMallocManaged(&out, 2 * sizeof(int));
    out[0] = out[1] = 0;
    int expected = 0, odd = 0;
    for (int i = 0; i < n; ++i) expected += in[i] = i % 13 - 5;
    for (int t = 0; t < 512; ++t) {
        int total = 0;
        for (int i = t; i < n; i += 512) total += in[i];
        odd += total & 1;
    }
    sum_kernel<<<4, 128>>>(in, n, out, out + 1);
    cudaDeviceSynchronize();
    return out[0] == expected && out[1] == odd ? 0 : 1;
}
