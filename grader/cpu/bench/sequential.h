#pragma once
// Plain loops, compiled with -O3: the benchmark compares the CPU backend with them.

void add_sequential(const float* a, const float* b, float* out, int n);
int sum_sequential(const int* in, int n);
float sum_sequential(const float* in, int n);
void histogram_sequential(const unsigned char* in, unsigned* bins, int n);  // 256 bins
