// Tiled matrix product: kernel and device functions take matrices as structs, by value.
#include <stdio.h>
#include <stdlib.h>

#define BLOCK_SIZE 16

typedef struct {
    int width;
    int height;
    int stride;
    float* elements;
} Matrix;

__device__ float GetElement(const Matrix A, int row, int col) { return A.elements[row * A.stride + col]; }

__device__ void SetElement(Matrix A, int row, int col, float value) { A.elements[row * A.stride + col] = value; }

__device__ Matrix GetSubMatrix(Matrix A, int row, int col) {
    Matrix Asub;
    Asub.width = BLOCK_SIZE;
    Asub.height = BLOCK_SIZE;
    Asub.stride = A.stride;
    Asub.elements = &A.elements[A.stride * BLOCK_SIZE * row + BLOCK_SIZE * col];
    return Asub;
}

__global__ void MatMulKernel(Matrix A, Matrix B, Matrix C) {
    int blockRow = blockIdx.y, blockCol = blockIdx.x;
    Matrix Csub = GetSubMatrix(C, blockRow, blockCol);
    float Cvalue = 0;
    int row = threadIdx.y, col = threadIdx.x;
    for (int m = 0; m < (A.width / BLOCK_SIZE); ++m) {
        Matrix Asub = GetSubMatrix(A, blockRow, m);
        Matrix Bsub = GetSubMatrix(B, m, blockCol);
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE + 1];  // padded
        As[row][col] = GetElement(Asub, row, col);
        Bs[row][col] = GetElement(Bsub, row, col);
        __syncthreads();
        for (int e = 0; e < BLOCK_SIZE; ++e) Cvalue += As[row][e] * Bs[e][col];
        __syncthreads();
    }
    SetElement(Csub, row, col, Cvalue);
}

int main(void) {
    const int n = 64;
    Matrix m[3];
    for (int k = 0; k < 3; k++) {
        m[k].width = m[k].height = m[k].stride = n;
        cudaMallocManaged(&m[k].elements, n * n * sizeof(float));
    }
    for (int i = 0; i < n * n; i++) {
        m[0].elements[i] = i % 7;
        m[1].elements[i] = i % 5;
    }
    dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
    dim3 dimGrid(m[1].width / dimBlock.x, m[0].height / dimBlock.y);
    MatMulKernel<<<dimGrid, dimBlock>>>(m[0], m[1], m[2]);
    if (cudaDeviceSynchronize() != cudaSuccess) return EXIT_FAILURE;
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) {
            float sum = 0;
            for (int k = 0; k < n; k++) sum += m[0].elements[r * n + k] * m[1].elements[k * n + c];
            if (sum != m[2].elements[r * n + c]) return EXIT_FAILURE;
        }
    return EXIT_SUCCESS;
}
