#pragma once
// Calls of memcpy and similar functions in a student's file go through hooks: the compiler instruments plain accesses
// alone.

#ifndef WARPLAB_CPU_FAST
extern "C" {
void* memcpy(void*, const void*, decltype(sizeof 0)) noexcept __asm__("warplab_seen_memcpy");
void* memmove(void*, const void*, decltype(sizeof 0)) noexcept __asm__("warplab_seen_memmove");
void* memset(void*, int, decltype(sizeof 0)) noexcept __asm__("warplab_seen_memset");
}
#endif
