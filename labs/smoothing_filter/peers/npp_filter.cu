// NPP's general filter of floats. It keeps its weights in device memory and applies them in reverse order. Its anchor
// is counted from the last weight, which makes no difference here, because the anchor is the middle of the filter. Its
// output is not checked, because NPP treats the padding around the picture differently. The work and the bytes are the
// same as for the reference.

#include <nppdefs.h>
#include <nppi_filtering_functions.h>

#include <cstdio>
#include <cstdlib>

#include "labs/smoothing_filter/lab.h"

__device__ float reversed[filter_size * filter_size];

void smoothing_filter_prepare(int /*width*/, int /*height*/, const float* filter) {
    constexpr int count = filter_size * filter_size;
    float weights[count];
    for (int i = 0; i < count; ++i) weights[i] = filter[count - 1 - i];
    CUDA_CHECK(cudaMemcpyToSymbol(reversed, weights, sizeof weights));
}

// NPP needs the stream, and properties of the device that it would otherwise query in every call.
NppStreamContext describe_device() {
    NppStreamContext context{};
    cudaDeviceProp properties;
    CUDA_CHECK(cudaGetDevice(&context.nCudaDeviceId));
    CUDA_CHECK(cudaGetDeviceProperties(&properties, context.nCudaDeviceId));
    context.nMultiProcessorCount = properties.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    context.nSharedMemPerBlock = properties.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = properties.major;
    context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
    return context;
}

void smoothing_filter(const float* image, float* out, int width, int height, const float* /*filter*/,
                      void* /*scratch*/) {
    static const NppStreamContext context = describe_device();
    static float* weights = nullptr;
    if (!weights) CUDA_CHECK(cudaGetSymbolAddress(reinterpret_cast<void**>(&weights), reversed));
    constexpr int radius = filter_size / 2;
    const int pitch = width + filter_size - 1;
    const NppStatus status =
        nppiFilter_32f_C1R_Ctx(image + radius * pitch + radius, pitch * static_cast<int>(sizeof(float)), out,
                               width * static_cast<int>(sizeof(float)), {width, height}, weights,
                               {filter_size, filter_size}, {radius, radius}, context);
    if (status != NPP_SUCCESS) {
        std::fprintf(stderr, "nppiFilter_32f_C1R: status %d\n", static_cast<int>(status));
        std::exit(1);
    }
}
