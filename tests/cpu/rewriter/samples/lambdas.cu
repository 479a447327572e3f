// Kernels that take functions as arguments: functors, device lambdas, and lambdas inside a kernel that use shared
// memory.
#include <utility>

struct Scale {
    float factor;
    __host__ __device__ float operator()(float x) const { return x * factor; }
};

template <class F>
__global__ void transform(float* data, int n, F f) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] = f(data[i]);
}

template <class F, class... Arguments>
__global__ void call_with(F f, Arguments... arguments) {
    f(threadIdx.x, arguments...);
}

template <class T, int N>
__global__ void reverse(T* data) {
    __shared__ T tile[N], copy[N];
    __shared__ int moves;
    const int t = threadIdx.x;
    auto load = [=](int i) { tile[i] = data[i]; };
    auto mirror = [](int i) { copy[i] = tile[N - 1 - i]; };
    auto store = [data](int i) {
        auto write = [=] { data[i] = copy[i]; };
        write();
        atomicAdd(&moves, 1);
    };
    if (t == 0) moves = 0;
    load(t);
    __syncthreads();
    mirror(t);
    __syncthreads();
    store(t);
    __syncthreads();
    if (t == 0 && [&] { return moves != N; }()) data[0] = -1;
}

template <class F>
void for_each_index(int n, F f) {
    call_with<<<1, n>>>(f, n);
}

int main() {
    const int n = 100;
    float* data;
    cudaMallocManaged(&data, n * sizeof(float));
    for (int i = 0; i < n; ++i) data[i] = i;
    transform<<<2, 32>>>(data, n, Scale{2});
    const float offset = 1;
    transform<<<1, 64>>>(data, n, [=] __device__(float x) { return x + offset; });
    transform<<<2, 32>>>(data, n, [offset] __host__ __device__(float x) -> float { return x - offset; });
    for_each_index(n, [=] __device__(int i, int count) { data[i] += count; });
    reverse<float, n><<<1, n>>>(data);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; ++i) {
        if (data[i] != 2 * (n - 1 - i) + n) return 1;
    }
    return 0;
}
