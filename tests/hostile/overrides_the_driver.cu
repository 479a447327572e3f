// Cheat: defines the function by which the runner calls the submission.
#include "labs/dot_product/lab.h"

struct Call;
namespace warplab {
struct Call;
}
void driver_call(const warplab::Call&) {}

void dot_product(const int*, const int*, int*, std::size_t, void*) {}
