#pragma once
// The functions that a lab's driver.cu implements to call the contract function on the judge's buffers. It is linked
// with the student's code and does not know the correct answers.

#include <cstddef>
#include <cstdint>

namespace warplab {

/// One call: pointers and sizes in the order of the manifest. Pointers are device pointers, 256-byte aligned
/// (host pointers in driver_host_call).
struct Call {
    void* const* buffers;
    const std::int64_t* sizes;
    const double* reals;
    void* scratch;  // what driver_scratch_bytes asked for; null when it asked for none

    template <class T>
    T* buffer(int index) const {
        return static_cast<T*>(buffers[index]);
    }
};

/// For a driver that divides scratch ("divides_scratch" in lab.json): check mode calls this piece by its name, and it
/// ends where its bytes end. The runner has it; it may be called again.
__attribute__((visibility("default"))) void name_part(void* begin, std::size_t bytes, const char* name);

}  // namespace warplab

/// Calls the contract function once.
void driver_call(const warplab::Call& call);

/// Return the bytes of scratch that the student's code requests for these sizes (buffers are null here); 0 for none.
std::size_t driver_scratch_bytes(const warplab::Call& call);

/// Untimed, once after the buffers are there and before any call: lets the student's code set up what depends on
/// sizes and parameters alone (buffers are null here).
void driver_prepare(const warplab::Call& call);

/// Whether the student's code defines <lab>_host, and the call of it.
bool driver_has_host();
void driver_host_call(const warplab::Call& call);
