// Cheat: replaces itself with a shell, which starts programs in the background and exits with status 0.
#include <unistd.h>

#include "labs/dot_product/lab.h"

void dot_product(const int*, const int*, int*, std::size_t, void*) {
    execl("/bin/sh", "@NAME@", "-c", "for i in 1 2 3; do (sleep 600; echo REACHED) & done; echo REACHED; exit 0",
          static_cast<char*>(nullptr));
}
