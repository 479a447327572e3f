// Bomb: a template that instantiates itself without end.
#include "labs/dot_product/lab.h"

template <int N>
struct Deeper : Deeper<N + 1> {};
Deeper<0> bomb;

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
