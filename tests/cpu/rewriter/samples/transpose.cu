// Transposes that are launched from a table of kernels.
#include <cstdio>
#include <vector>

constexpr int TILE_DIM = 32;
constexpr int BLOCK_ROWS = 8;

__global__ void naive(float *odata, const float *idata)
{
  int x = blockIdx.x * TILE_DIM + threadIdx.x;
  int y = blockIdx.y * TILE_DIM + threadIdx.y;
  int width = gridDim.x * TILE_DIM;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    odata[x*width + (y+j)] = idata[(y+j)*width + x];
}

template <int padding>
__global__ void coalesced(float *odata, const float *idata)
{
  __shared__ float tile[TILE_DIM][TILE_DIM + padding];
  int x = blockIdx.x * TILE_DIM + threadIdx.x;
  int y = blockIdx.y * TILE_DIM + threadIdx.y;
  int width = gridDim.x * TILE_DIM;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
     tile[threadIdx.y+j][threadIdx.x] = idata[(y+j)*width + x];
  __syncthreads();
  x = blockIdx.y * TILE_DIM + threadIdx.x;  // transpose block offset
  y = blockIdx.x * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
     odata[(y+j)*width + x] = tile[threadIdx.x][threadIdx.y + j];
}

typedef void (*Kernel)(float *, const float *);
struct Variant { const char *name; Kernel kernel; };

int main()
{
  const int nx = 64, bytes = nx*nx*sizeof(float);
  dim3 dimGrid(nx/TILE_DIM, nx/TILE_DIM, 1);
  dim3 dimBlock(TILE_DIM, BLOCK_ROWS, 1);
  std::vector<float> in(nx*nx), out(nx*nx);
  for (int i = 0; i < nx*nx; i++) in[i] = i;
  float *d_in, *d_out;
  cudaMalloc(&d_in, bytes);
  cudaMalloc(&d_out, bytes);
  cudaMemcpy(d_in, in.data(), bytes, cudaMemcpyHostToDevice);
  const Variant variants[] = {{"naive", naive}, {"conflicts", coalesced<0>}, {"padded", &coalesced<1>}};
  for (int v = 0; v < 3; v++) {
    cudaMemset(d_out, 0, bytes);
    variants[v].kernel<<<dimGrid, dimBlock>>>(d_out, d_in);
    cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost);
    for (int j = 0; j < nx; j++)
      for (int i = 0; i < nx; i++)
        if (out[j*nx + i] != in[i*nx + j]) { printf("%s is wrong\n", variants[v].name); return 1; }
  }
  return 0;
}
