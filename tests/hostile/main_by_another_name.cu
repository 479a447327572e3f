// Cheat: defines main under another name, which an asm label undoes.
#include "labs/dot_product/lab.h"

#define JOIN(a, b) a##b
int something_else() JOIN(as, m)("main");
int something_else() { return 0; }

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
