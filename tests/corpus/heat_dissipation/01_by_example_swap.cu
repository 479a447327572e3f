#include <algorithm>
#include "labs/heat_dissipation/lab.h"

#define HANDLE_ERROR( err ) CUDA_CHECK( err )

struct DataBlock {
    double          *dev_inSrc;
    double          *dev_outSrc;
    const double    *dev_constSrc;
    double          *dev_change;
    size_t          rows, columns;
};

__global__ void blend_kernel( double *outSrc, const double *inSrc, const double *speed,
                              double *change, size_t rows, size_t columns ) {
    // map from threadIdx/BlockIdx to pixel position
    size_t x = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    size_t y = threadIdx.y + (size_t)blockIdx.y * blockDim.y;
    if (x >= columns || y >= rows) return;
    size_t width = columns + 2;
    size_t offset = (x + 1) + (y + 1) * width;

    size_t left = offset - 1;
    size_t right = offset + 1;
    size_t top = offset - width;
    size_t bottom = offset + width;

    double  s = speed[x + y * columns],
            direct = inSrc[top] + inSrc[bottom] + inSrc[left] + inSrc[right],
            diagonal = inSrc[top - 1] + inSrc[top + 1] + inSrc[bottom - 1] + inSrc[bottom + 1],
            value = s * inSrc[offset] +
                    (1 - s) * (direct_weight * direct + diagonal_weight * diagonal);
    outSrc[offset] = value;
    change[x + y * columns] = fabs( value - inSrc[offset] );
}

__global__ void copy_mirror_kernel( double *ptr, size_t rows, size_t columns ) {
    size_t y = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    if (y < rows) {
        ptr[(y + 1) * (columns + 2)] = ptr[(y + 1) * (columns + 2) + columns];
        ptr[(y + 1) * (columns + 2) + columns + 1] = ptr[(y + 1) * (columns + 2) + 1];
    }
}

__global__ void max_kernel( double *change, size_t n ) {
    __shared__ double cache[512];
    double m = 0;
    for (size_t i = threadIdx.x; i < n; i += blockDim.x)
        m = max( m, change[i] );
    cache[threadIdx.x] = m;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (threadIdx.x < i)
            cache[threadIdx.x] = max( cache[threadIdx.x], cache[threadIdx.x + i] );
        __syncthreads();
        i /= 2;
    }
    if (threadIdx.x == 0)
        change[0] = cache[0];
}

size_t heat_dissipation_scratch_bytes( size_t rows, size_t columns, size_t ) {
    return rows * columns * sizeof( double );
}

HeatState heat_dissipation( double *current, double *next, const double *conductivity, size_t rows,
                            size_t columns, double threshold, size_t max_iterations, void *scratch ) {
    DataBlock d = { current, next, conductivity, (double*)scratch, rows, columns };
    // 64 rows a block, so that 65535 blocks are enough for 4 million of them
    dim3    threads(8,64);
    dim3    blocks((columns + 7) / 8, (rows + 63) / 64);
    HeatState result = { current, 0, 0 };
    for (size_t i=0; i<max_iterations; i++) {
        blend_kernel<<<blocks,threads>>>( d.dev_outSrc, d.dev_inSrc, d.dev_constSrc, d.dev_change, d.rows, d.columns );
        copy_mirror_kernel<<<(rows + 127) / 128,128>>>( d.dev_outSrc, rows, columns );
        max_kernel<<<1,512>>>( d.dev_change, rows * columns );
        HANDLE_ERROR( cudaGetLastError() );
        HANDLE_ERROR( cudaMemcpy( &result.largest_change, d.dev_change, sizeof( double ),
                                  cudaMemcpyDeviceToHost ) );
        result.field = d.dev_outSrc;
        result.iterations = i + 1;
        if (result.largest_change < threshold)
            break;
        std::swap( d.dev_inSrc, d.dev_outSrc );
    }
    return result;
}
