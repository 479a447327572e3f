// All-pairs forces, bodies staged tile by tile as float4 in shared memory.
#include <cmath>
#include <cstdio>

#define EPS2 0.01f

__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai)
{
    float3 r;
    r.x = bj.x - bi.x;
    r.y = bj.y - bi.y;
    r.z = bj.z - bi.z;
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + EPS2;
    float distSixth = distSqr * distSqr * distSqr;
    float invDistCube = 1.0f / sqrtf(distSixth);
    float s = bj.w * invDistCube;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}

extern __shared__ float4 shPosition[];

__device__ float3 tile_calculation(float4 myPosition, float3 accel)
{
    for (int i = 0; i < blockDim.x; i++) accel = bodyBodyInteraction(myPosition, shPosition[i], accel);
    return accel;
}

__global__ void calculate_forces(void *devX, void *devA, int N)
{
    float4 *globalX = (float4 *)devX;
    float4 *globalA = (float4 *)devA;
    float3 acc = {0.0f, 0.0f, 0.0f};
    int gtid = blockIdx.x * blockDim.x + threadIdx.x;
    float4 myPosition = globalX[gtid];
    for (int i = 0, tile = 0; i < N; i += blockDim.x, tile++) {
        int idx = tile * blockDim.x + threadIdx.x;
        shPosition[threadIdx.x] = globalX[idx];
        __syncthreads();
        acc = tile_calculation(myPosition, acc);
        __syncthreads();
    }
    float4 acc4 = {acc.x, acc.y, acc.z, 0.0f};
    globalA[gtid] = acc4;
}

int main()
{
    const int n = 128, p = 64;
    float4 *x, *a;
    cudaMallocManaged(&x, n * sizeof(float4));
    cudaMallocManaged(&a, n * sizeof(float4));
    for (int i = 0; i < n; i++) x[i] = make_float4(sinf(i), cosf(i), i * 0.01f, 1.0f);
    calculate_forces<<<n / p, p, p * sizeof(float4)>>>(x, a, n);
    cudaDeviceSynchronize();
    double momentum[3] = {0, 0, 0};
    for (int i = 0; i < n; i++) { momentum[0] += a[i].x; momentum[1] += a[i].y; momentum[2] += a[i].z; }
    for (double m : momentum) if (fabs(m) > 1e-2) { printf("%g\n", m); return 1; }
    return fabs(a[0].x) > 0 ? 0 : 1;
}
