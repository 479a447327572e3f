#include "labs/saturating_histogram/lab.h"

__device__ unsigned int g_bins[1024];

__global__ void clear_kernel()
{
	g_bins[threadIdx.x] = 0;
}

__global__ void count_kernel(const std::uint32_t* input, size_t width, size_t height, size_t pitch)
{
	for (size_t y = threadIdx.y; y < height; y += blockDim.y)
	{
		for (size_t x = threadIdx.x; x < width; x += blockDim.x)
		{
			atomicAdd(&g_bins[input[y * pitch + x]], 1u);
		}
	}
}

__global__ void narrow_kernel(std::uint8_t* bins)
{
	unsigned int c = g_bins[threadIdx.x];
	bins[threadIdx.x] = (std::uint8_t)(c < 255 ? c : 255);
}

void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, size_t width, size_t height, size_t pitch, void* scratch)
{
	dim3 block(32, 32);
	clear_kernel << <1, 1024 >> > ();
	count_kernel << <1, block >> > (input, width, height, pitch);
	narrow_kernel << <1, 1024 >> > (bins);
	CUDA_CHECK(cudaGetLastError());
}