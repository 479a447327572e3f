// Every way to declare shared memory.
struct Particle {
    float x, y;
    int id;
};

__shared__ int of_the_file[32];

template <typename T>
struct SharedMemory {
    __device__ operator T*() {
        extern __shared__ __align__(16) unsigned char raw_memory[];
        return reinterpret_cast<T*>(raw_memory);
    }
};

template <typename T>
__device__ T* next_lane(T value) {
    __shared__ T lanes[32];
    __shared__ typename SharedMemory<T>::type* unused;
    lanes[threadIdx.x] = value;
    __syncthreads();
    return &lanes[(threadIdx.x + 1) % 32];
}
template <>
struct SharedMemory<float> {
    typedef float type;
};
template <>
struct SharedMemory<int> {
    typedef int type;
    __device__ operator int*() {
        extern __shared__ int words[];
        return words;
    }
};

__global__ void kinds(float* out) {
    const int t = threadIdx.x;
    __shared__ Particle particles[32];
    volatile __shared__ float last[32];
    static __shared__ unsigned long long int total;
    __shared__ alignas(16) float a[4][8], b[2][2][8], *rows[4];
    __shared__ float (*tile)[8];
    __shared__ struct Pair {
        int first, second;
    } pair, pairs[32];
    __shared__ union {
        unsigned bits;
        float value;
    } number;
    if (t == 0) {
        total = 0;
        number.value = 1.0f;
        for (int r = 0; r < 4; ++r) rows[r] = a[r];
        tile = a;
        pair.first = 3;
        pair.second = 4;
    }
    particles[t] = {float(t), 0, t};
    a[t / 8][t % 8] = t;
    b[t / 16][t / 8 % 2][t % 8] = 1;
    last[t] = t;
    of_the_file[t] = t;
    pairs[t] = Pair{t, -t};
    __syncthreads();
    atomicAdd(&total, (unsigned long long)particles[31 - t].id);
    int* words = SharedMemory<int>();
    words[t] = t;
    __syncthreads();
    float sum = rows[t / 8][t % 8] + tile[t / 8][t % 8] + last[31 - t] + of_the_file[t] + pairs[t].second;
    for (int i = 0; i < 32; ++i) sum += b[i / 16][i / 8 % 2][i % 8] + (i == 0 ? *next_lane(float(t)) : 0);
    out[t] = sum + total + words[31 - t] + (number.bits == 0x3f800000u) + pair.first * pair.second;
}

int main() {
    float* out;
    cudaMallocManaged(&out, 32 * sizeof(float));
    kinds<<<1, 32, 32 * sizeof(int)>>>(out);
    cudaDeviceSynchronize();
    for (int t = 0; t < 32; ++t) {
        const float sum = t + t + (31 - t) + t - t + 32 + (t + 1) % 32;
        if (out[t] != sum + 496 + (31 - t) + 1 + 12) return 1;
    }
    return 0;
}
