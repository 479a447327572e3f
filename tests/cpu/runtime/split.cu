// Kernels with barriers of many kinds. The program prints a digest of each kernel's results. The test compares a
// program whose kernels are split at their barriers with a program in which each thread has a fiber.

#include <cstdint>

#include <checks.h>

#define TILE 8
#define ROW(y) ((y) * TILE)
#define INDEX(x, y) (ROW(y) + (x))
constexpr int threads_in_x = TILE;

__device__ int scale_of(int value) { return value * 3 + int(threadIdx.x); }
__device__ void add_to(int& sum, int value) { sum += value; }

struct Counter {
    __device__ Counter(int first, int step) : at_(first), step_(step) {}
    __device__ int next() { return at_ += step_; }

  private:
    int at_, step_;
};

__global__ void tree_kernel(const int* in, int* out, int n) {
    __shared__ int part[256];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half && t + half < blockDim.x) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

__global__ void by_example_kernel(const int* in, int* out, int n) {
    __shared__ int cache[256];
    int tid = threadIdx.x + blockIdx.x * blockDim.x, cacheIndex = threadIdx.x;
    int temp = 0;
    while (tid < n) {
        temp += in[tid];
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    out[threadIdx.x + blockIdx.x * blockDim.x] = cache[0] + temp;
}

__global__ void kept_kernel(const int* in, int* out, int n) {
    extern __shared__ int values[];
    const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int mine = i < n ? in[i] : -1, seen[3] = {1, 2, 3};
    const int first = in[0];
    short low;
    low = short(mine);
    const int* from = in + t;
    values[t] = mine;
    __syncthreads();
    seen[t % 3] += values[(t + 1) % blockDim.x];
    mine ^= seen[0] + *from++;
    __syncthreads();
    values[t] = mine * 7 + first;
    __syncthreads();
    if (i >= n) return;
    out[i] = values[blockDim.x - 1 - t] + seen[1] + seen[2] * low + *from;
}

__global__ void nested_kernel(int* out, int rounds) {
    __shared__ int table[2][TILE * TILE];
    const int x = threadIdx.x, y = threadIdx.y, at = INDEX(x, y);
    table[0][at] = at + blockIdx.y;
    table[1][at] = 0;
    int in = 0, sum = 0;
    __syncthreads();
    for (int outer = 0; outer < rounds; ++outer) {
        if (outer % 3 == 1) continue;
        for (int inner = 1; inner < TILE; inner *= 2) {
            const int other = INDEX((x + inner) % TILE, (y + outer) % TILE), fresh = 1 - in;
            table[fresh][at] = table[in][at] + table[in][other];
            sum += table[in][other] & 0xff;
            in = 1 - in;
            __syncthreads();
            if (inner == 4 && outer == 5) break;
        }
        if (rounds > 6) {
            table[in][at] += outer;
            __syncthreads();
        } else {
            sum += 5;
        }
        if (outer == 7) break;
    }
    out[(blockIdx.y * gridDim.x + blockIdx.x) * TILE * TILE + at] = table[in][at] + sum;
}

__global__ void do_kernel(int* out, int rounds) {
    __shared__ int values[512];
    const int at = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const int count = blockDim.x * blockDim.y * blockDim.z;
    values[at] = at;
    int left = rounds;
    do {
        __syncthreads();
        const int neighbour = values[(at + 1) % count];
        __syncthreads();
        values[at] += left > 1 ? neighbour : -neighbour;
    } while (--left > 0);
    __syncthreads();
    out[blockIdx.x * count + at] = values[count - 1 - at];
}

__global__ void swap_kernel(int* out, int steps) {
    __shared__ int a[64], b[64];
    int *from = a, *to = b;
    const int t = threadIdx.x;
    from[t] = t * t;
    __syncthreads();
    for (int step = 1, k = 0; k < steps; step = step * 2 % 63, k++) {
        to[t] = from[(t + step) % 64] - from[t];
        int* other = from;
        from = to, to = other;
        __syncthreads();
    }
    out[t] = from[63 - t];
}

__global__ void shadow_kernel(int* out, int n) {
    __shared__ int values[64];
    int t = threadIdx.x, k = 100 + t;
    values[t] = t;
    __syncthreads();
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 3; ++k) values[t] += k;
        {
            int t = n;
            values[63 - threadIdx.x] ^= 0 * t;
        }
        __syncthreads();
    }
    for (int i = 3; i > 0; --i) {
        if (t >= i) k += values[t - i];
        __syncthreads();
    }
    out[t] = values[t] + k;
}

