// The functions of cuda_fp16.h and cuda_bf16.h, for all values or for many pairs and triples of them: `float16 FOLDER`
// writes a file with the results of each function, 64 bits for each case, and files with the cases' inputs.
// test_float16.py compares the results with exact ones. NVIDIA's headers also compile without nvcc; then the program
// calls their host functions.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

using Bits = unsigned long long;

__host__ __device__ Bits bits(__half value) { return __half_as_ushort(value); }
__host__ __device__ Bits bits(__nv_bfloat16 value) { return __bfloat16_as_ushort(value); }
template <class Pair>
__host__ __device__ Bits bits(Pair value) {
    return bits(value.y) << 16 | bits(value.x);
}
__host__ __device__ Bits bits(float value) {
    unsigned word;
    memcpy(&word, &value, sizeof word);
    return word;
}
__host__ __device__ Bits bits_of(double value) {
    Bits word;
    memcpy(&word, &value, sizeof word);
    return word;
}
__host__ __device__ Bits bits(float2 value) { return bits(value.x) << 32 | bits(value.y); }
__host__ __device__ Bits bits(bool value) { return value; }
__host__ __device__ Bits bits(signed char value) { return Bits(value); }
__host__ __device__ Bits bits(unsigned char value) { return value; }
__host__ __device__ Bits bits(short value) { return Bits(value); }
__host__ __device__ Bits bits(unsigned short value) { return value; }
__host__ __device__ Bits bits(int value) { return Bits(value); }
__host__ __device__ Bits bits(unsigned value) { return value; }
__host__ __device__ Bits bits(long long value) { return Bits(value); }
__host__ __device__ Bits bits(unsigned long long value) { return value; }

__host__ __device__ __half from_bits(unsigned word, __half) { return __ushort_as_half((unsigned short)word); }
__host__ __device__ __nv_bfloat16 from_bits(unsigned word, __nv_bfloat16) {
    return __ushort_as_bfloat16((unsigned short)word);
}
__host__ __device__ __half2 pair_of(__half x, __half y) { return __half2(x, y); }
__host__ __device__ __nv_bfloat162 pair_of(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }

__host__ __device__ Bits mixed(Bits word) {
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ word >> 27) * 0x94d049bb133111ebull;
    return word ^ word >> 31;
}

/// Return any 16 bits; one result in four is a zero, a power of two or another boundary value.
__host__ __device__ unsigned choose(Bits random) {
    const unsigned word = unsigned(random & 0xffff);
    if (random >> 16 & 3) return word;
    const unsigned edges[] = {0x0000, 0x0001, 0x03ff, 0x0400, 0x007f, 0x0080, 0x3c00, 0x3bff,
                              0x3c01, 0x3f80, 0x3f81, 0x7bff, 0x7c00, 0x7f7f, 0x7f80, 0x7fff};
    return edges[word & 15] | (word & 0x8000);
}

template <class T>
struct Inputs {
    T a, b, c;
    __host__ __device__ explicit Inputs(unsigned i) {
        a = from_bits(i < 65536 ? i : choose(mixed(i)), T());
        b = from_bits(choose(mixed(i + (1ull << 32))), T());
        c = from_bits(choose(mixed(i + (2ull << 32))), T());
    }
};

