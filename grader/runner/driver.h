#pragma once
// The functions that a lab's driver.cu implements to call the contract function on the judge's buffers. The driver is
// linked with the student's code and does not know the correct answers.

#include <cstddef>
#include <cstdint>

namespace warplab {

/// One call: pointers and sizes in the order of the manifest. Pointers are device pointers, 256-byte aligned
/// (host pointers in driver_host_call).
struct Call {
    void* const* buffers;
    const std::int64_t* sizes;
    const double* reals;
    void* scratch;  // the bytes that driver_scratch_bytes requested; null if it requested none

    template <class T>
    T* buffer(int index) const {
        return static_cast<T*>(buffers[index]);
    }
};

/// Tell the sanitizer the name and the size of a part of scratch. A driver that divides scratch ("divides_scratch" in
/// lab.json) calls this function for each part, and may do so in every driver_call(). The runner defines the function.
__attribute__((visibility("default"))) void name_part(void* begin, std::size_t bytes, const char* name);

}  // namespace warplab

/// Call the contract function once.
void driver_call(const warplab::Call& call);

/// Return the bytes of scratch that the student's code requests for these sizes (buffers are null here); 0 for none.
std::size_t driver_scratch_bytes(const warplab::Call& call);

/// Let the student's code set up data that depends only on sizes and parameters (buffers are null here). Called
/// untimed, after the judge's buffers are mapped and before the first driver_call() on them.
void driver_prepare(const warplab::Call& call);

/// Return whether the student's code defines <lab>_host.
bool driver_has_host();
/// Call <lab>_host once.
void driver_host_call(const warplab::Call& call);
