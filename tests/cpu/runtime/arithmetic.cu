// Arithmetic device functions, and vector types.

#include <math_constants.h>

#include <climits>
#include <limits>

#include "checks.h"

__device__ int wrong_on_device = 0;

#define EXPECT(expression, value)                                                                      \
    do {                                                                                               \
        const auto got = (expression);                                                                 \
        const decltype(got) expected = (value);                                                        \
        if (memcmp(&got, &expected, sizeof(got)) == 0) break;                                          \
        printf("arithmetic.cu:%d: %s is %.9g (%#llx), not %.9g\n", __LINE__, #expression, double(got), \
               (unsigned long long)got, double(expected));                                             \
        atomicAdd(&wrong_on_device, 1);                                                                \
    } while (0)

__global__ void bits_kernel() {
    EXPECT(__popc(0xf0f00001u), 9);
    EXPECT(__popcll(~0ull), 64);
    EXPECT(__clz(0), 32);
    EXPECT(__clz(1), 31);
    EXPECT(__clz(-1), 0);
    EXPECT(__clzll(1ll << 40), 23);
    EXPECT(__ffs(0), 0);
    EXPECT(__ffs(8), 4);
    EXPECT(__ffsll(1ll << 40), 41);
    EXPECT(__brev(1u), 0x80000000u);
    EXPECT(__brev(0x12345678u), 0x1e6a2c48u);
    EXPECT(__brevll(1ull), 1ull << 63);
    EXPECT(__byte_perm(0x33221100u, 0x77665544u, 0x7531), 0x77553311u);
    EXPECT(__byte_perm(0x80u, 0u, 0x8), 0x80808080u);  // bit 3 of a selector is ignored, unlike in PTX
    EXPECT(__funnelshift_l(0x80000000u, 1u, 1), 3u);
    EXPECT(__funnelshift_r(0x2u, 1u, 1), 0x80000001u);
    EXPECT(__funnelshift_l(5u, 9u, 32), 9u);
    EXPECT(__funnelshift_lc(5u, 9u, 32), 5u);
    EXPECT(__fns(0b10110u, 0, 2), 2u);
    EXPECT(__fns(0b10110u, 4, -2), 2u);
    EXPECT(__fns(0b10110u, 0, 4), ~0u);
    EXPECT(__float_as_int(1.0f), 0x3f800000);
    EXPECT(__int_as_float(0x40000000), 2.0f);
    EXPECT(__uint_as_float(__float_as_uint(-3.5f)), -3.5f);
    EXPECT(__longlong_as_double(__double_as_longlong(0.1)), 0.1);
    EXPECT(__hiloint2double(__double2hiint(0.1), __double2loint(0.1)), 0.1);
}

__global__ void integers_kernel() {
    EXPECT(min(3, -4), -4);
    EXPECT(max(3u, 4u), 4u);
    EXPECT(max(-1, 4u), 0xffffffffu);
    EXPECT(min(3ll, 4ll), 3ll);
    EXPECT(max(1.5f, 2.5f), 2.5f);
    EXPECT(min(1.5, 2.5f), 1.5);
    EXPECT(min(size_t{5}, size_t{6}), size_t{5});
    EXPECT(__mul24(0x1000003, 2), 6);
    EXPECT(__mul24(-3, 5), -15);
    EXPECT(__umul24(0xff000005u, 3u), 15u);
    EXPECT(__mulhi(1 << 30, 8), 2);
    EXPECT(__mulhi(-1, 1), -1);
    EXPECT(__umulhi(0x80000000u, 4u), 2u);
    EXPECT(__umul64hi(1ull << 63, 6ull), 3ull);
    EXPECT(__mul64hi(-1ll, 1ll), -1ll);
    EXPECT(__sad(3, -4, 10u), 17u);
    EXPECT(__usad(3u, 9u, 1u), 7u);
    EXPECT(__hadd(INT_MAX, INT_MAX), INT_MAX);
    EXPECT(__rhadd(1, 2), 2);
    EXPECT(__dp4a(0x01020304, 0x01010101, 5), 15);
    EXPECT(__dp4a(int(0xffffffff), 0x01010101, 0), -4);
    EXPECT(__dp4a(0xffffffffu, 0x01010101u, 0u), 1020u);
    EXPECT(__vadd4(0xff010203u, 0x01010101u), 0x00020304u);
    EXPECT(__vaddus4(0xff7f0203u, 0x01010101u), 0xff800304u);
    EXPECT(__vaddss4(0x7f800000u, 0x01ff0000u), 0x7f800000u);
    EXPECT(__vsubus4(0x01050000u, 0x02030000u), 0x00020000u);
    EXPECT(__vcmpeq4(0x01020304u, 0x01000300u), 0xff00ff00u);
    EXPECT(__vcmpgtu4(0xff020304u, 0x01050300u), 0xff0000ffu);
    EXPECT(__vcmpgts4(0xff020304u, 0x01050300u), 0x000000ffu);
    EXPECT(__vminu4(0xff020304u, 0x01050300u), 0x01020300u);
    EXPECT(__vmaxs4(0xff020304u, 0x01050300u), 0x01050304u);
    EXPECT(__vabsdiffu4(0xff020304u, 0x01050300u), 0xfe030004u);
    EXPECT(__vsadu4(0xff020304u, 0x01050300u), 254u + 3 + 4);
    EXPECT(__vavgu4(0xff010203u, 0xff020203u), 0xff020203u);
    EXPECT(__vseteq4(0x01020304u, 0x01000300u), 0x01000100u);
    EXPECT(__vadd2(0xffff0001u, 0x00010001u), 0x00000002u);
    EXPECT(__vaddus2(0xffff0001u, 0x00010001u), 0xffff0002u);
    EXPECT(__vneg4(0x01ff0080u), 0xff010080u);
    const int largest = int(gridDim.x) * INT_MAX;
    EXPECT(largest + 1 < largest, true);  // signed overflow wraps
}