__global__ void parameters_kernel(const int* in, int* out, int n) {
    __shared__ int values[64];
    in += blockIdx.x * 64;
    n -= threadIdx.x;
    values[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    n += values[63 - threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = n + in[0];
}

template <class T, int size>
__global__ void template_kernel(const T* in, T* out) {
    __shared__ T values[size];
    T sum = T(), pair[2];
    pair[0] = in[threadIdx.x];
    pair[1] = in[threadIdx.x + size];
    values[threadIdx.x] = pair[0];
    __syncthreads();
    if constexpr (size > 16) {
        sum += values[(threadIdx.x * 5 + 1) % size] / T(3);
        __syncthreads();
        values[threadIdx.x] = pair[1];
    }
    __syncthreads();
    for (int k = 0; k < 2; ++k) sum += pair[k] * values[size - 1 - threadIdx.x];
    out[blockIdx.x * size + threadIdx.x] = sum;
}

namespace stencils {
__global__ void __launch_bounds__(TILE* TILE) stencil_kernel(const float* in, float* out, int width, int height) {
    __shared__ float tile[TILE + 2][TILE + 2];
    const int left = blockIdx.x * TILE - 1, top = blockIdx.y * TILE - 1;
    for (int y = threadIdx.y; y < TILE + 2; y += blockDim.y)
        for (int x = threadIdx.x; x < TILE + 2; x += blockDim.x) {
            const int column = min(max(left + x, 0), width - 1), row = min(max(top + y, 0), height - 1);
            tile[y][x] = in[row * width + column];
        }
    __syncthreads();
    const int x = threadIdx.x + 1, y = threadIdx.y + 1;
    if (left + x >= width || top + y >= height) return;
    float sum = 0;
#pragma unroll
    for (int k = -1; k <= 1; ++k) sum += tile[y + k][x] * 0.3f + tile[y][x + k] * 0.7f;
    out[(top + y) * width + left + x] = sum;
}
}  // namespace stencils

__global__ void functions_kernel(int* out, int n) {
    __shared__ int values[threads_in_x * 4];
    Counter counter(threadIdx.x, blockDim.x);
    int sum = 0;
    for (int at = counter.next(); at < n; at = counter.next()) sum += at;
    values[threadIdx.x] = scale_of(sum);
    __syncthreads();
    add_to(sum, values[blockDim.x - 1 - threadIdx.x]);
    const int4 four = make_int4(sum, scale_of(1), min(sum, 3), 4);
    __syncthreads();
    out[threadIdx.x] = four.x + four.y + four.z * four.w + (sum > 9 ? values[0] : -values[1]);
}

__global__ void switch_kernel(int* out) {
    __shared__ unsigned bins[6];
    if (threadIdx.x < 6) bins[threadIdx.x] = 0;
    __syncthreads();
    switch (threadIdx.x % 3) {
        case 0:
            atomicAdd(&bins[threadIdx.x % 4], 1u);
            break;
        case 1:
            atomicMax(&bins[4], threadIdx.x);
        default:
            atomicXor(&bins[5], threadIdx.x);
    }
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x % 6];
}

__global__ void early_kernel(int* out, int stop) {
    __shared__ int values[64];
    if (blockIdx.x == stop) return;
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (stop < 0) {
        out[threadIdx.x] = -1;
        return;
    }
    out[blockIdx.x * 64 + threadIdx.x] = values[63 - threadIdx.x];
}

__global__ void poison_kernel(unsigned* out) {
    __shared__ unsigned never[64];
    unsigned local;
    if (threadIdx.x % 2) local = 1;
    __syncthreads();
    out[threadIdx.x] = never[threadIdx.x] ^ local;
}

__global__ void stride_kernel(const int* in, int* out, int n) {
    __shared__ unsigned bins[64];
    bins[threadIdx.x % 64] = 0;
    const unsigned stride = blockDim.x * gridDim.x;
    int sum = 0, last = -1;
    __syncthreads();
    for (int pass = 0; pass < 2; ++pass) {
        for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
            if (in[i] % 5 == pass) continue;
            atomicAdd(&bins[in[i] & 63], 1u + pass);
            sum = sum * 31 + in[i];
            last = i;
        }
        __syncthreads();
        if (pass == 0)
            for (size_t i = threadIdx.x; i < 64; i += gridDim.x * 16) sum ^= bins[i];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum + last + bins[threadIdx.x % 64];
}

#define FULL_MASK 0xffffffff
constexpr unsigned all_lanes = 0xffffffffu;

__global__ void shuffle_kernel(const int* in, int* out, int n) {
    __shared__ int sums[32];
    const int t = threadIdx.x, lane = t % 32, i = blockIdx.x * blockDim.x + t;
    int value = i < n ? in[i] : 0;
    for (int half = 16; half > 0; half /= 2) value += __shfl_down_sync(FULL_MASK, value, half);
    if (lane == 0) sums[t / 32] = value;
    __syncthreads();
    int other = __shfl_xor_sync(all_lanes, value ^ sums[0], 5, 8);
    const short low = __shfl_up_sync(~0u, short(value), lane / 4);
    if (n > 7)
        other = max(other, __shfl_sync(0xffffffff, other + t, lane + 3, 16));
    else
        other -= low;
    __syncwarp();
    if (i < n) out[i] = value + other * low;
}

__global__ void wide_shuffle_kernel(const float* in, double* out) {
    double value = in[threadIdx.x];
    for (int delta = 1; delta < 32; delta *= 2) {
        const double below = __shfl_up_sync(0xffffffff, value, delta);
        if (threadIdx.x % 32 >= delta) value += below;
    }
    out[threadIdx.x] = value;
}

static unsigned digest(const void* data, size_t bytes) {
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 16777619u;
    return hash;
}

template <class T, class Run>
static void show(const char* name, size_t count, Run run) {
    T* out = on_device(std::vector<T>(count, T(77)));
    run(out);
    CHECK_EQUAL(int(cudaGetLastError()), 0);
    const auto got = from_device(out, count);
    printf("%s %08x\n", name, digest(got.data(), count * sizeof(T)));
    cudaFree(out);
}

int main(int count, char** arguments) {
    use_arguments(count, arguments);
    const int n = 3000;
    std::vector<int> numbers(n + 1024);
    std::vector<float> fractions(n);
    for (int i = 0; i < n; ++i) numbers[i] = i * 2654435761u >> 7, fractions[i] = float(numbers[i]) / 1024;
    int* in = on_device(numbers);
    float* values = on_device(fractions);
    for (int threads : {256, 100, 33, 1}) {
        show<int>("tree", 12, [&](int* out) { tree_kernel<<<12, threads>>>(in, out, n); });
        show<int>("kept", n, [&](int* out) { kept_kernel<<<n / threads + 1, threads, threads * 4>>>(in, out, n); });
    }
    for (int threads : {256, 64, 2})
        show<int>("by_example", 8 * 256, [&](int* out) { by_example_kernel<<<8, threads>>>(in, out, n); });
    for (int rounds : {0, 5, 6, 12})
        show<int>("nested", 6 * TILE * TILE, [&](int* out) { nested_kernel<<<dim3(2, 3), dim3(TILE, TILE)>>>(out, rounds); });
    for (dim3 threads : {dim3(8, 8, 8), dim3(5, 3, 2), dim3(1, 7)})
        show<int>("do", 3 * 512, [&](int* out) { do_kernel<<<3, threads>>>(out, 5); });
    for (int steps : {0, 7}) show<int>("swap", 64, [&](int* out) { swap_kernel<<<1, 64>>>(out, steps); });
    show<int>("shadow", 64, [&](int* out) { shadow_kernel<<<1, 64>>>(out, 1); });
    show<int>("parameters", 256, [&](int* out) { parameters_kernel<<<4, 64>>>(in, out, n); });
    show<int>("template", 64, [&](int* out) { template_kernel<int, 32><<<2, 32>>>(in, out); });
    show<float>("template", 64, [&](float* out) { template_kernel<float, 16><<<2, 16>>>(values, out); });
    show<float>("stencil", 50 * 60, [&](float* out) {
        stencils::stencil_kernel<<<dim3(7, 8), dim3(TILE, TILE / 2)>>>(values, out, 50, 60);
    });
    show<int>("functions", 32, [&](int* out) { functions_kernel<<<1, 32>>>(out, 500); });
    show<int>("switch", 100, [&](int* out) { switch_kernel<<<1, 100>>>(out); });
    for (int stop : {1, -1}) show<int>("early", 256, [&](int* out) { early_kernel<<<4, 64>>>(out, stop); });
    for (int threads : {64, 200})
        for (int size : {0, 50, n})
            show<int>("stride", 3 * threads, [&](int* out) { stride_kernel<<<3, threads>>>(in, out, size); });
    show<int>("stride", 64, [&](int* out) { stride_kernel<<<1, 64>>>(in, out, n); });
    for (int threads : {256, 64, 32}) {
        show<int>("shuffle", n, [&](int* out) { shuffle_kernel<<<n / threads + 1, threads>>>(in, out, n); });
        show<double>("wide_shuffle", 256, [&](double* out) { wide_shuffle_kernel<<<1, threads>>>(values, out); });
    }
    show<int>("shuffle", n, [&](int* out) { shuffle_kernel<<<n / 100 + 1, 100>>>(in, out, n); });
    show<int>("shuffle", 7, [&](int* out) { shuffle_kernel<<<1, 40>>>(in, out, 7); });
    show<unsigned>("poison", 64, [&](unsigned* out) { poison_kernel<<<1, 64>>>(out); });
    return wrong_checks != 0;
}
