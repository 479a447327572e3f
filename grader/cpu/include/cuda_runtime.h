#ifndef WARPLAB_CPU_CUDA_RUNTIME_H
#define WARPLAB_CPU_CUDA_RUNTIME_H
// CUDA's runtime API and device functions for the CPU backend. Student code, rewritten (grader/cpu/rewriter/OUTPUT.md),
// is compiled with this file as a precompiled header; grader/cpu/runtime implements it.
//
// If an inline function calls a template, g++ precompiles the template only if it returns auto. Templates with another
// return type would be instantiated again for each file.

#define __WARPLAB_CPU__ 1
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDA_ARCH_LIST__ 900

#include "warplab_cpu/seen.h"

// Exactly the headers that nvcc includes itself, so that a file with a missing include fails here, too.
#include <new>
#if defined(_GLIBCXX_USE_STD_SPEC_FUNCS) && !defined(WARPLAB_CPU_SPECIAL_FUNCTIONS)
// Omit <cmath>'s special functions, such as std::betaf, but not the headers that they include: g++ would instantiate
// the functions' templates for each file. The judge defines WARPLAB_CPU_SPECIAL_FUNCTIONS for files that may call them.
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#include <bits/stl_algobase.h>

#include <limits>
#include <type_traits>
#endif

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <utility>

#include "warplab_cpu/api.h"
#include "warplab_cpu/arithmetic.h"
#include "warplab_cpu/atomics.h"
#include "warplab_cpu/graphs.h"
#include "warplab_cpu/launch.h"
#include "warplab_cpu/new.h"
#include "warplab_cpu/scheduler.h"
#include "warplab_cpu/sync.h"
#include "warplab_cpu/types.h"

#ifdef WARPLAB_CPU_ALGORITHM  // the judge defines it for files that include <algorithm> before any code
#include <algorithm>
#endif

#undef WARPLAB_CPU_SPECIAL_FUNCTIONS
#undef WARPLAB_CPU_ALGORITHM
#undef WARPLAB_CPU_HOOKED
#undef WARPLAB_CPU_TRACED
#undef WARPLAB_CPU_FAST  // so that a file cannot test how it is compiled

#endif
