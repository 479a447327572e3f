// -*- C++ -*-
#pragma once
// The standard library itself, under the name that CUDA gives its own: g++ compiles it as host code.

namespace cuda {
namespace std {
using namespace ::std;
}  // namespace std
}  // namespace cuda
