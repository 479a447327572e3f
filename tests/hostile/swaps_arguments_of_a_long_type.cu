// Bomb: an atomic gets a value whose type has a name of 400,000 characters, and then an address, so that the judge
// looks for swapped arguments in the compiler's words.
// The test replaces @N TEXT@ by N copies of TEXT.
#include "labs/dot_product/lab.h"

struct L@400000 o@ng {};

__global__ void dot_product_kernel(int* out) { atomicAdd(L@400000 o@ng(), out); }

void dot_product(const int*, const int*, int* out, std::size_t, void*) { dot_product_kernel<<<1, 1>>>(out); }