__global__ void conversions_kernel() {
    EXPECT(__float2int_rn(2.5f), 2);
    EXPECT(__float2int_rn(3.5f), 4);
    EXPECT(__float2int_rz(-2.7f), -2);
    EXPECT(__float2int_ru(2.1f), 3);
    EXPECT(__float2int_rd(-2.1f), -3);
    EXPECT(__float2int_rz(1e20f), INT_MAX);
    EXPECT(__float2int_rz(-1e20f), INT_MIN);
    EXPECT(__float2int_rz(CUDART_NAN_F), 0);
    EXPECT(__float2uint_rz(-5.0f), 0u);
    EXPECT(__float2uint_rn(4e9f), 4000000000u);
    EXPECT(__float2uint_rz(1e20f), UINT_MAX);
    EXPECT(__float2ll_rn(1e10f), 10000000000ll);
    EXPECT(__double2int_rn(-0.5), 0);
    EXPECT(__double2ull_rz(1e19), 10000000000000000000ull);
    EXPECT(__double2float_rn(0.1), 0.1f);
    EXPECT(__double2float_rd(0.1), std::nextafterf(0.1f, 0.0f));
    EXPECT(__double2float_ru(0.1), 0.1f);
    EXPECT(__double2float_rz(-0.1), -std::nextafterf(0.1f, 0.0f));
    EXPECT(__int2float_rn(16777217), 16777216.0f);
    EXPECT(__int2float_ru(16777217), 16777218.0f);
    EXPECT(__uint2float_rn(~0u), 4294967296.0f);
    EXPECT(__uint2float_rz(~0u), 4294967040.0f);
    EXPECT(__ll2double_rn(1ll << 60), 1152921504606846976.0);
}

