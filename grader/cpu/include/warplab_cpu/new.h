#pragma once
// new and delete for a student's file. In device code, they use the device's heap. The runtime and the runner keep
// their own new and delete, even while a kernel runs.

#include "scheduler.h"

#ifdef WARPLAB_CPU_HOOKED
void* operator new(size_t bytes) { return warplab_cpu::new_memory(bytes); }
void* operator new[](size_t bytes) { return warplab_cpu::new_memory(bytes); }
void operator delete(void* place) noexcept { warplab_cpu::delete_memory(place); }
void operator delete[](void* place) noexcept { warplab_cpu::delete_memory(place); }
void operator delete(void* place, size_t) noexcept { warplab_cpu::delete_memory(place); }
void operator delete[](void* place, size_t) noexcept { warplab_cpu::delete_memory(place); }
#endif