/// Return 64 random bits of any magnitude, for every second case near the midpoint between two numbers of a format.
__host__ __device__ Bits any_word(unsigned i) {
    const Bits random = mixed(i), length = mixed(i + (3ull << 32));
    if (i & 1) return random >> (length & 63);
    const unsigned kept = i & 2 ? 9 : 12;
    const Bits middle = (1ull << (kept - 1)) | (random & ((1ull << (kept - 1)) - 1)) | 1;
    return (middle << length % (65 - kept)) + (random >> 20) % 3 - 1;
}
__host__ __device__ float any_float(unsigned i) {
    const unsigned word = unsigned(mixed(i));
    // Half of them are within the range of both formats; the others have any exponent.
    const unsigned bits = i & 1 ? word : (word & 0x807fffff) | (96 + (word >> 23 & 63)) << 23;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
__host__ __device__ double any_double(unsigned i) {
    const Bits word = mixed(i);
    Bits bits = i & 1 ? word : (word & 0x800fffffffffffffull) | (1023 - 40 + (word >> 52 & 63)) << 52;
    if (i & 2) bits &= ~((1ull << 40) - 1);  // ties
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#ifdef __CUDACC__
template <class Function>
__global__ void call_kernel(Bits* results, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) results[i] = Function::call(i);
}
template <class Function>
std::vector<Bits> results_of(unsigned count) {
    std::vector<Bits> results(count);
    Bits* device = nullptr;
    cudaMalloc(&device, count * sizeof(Bits));
    call_kernel<Function><<<(count + 255) / 256, 256>>>(device, count);
    cudaMemcpy(results.data(), device, count * sizeof(Bits), cudaMemcpyDeviceToHost);
    cudaFree(device);
    return results;
}
#else
template <class Function>
std::vector<Bits> results_of(unsigned count) {
    std::vector<Bits> results(count);
    for (unsigned i = 0; i < count; ++i) results[i] = Function::call(i);
    return results;
}
#endif

struct Entry {
    std::string name;
    unsigned count;
    std::vector<Bits> (*results)(unsigned count);
};
std::vector<Entry>& entries() {
    static std::vector<Entry> list;
    return list;
}
bool add(const char* name, unsigned count, std::vector<Bits> (*results)(unsigned)) {
    entries().push_back({name, count, results});
    return true;
}

#ifdef __CUDACC__
#define ON_DEVICE(...) __VA_ARGS__
#else
#define ON_DEVICE(...)
#endif

constexpr unsigned every = 65536, many = 1 << 17;  // numbers of cases: all 16-bit numbers, or many combinations

// In the expression, `a`, `b` and `c` are numbers of the type, `p`, `q` and `r` pairs; `i` is the number of the case.
#define FUNCTION(type, name, count, expression)                                 \
    struct type##_##name##_call {                                               \
        static __device__ Bits call(unsigned i) {                               \
            const Inputs<type> in(i);                                           \
            const type a = in.a, b = in.b, c = in.c;                            \
            const auto p = pair_of(a, b), q = pair_of(b, c), r = pair_of(c, a); \
            (void)a, (void)b, (void)c, (void)p, (void)q, (void)r;               \
            return bits(expression);                                            \
        }                                                                       \
    };                                                                          \
    static const bool type##_##name##_added = add(#type "." #name, count, results_of<type##_##name##_call>);

