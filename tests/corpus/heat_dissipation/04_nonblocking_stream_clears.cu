#include <utility>

#include "labs/heat_dissipation/lab.h"

__global__ void heat(const double *in, double *out, const double *k, size_t rows, size_t cols, unsigned long long *mx) {
    size_t idx = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (idx >= rows * cols) return;
    const size_t pitch = cols + 2, r = idx / cols + 1, c = idx % cols + 1;
    const double *up = in + (r - 1) * pitch + c, *me = up + pitch, *dn = me + pitch;
    double v = (up[0] + dn[0] + me[-1] + me[1]) * direct_weight + (up[-1] + up[1] + dn[-1] + dn[1]) * diagonal_weight;
    v = k[idx] * me[0] + (1.0 - k[idx]) * v;
    out[r * pitch + c] = v;
    if (c == 1) out[r * pitch + cols + 1] = v;
    if (c == cols) out[r * pitch] = v;
    atomicMax(mx, (unsigned long long)__double_as_longlong(fabs(v - *me)));
}

size_t heat_dissipation_scratch_bytes(size_t, size_t, size_t) { return 8; }

HeatState heat_dissipation(double *current, double *next, const double *conductivity, size_t rows, size_t columns,
                           double threshold, size_t max_iterations, void *scratch) {
    HeatState st{current, 0, 0};
    cudaStream_t side;
    CUDA_CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    while (st.iterations < max_iterations) {
        CUDA_CHECK(cudaMemsetAsync(scratch, 0, 8, side));
        heat<<<(unsigned)((rows * columns + 255) / 256), 256>>>(current, next, conductivity, rows, columns, (unsigned long long *)scratch);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&st.largest_change, scratch, 8, cudaMemcpyDeviceToHost));
        std::swap(current, next);
        ++st.iterations;
        st.field = current;
        if (st.largest_change < threshold) break;
    }
    CUDA_CHECK(cudaStreamSynchronize(side));
    CUDA_CHECK(cudaStreamDestroy(side));
    return st;
}
