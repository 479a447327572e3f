#pragma once
// new and delete of a student's file: those of device code take from the device's heap.

#include "scheduler.h"

#ifndef WARPLAB_CPU_FAST
__attribute__((weak)) void* operator new(size_t bytes) { return warplab_cpu::new_memory(bytes); }
__attribute__((weak)) void* operator new[](size_t bytes) { return warplab_cpu::new_memory(bytes); }
__attribute__((weak)) void operator delete(void* place) noexcept { warplab_cpu::delete_memory(place); }
__attribute__((weak)) void operator delete[](void* place) noexcept { warplab_cpu::delete_memory(place); }
__attribute__((weak)) void operator delete(void* place, size_t) noexcept { warplab_cpu::delete_memory(place); }
__attribute__((weak)) void operator delete[](void* place, size_t) noexcept { warplab_cpu::delete_memory(place); }
#endif
