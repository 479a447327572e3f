#include "labs/smoothing_filter/lab.h"

#define FILTER_RADIUS 2
#define IN_TILE_DIM 32
#define OUT_TILE_DIM ((IN_TILE_DIM) - 2*(FILTER_RADIUS))
__constant__ float F_c[2*FILTER_RADIUS+1][2*FILTER_RADIUS+1];

__global__ void convolution_tiled_2D_const_mem_kernel(const float *N, float *P, int width, int height) {
    int col = blockIdx.x*OUT_TILE_DIM + threadIdx.x;
    int row = blockIdx.y*OUT_TILE_DIM + threadIdx.y;
    //loading input tile
    __shared__ float N_s[IN_TILE_DIM][IN_TILE_DIM];
    if(row < height + 2*FILTER_RADIUS && col < width + 2*FILTER_RADIUS) {
        N_s[threadIdx.y][threadIdx.x] = N[row*(width + 2*FILTER_RADIUS) + col];
    } else {
        N_s[threadIdx.y][threadIdx.x] = 0.0;
    }
    __syncthreads();
    // turning off the threads at the edges of the block
    if(row < height && col < width && threadIdx.x < OUT_TILE_DIM && threadIdx.y < OUT_TILE_DIM) {
        float Pvalue = 0.0f;
        for(int fRow = 0; fRow < 2*FILTER_RADIUS+1; fRow++) {
            for(int fCol = 0; fCol < 2*FILTER_RADIUS+1; fCol++) {
                Pvalue += F_c[fRow][fCol]*N_s[threadIdx.y+fRow][threadIdx.x+fCol];
            }
        }
        P[row*width + col] = Pvalue;
    }
}

void smoothing_filter_prepare(int, int, const float *filter) {
    CUDA_CHECK(cudaMemcpyToSymbol(F_c, filter, sizeof(F_c)));
}

void smoothing_filter(const float *N, float *P, int width, int height, const float *, void *) {
    dim3 dimBlock(IN_TILE_DIM, IN_TILE_DIM);
    dim3 dimGrid((width - 1)/OUT_TILE_DIM + 1, (height - 1)/OUT_TILE_DIM + 1);
    convolution_tiled_2D_const_mem_kernel<<<dimGrid, dimBlock>>>(N, P, width, height);
    CUDA_CHECK(cudaGetLastError());
}