__global__ void floats_kernel() {
    EXPECT(__fadd_rn(1.0f, 1e-8f), 1.0f);
    EXPECT(__fadd_ru(1.0f, 1e-8f), std::nextafterf(1.0f, 2.0f));
    EXPECT(__dadd_ru(1.0, 1e-30), std::nextafter(1.0, 2.0));
    EXPECT(__dsub_rz(1.0, 1e-30), std::nextafter(1.0, 0.0));
    EXPECT(__dmul_rd(1.0 / 3, 3.0), std::nextafter(1.0, 0.0));
    EXPECT(__ddiv_ru(1.0, 3.0), std::nextafter(1.0 / 3, 1.0));
    EXPECT(__dsqrt_rd(2.0), std::nextafter(std::sqrt(2.0), 0.0));
    EXPECT(__ll2float_rz(-16777217), -16777216.0f);
    EXPECT(__ull2double_ru((1ull << 53) + 1), double((1ull << 53) + 2));
    EXPECT(__vsetlts4(0x00ff00ff, 0), 0x00010001u);
    EXPECT(__fadd_rd(1.0f, -1e-8f), std::nextafterf(1.0f, 0.0f));
    EXPECT(__fmul_rz(1.1f, 1.1f) <= double(1.1f) * 1.1f, true);
    EXPECT(__fmul_ru(1.1f, 1.1f) >= double(1.1f) * 1.1f, true);
    EXPECT(__fdiv_rn(1.0f, 3.0f), 1.0f / 3.0f);
    EXPECT(__fmaf_rn(1e8f, 1e8f, -1e16f), fmaf(1e8f, 1e8f, -1e16f));
    EXPECT(__fma_rn(3.0, 4.0, 5.0), 17.0);
    EXPECT(__fsqrt_rn(2.0f), sqrtf(2.0f));
    EXPECT(__frcp_rn(4.0f), 0.25f);
    EXPECT(__saturatef(-1.0f), 0.0f);
    EXPECT(__saturatef(0.25f), 0.25f);
    EXPECT(__saturatef(9.0f), 1.0f);
    EXPECT(__saturatef(CUDART_NAN_F), 0.0f);
    EXPECT(rsqrtf(4.0f), 0.5f);
    EXPECT(rsqrt(16.0), 0.25);
    EXPECT(__fdividef(1.0f, 4.0f), 0.25f);
    EXPECT(fabsf(__expf(1.0f) - 2.7182818f) < 1e-5f, true);
    EXPECT(fabsf(__logf(2.7182818f) - 1.0f) < 1e-5f, true);
    EXPECT(fabsf(__powf(2.0f, 10.0f) - 1024.0f) < 1e-2f, true);
    EXPECT(fabsf(sinpif(0.5f) - 1.0f) < 1e-6f, true);
    float sine = 0, cosine = 0;
    __sincosf(0.0f, &sine, &cosine);
    EXPECT(sine, 0.0f);
    EXPECT(cosine, 1.0f);
    sincosf(0.0f, &sine, &cosine);
    EXPECT(cosine, 1.0f);
    EXPECT(fminf(CUDART_NAN_F, 1.0f), 1.0f);
    EXPECT(isnan(CUDART_NAN_F) && isinf(CUDART_INF_F), true);
    EXPECT(abs(-1.5f), 1.5f);
    EXPECT(norm3df(2, 3, 6), 7.0f);
    EXPECT(normcdf(0.0), 0.5);
}

__global__ void loads_kernel(const float4* in, float4* out, int* place) {
    const float4 value = __ldg(in);
    __stcs(out, make_float4(value.w, value.z, value.y, value.x));
    __stcg(place, __ldcs(place) + __ldcg(place));
    EXPECT(clock64() > 0, true);
    EXPECT(clock() >= 0, true);
}

static void test_vector_types() {
    CHECK(sizeof(char4) == 4 && alignof(char4) == 4 && sizeof(char3) == 3 && sizeof(uchar2) == 2);
    CHECK(sizeof(short4) == 8 && alignof(short4) == 8 && sizeof(ushort3) == 6);
    CHECK(sizeof(int2) == 8 && alignof(int2) == 8 && sizeof(int3) == 12 && alignof(int3) == 4);
    CHECK(sizeof(uint4) == 16 && alignof(uint4) == 16 && alignof(float4) == 16 && alignof(float2) == 8);
    CHECK(sizeof(longlong2) == 16 && alignof(longlong2) == 16 && sizeof(ulonglong4) == 32);
    CHECK(sizeof(double2) == 16 && alignof(double2) == 16 && sizeof(double3) == 24 && sizeof(double4) == 32);
    const dim3 size(3, 4);
    CHECK(size.x == 3 && size.y == 4 && size.z == 1);
    const uint3 same = size;
    CHECK(same.y == 4);
    const float3 three = make_float3(1, 2, 3);
    const float2 two{4, 5};
    CHECK(three.z == 3 && two.y == 5 && make_int4(1, 2, 3, 4).w == 4 && make_uchar4(1, 2, 3, 255).w == 255);
}

int main(int count, char** arguments) {
    use_arguments(count, arguments);
    bits_kernel<<<1, 1>>>();
    integers_kernel<<<1, 1>>>();
    conversions_kernel<<<1, 1>>>();
    floats_kernel<<<1, 1>>>();
    float4* in = on_device(std::vector<float4>{{1, 2, 3, 4}});
    float4* out = on_device(std::vector<float4>(1));
    int* place = on_device(std::vector<int>{21});
    loads_kernel<<<1, 1>>>(in, out, place);
    CHECK_EQUAL(from_device(out).x, 4.0f);
    CHECK_EQUAL(from_device(place), 42);
    test_vector_types();
    int wrong = 0;
    cudaMemcpyFromSymbol(&wrong, wrong_on_device, sizeof(int));
    return wrong + wrong_checks != 0;
}
