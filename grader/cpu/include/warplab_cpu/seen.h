#pragma once
// Replaces memcpy, memcmp and functions that write through a pointer by hooks in a student's file, because the compiler
// instruments only plain accesses. In kernels, malloc and free use the device's heap.

#ifndef WARPLAB_CPU_FAST
extern "C" {
void* memcpy(void*, const void*, decltype(sizeof 0)) noexcept __asm__("warplab_seen_memcpy");
void* memmove(void*, const void*, decltype(sizeof 0)) noexcept __asm__("warplab_seen_memmove");
void* memset(void*, int, decltype(sizeof 0)) noexcept __asm__("warplab_seen_memset");
int memcmp(const void*, const void*, decltype(sizeof 0)) noexcept __asm__("warplab_seen_memcmp");
void* malloc(decltype(sizeof 0)) noexcept __asm__("warplab_seen_malloc");
void free(void*) noexcept __asm__("warplab_seen_free");
float modff(float, float*) noexcept __asm__("warplab_seen_modff");
double modf(double, double*) noexcept __asm__("warplab_seen_modf");
float frexpf(float, int*) noexcept __asm__("warplab_seen_frexpf");
double frexp(double, int*) noexcept __asm__("warplab_seen_frexp");
float remquof(float, float, int*) noexcept __asm__("warplab_seen_remquof");
double remquo(double, double, int*) noexcept __asm__("warplab_seen_remquo");
void sincosf(float, float*, float*) noexcept __asm__("warplab_seen_sincosf");
void sincos(double, double*, double*) noexcept __asm__("warplab_seen_sincos");
}
#define __builtin_memset memset  // the C library's macros, such as CPU_ZERO, expand to it
#endif
