#pragma once
// The registry of device memory. It detects copies and frees of memory on the wrong side, and hides device memory from
// the host if the runner requests this: on the CPU, all code could otherwise access the memory.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "grader/io/status_page.h"

namespace warplab_cpu {

enum class Side { unknown, device, managed, pinned };

/// The owner of the memory at an address; `fits` is false if the requested bytes exceed the memory's end.
struct Place {
    Side side = Side::unknown;
    bool fits = true;
    std::size_t bytes = 0;  // from the address to the end of the memory, if known
};
Place place_of(const void* address, std::size_t bytes);

/// During this object's lifetime, the runtime itself may access the bytes, even if they are hidden.
class Access {
  public:
    Access(const void* address, std::size_t bytes);
    ~Access();
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

  private:
    void* begin_ = nullptr;
    std::size_t bytes_ = 0;
};

struct Range {
    const void* begin = nullptr;
    std::size_t bytes = 0;
};
/// Return all memory that kernels may use and that the registry knows: allocations, the lab's buffers, __device__
/// variables.
std::vector<Range> memory_of_kernels();
/// Return whether kernels also have memory from malloc() or new.
bool has_unlisted_memory();

/// Return the bytes from an address to the end of its block of the host's heap, or the maximum of size_t if the
/// submission has not allocated it by new or malloc().
std::size_t heap_bytes_left(const void* address);

/// Hide a host buffer of the runner, which consists of whole pages, from running kernels: a GPU cannot access it.
void add_host_buffer(void* memory, std::size_t bytes);
void remove_host_buffer(void* memory);

/// Show device memory to kernels before a grid, and hide it from the host after the grid; no-op unless
/// hide_device_memory() is on. After many launches in a row, hide_from_host() leaves device memory visible between most
/// of them.
void show_to_kernels();
void hide_from_host();
/// Hide all device memory that launches left visible. Called when the host waits, copies or returns.
void hide_left_visible();

/// Handle a page fault: if the access is allowed, make the memory accessible and return true. A kernel may access
/// memory that is hidden from the host; the host may access managed memory, and host buffers while a kernel runs.
/// Managed memory that the host accesses, and pinned memory that a kernel writes, count as copied to the host. Can be
/// called in a signal handler.
bool hand_over(const void* address, bool in_kernel);

/// The fault for an invalid address. `words` has static storage.
struct AddressFault {
    warplab::Fault fault;
    const char* words;
};
AddressFault explain_address(const void* address, bool in_kernel, bool in_library);

/// Return whether an address comes from a pointer that was never set: the student's code is compiled with
/// -ftrivial-auto-var-init=pattern, and no real address begins with this pattern.
inline bool is_never_set(const void* address) { return reinterpret_cast<std::uintptr_t>(address) >> 48 == 0xFEFE; }

/// Count a copy to the host. End the process if the total exceeds the limit. `line` is 0 if unknown.
void count_host_bytes(std::size_t bytes, int line);

/// __device__ and __constant__ variables, by address.
struct NamedVariable {
    std::size_t bytes = 0;
    const char* name = "";
    bool constant = false, managed = false;
    bool address_requested = false;  // by cudaGetSymbolAddress
};
std::size_t device_variable_count();
std::map<std::uintptr_t, NamedVariable> device_variables();

/// Record that host code requests the address of a variable.
void note_address_requested(const void* symbol);
/// Return the name of the device variable at this address, if host code can only have obtained the address from the
/// variable's name (on a GPU, that is the address of the host's shadow of the variable). Return null for other
/// addresses.
const char* variable_by_name(const void* address);
/// Return whether the address lies in a variable of device or constant memory.
bool is_symbol(const void* address);

/// Return whether an address may lie in a device variable that the rewriter could not list.
bool may_be_unlisted_variable(const void* address);

/// Return whether the address lies in memory that has been freed and not reused.
bool was_freed(const void* address);

std::int64_t allocated_bytes();
std::uint64_t host_bytes();

/// The memory of the device that the backend simulates.
inline constexpr std::size_t device_bytes = std::size_t{4} << 30;

}  // namespace warplab_cpu
