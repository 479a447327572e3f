// Cheat: ignores every signal that can be ignored and never returns.
#include <signal.h>
#include <unistd.h>

#include "labs/dot_product/lab.h"

void dot_product(const int*, const int*, int*, std::size_t, void*) {
    for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
    for (;;) pause();
}
