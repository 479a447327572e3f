// Bomb: begins an answer and sends one more byte of it each second, forever.
#include <unistd.h>

#include "forged_answer.h"
#include "labs/dot_product/lab.h"

void dot_product(const int*, const int*, int*, std::size_t, void*) {
    const Answer answer;
    const char* const bytes = reinterpret_cast<const char*>(&answer);
    for (std::size_t i = 0; i + 1 < sizeof answer; ++i) {
        (void)!write(5, bytes + i, 1);
        sleep(1);
    }
    for (;;) pause();
}
