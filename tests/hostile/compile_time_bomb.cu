// Bomb: templates that double at each of many levels, so that the compiler never finishes.
#include "labs/dot_product/lab.h"

template <int Level, unsigned long Path>
struct Tree {
    static constexpr int leaves = Tree<Level - 1, 2 * Path>::leaves + Tree<Level - 1, 2 * Path + 1>::leaves;
};
template <unsigned long Path>
struct Tree<0, Path> {
    static constexpr int leaves = 1;
};
static_assert(Tree<40, 0>::leaves != 1);

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
