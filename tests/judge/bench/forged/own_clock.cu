// Cheat: defines its own cudaEventElapsedTime, which always returns one microsecond.
#include "labs/vector_add/lab.h"

extern "C" cudaError_t cudaEventElapsedTime(float* elapsed_ms, cudaEvent_t, cudaEvent_t) {
    *elapsed_ms = 0.001f;
    return cudaSuccess;
}

void vector_add(const float*, const float*, float*, std::size_t, void*) {}
