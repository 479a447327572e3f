// Bomb: a constant whose computation never finishes.
#include "labs/dot_product/lab.h"

constexpr int count(int to) {
    int sum = 0;
    for (int i = 0; i < to; ++i)
        for (int k = 0; k < to; ++k) sum ^= i + k;
    return sum;
}
constexpr int bomb = count(100000);

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
