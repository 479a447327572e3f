#include "sequential.h"

void add_sequential(const float* a, const float* b, float* out, int n) {
    for (int i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

int sum_sequential(const int* in, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += in[i];
    return sum;
}

float sum_sequential(const float* in, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += in[i];
    return sum;
}

void histogram_sequential(const unsigned char* in, unsigned* bins, int n) {
    for (int i = 0; i < 256; ++i) bins[i] = 0;
    for (int i = 0; i < n; ++i) ++bins[in[i]];
}