#define MATH(type, name)                       \
    FUNCTION(type, h##name, every, h##name(a)) \
    FUNCTION(type, h2##name, every, h2##name(p))
#define COMPARE(type, name)                                \
    FUNCTION(type, h##name, many, __h##name(a, b))         \
    FUNCTION(type, h##name##2, many, __h##name##2(p, q))   \
    FUNCTION(type, hb##name##2, many, __hb##name##2(p, q)) \
    FUNCTION(type, h##name##2_mask, many, __h##name##2_mask(p, q))
#define BINARY(type, name, name2)              \
    FUNCTION(type, name, many, __##name(a, b)) \
    FUNCTION(type, name2, many, __##name2(p, q))
#define TERNARY(type, name, name2)                \
    FUNCTION(type, name, many, __##name(a, b, c)) \
    FUNCTION(type, name2, many, __##name2(p, q, r))
#define ROUNDED(type, word, integer, from, cpp)                                              \
    ON_DEVICE(FUNCTION(type, integer##_of_rn, every, __##word##2##integer##_rn(a)))          \
    FUNCTION(type, integer##_of_rz, every, __##word##2##integer##_rz(a))                     \
    ON_DEVICE(FUNCTION(type, integer##_of_ru, every, __##word##2##integer##_ru(a)))          \
    ON_DEVICE(FUNCTION(type, integer##_of_rd, every, __##word##2##integer##_rd(a)))          \
    FUNCTION(type, of_##integer##_rn, many, __##integer##2##word##_rn(cpp(from)))            \
    ON_DEVICE(FUNCTION(type, of_##integer##_rz, many, __##integer##2##word##_rz(cpp(from)))) \
    ON_DEVICE(FUNCTION(type, of_##integer##_ru, many, __##integer##2##word##_ru(cpp(from)))) \
    ON_DEVICE(FUNCTION(type, of_##integer##_rd, many, __##integer##2##word##_rd(cpp(from))))

using ushort_t = unsigned short;
using uint_t = unsigned;
using ll_t = long long;
using ull_t = unsigned long long;

#define EVERY(type, word)                                                           \
    ROUNDED(type, word, short, any_word(i), short)                                  \
    ROUNDED(type, word, ushort, any_word(i), ushort_t)                              \
    ROUNDED(type, word, int, any_word(i), int)                                      \
    ROUNDED(type, word, uint, any_word(i), uint_t)                                  \
    ROUNDED(type, word, ll, any_word(i), ll_t)                                      \
    ROUNDED(type, word, ull, any_word(i), ull_t)                                    \
    FUNCTION(type, char_of, every, __##word##2char_rz(a))                           \
    FUNCTION(type, uchar_of, every, __##word##2uchar_rz(a))                         \
    FUNCTION(type, float_of, every, __##word##2float(a))                            \
    FUNCTION(type, of_float, many, __float2##word(any_float(i)))                    \
    FUNCTION(type, of_float_rn, many, __float2##word##_rn(any_float(i)))            \
    FUNCTION(type, of_float_rz, many, __float2##word##_rz(any_float(i)))            \
    FUNCTION(type, of_float_ru, many, __float2##word##_ru(any_float(i)))            \
    FUNCTION(type, of_float_rd, many, __float2##word##_rd(any_float(i)))            \
    FUNCTION(type, of_double, many, __double2##word(any_double(i)))                 \
    FUNCTION(type, of_same_float, every, __float2##word(__##word##2float(a)))       \
    FUNCTION(type, lowhigh, every, __lowhigh2highlow(p))                            \
    FUNCTION(type, low, every, __low2float(p))                                      \
    FUNCTION(type, high, every, __high2float(p))                                    \
    FUNCTION(type, neg, every, __hneg(a))                                           \
    FUNCTION(type, neg2, every, __hneg2(p))                                         \
    FUNCTION(type, abs, every, __habs(a))                                           \
    FUNCTION(type, abs2, every, __habs2(p))                                         \
    FUNCTION(type, isnan, every, __hisnan(a))                                       \
    FUNCTION(type, isnan2, every, __hisnan2(p))                                     \
    FUNCTION(type, isinf, every, __hisinf(a))                                       \
    FUNCTION(type, as_bool, every, bool(a))                                         \
    FUNCTION(type, as_char, every, (signed char)(a))                                \
    FUNCTION(type, as_long, every, (long long)(long)(a))                            \
    FUNCTION(type, as_unsigned_long, every, (unsigned long long)(unsigned long)(a)) \
    BINARY(type, hadd_rn, hadd2_rn)                                                 \
    BINARY(type, hsub_rn, hsub2_rn)                                                 \
    BINARY(type, hmul_rn, hmul2_rn)                                                 \
    BINARY(type, hadd, hadd2)                                                       \
    BINARY(type, hsub, hsub2)                                                       \
    BINARY(type, hmul, hmul2)                                                       \
    BINARY(type, hadd_sat, hadd2_sat)                                               \
    BINARY(type, hsub_sat, hsub2_sat)                                               \
    BINARY(type, hmul_sat, hmul2_sat)                                               \
    BINARY(type, hdiv, h2div)                                                       \
    BINARY(type, hmax, hmax2)                                                       \
    BINARY(type, hmin, hmin2)                                                       \
    BINARY(type, hmax_nan, hmax2_nan)                                               \
    BINARY(type, hmin_nan, hmin2_nan)                                               \
    ON_DEVICE(TERNARY(type, hfma, hfma2))                                           \
    ON_DEVICE(TERNARY(type, hfma_sat, hfma2_sat))                                   \
    ON_DEVICE(TERNARY(type, hfma_relu, hfma2_relu))                                 \
    ON_DEVICE(FUNCTION(type, hcmadd, many, __hcmadd(p, q, r)))                      \
    FUNCTION(type, negated, many, -a)                                               \
    FUNCTION(type, divided, many, a / b)                                            \
    FUNCTION(type, equal, many, a == b)                                             \
    FUNCTION(type, unequal, many, a != b)                                           \
    FUNCTION(type, less, many, a < b)                                               \
    FUNCTION(type, pairs_unequal, many, p != q)                                     \
    FUNCTION(type, pairs_less, many, p <= q)                                        \
    COMPARE(type, eq)                                                               \
    COMPARE(type, ne)                                                               \
    COMPARE(type, lt)                                                               \
    COMPARE(type, le)                                                               \
    COMPARE(type, gt)                                                               \
    COMPARE(type, ge)                                                               \
    COMPARE(type, equ)                                                              \
    COMPARE(type, neu)                                                              \
    COMPARE(type, ltu)                                                              \
    COMPARE(type, leu)                                                              \
    COMPARE(type, gtu)                                                              \
    COMPARE(type, geu)                                                              \
    ON_DEVICE(MATH(type, ceil))                                                     \
    ON_DEVICE(MATH(type, floor))                                                    \
    ON_DEVICE(MATH(type, rint))                                                     \
    ON_DEVICE(MATH(type, trunc))                                                    \
    ON_DEVICE(MATH(type, sqrt))                                                     \
    ON_DEVICE(MATH(type, rsqrt))                                                    \
    ON_DEVICE(MATH(type, rcp))                                                      \
    ON_DEVICE(MATH(type, exp))                                                      \
    ON_DEVICE(MATH(type, exp2))                                                     \
    ON_DEVICE(MATH(type, exp10))                                                    \
    ON_DEVICE(MATH(type, log))                                                      \
    ON_DEVICE(MATH(type, log2))                                                     \
    ON_DEVICE(MATH(type, log10))                                                    \
    ON_DEVICE(MATH(type, sin))                                                      \
    ON_DEVICE(MATH(type, cos))                                                      \
    ON_DEVICE(MATH(type, tanh))                                                     \
    ON_DEVICE(MATH(type, tanh_approx))

#define INPUTS(type)                                   \
    FUNCTION(type, a, many, a)                         \
    FUNCTION(type, b, many, b)                         \
    FUNCTION(type, c, many, c)                         \
    FUNCTION(type, word, many, (long long)any_word(i)) \
    FUNCTION(type, float, many, any_float(i))          \
    FUNCTION(type, double, many, bits_of(any_double(i)))

INPUTS(__half)
INPUTS(__nv_bfloat16)
EVERY(__half, half)
EVERY(__nv_bfloat16, bfloat16)
FUNCTION(__half, of_bfloat16, every, __half(from_bits(i, __nv_bfloat16())))
FUNCTION(__nv_bfloat16, of_half, every, __nv_bfloat16(from_bits(i, __half())))

int main(int count, char** arguments) {
    if (count < 2) return 2;
    for (const Entry& entry : entries()) {
        const auto results = entry.results(entry.count);
        FILE* file = fopen((std::string(arguments[1]) + "/" + entry.name).c_str(), "wb");
        if (!file) return 1;
        fwrite(results.data(), sizeof(Bits), results.size(), file);
        fclose(file);
    }
}
