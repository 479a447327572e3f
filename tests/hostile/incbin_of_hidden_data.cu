// Cheat: has the assembler copy the hidden datasets into the program.
#include <cstdio>

#include "labs/dot_product/lab.h"

#define JOIN(a, b) a##b
JOIN(as, m)
(".pushsection .rodata\nhidden_data: .incbin \"@ROOT@/datasets/dot_product/hidden.json\"\n.byte 0\n.popsection");
extern const char hidden_data[] JOIN(as, m)("hidden_data");

void dot_product(const int*, const int*, int*, std::size_t, void*) { std::puts(hidden_data); }
