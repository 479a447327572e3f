#include "labs/vector_add/lab.h"

/* Homework 2, "one kernel for all operations" */

typedef float (*binary_op)(float, float);

enum operation { OP_ADD, OP_SUB, OP_MUL };

__device__ float op_add(float x, float y) { return x + y; }
__device__ float op_sub(float x, float y) { return x - y; }
__device__ float op_mul(float x, float y) { return x * y; }

__global__ void apply(const float *x, const float *y, float *z, size_t n, enum operation which)
{
    binary_op f;
    switch (which) {
    case OP_ADD: f = &op_add; break;
    case OP_SUB: f = &op_sub; break;
    default:     f = &op_mul; break;
    }

    size_t i, step;
    step = (size_t)blockDim.x * gridDim.x;
    for (i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        z[i] = (*f)(x[i], y[i]);
}

void vector_add(const float *a, const float *b, float *out, size_t n, void *scratch)
{
    apply<<<120, 320>>>(a, b, out, n, OP_ADD);
    CUDA_CHECK(cudaGetLastError());
    (void) scratch;
}
