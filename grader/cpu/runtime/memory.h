#pragma once
// Which memory is the device's. On the CPU anyone could read all of it; this registry is how copies and frees of the
// wrong side are noticed, and how device memory is kept from the host where the runner asks for it.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "grader/io/status_page.h"

namespace warplab_cpu {

enum class Side { unknown, device, managed, pinned };

/// Which memory holds all `bytes` at `address`; `fits` is false when they run over its end.
struct Place {
    Side side = Side::unknown;
    bool fits = true;
    std::size_t bytes = 0;  // from there to its end, where it is known
};
Place place_of(const void* address, std::size_t bytes);

/// For its lifetime the runtime itself may touch these bytes, hidden or not.
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
/// All memory that kernels may use and the registry knows: allocations, the lab's buffers, __device__ variables.
std::vector<Range> memory_of_kernels();
/// Return whether kernels have memory from malloc() or new in addition.
bool has_unlisted_memory();

/// Around a grid: kernels may touch device memory, the host may not (when hidden).
void show_to_kernels();
void hide_from_host();

/// In a signal handler: whether the fault was a kernel's first touch of hidden memory, or a touch of memory both sides
/// may use, which is now counted. Both are allowed from then on.
bool hand_over(const void* address, bool in_kernel);

/// A fault by a memory access, or by a signal, and words for a person that never go away.
struct AddressFault {
    warplab::Fault fault;
    const char* words;
};
AddressFault explain_address(const void* address, bool in_kernel, bool in_library);

/// Whether an address comes from a pointer that nobody set: the student's code is compiled with
/// -ftrivial-auto-var-init=pattern, and no real address begins so.
inline bool is_never_set(const void* address) { return reinterpret_cast<std::uintptr_t>(address) >> 48 == 0xFEFE; }

/// Counts a copy to the host; ends the process when it is more than allowed. `line` 0 when unknown.
void count_host_bytes(std::size_t bytes, int line);

/// __device__ and __constant__ variables, by address.
struct NamedVariable {
    std::size_t bytes = 0;
    const char* name = "";
    bool constant = false, managed = false;
    bool address_asked = false;  // by cudaGetSymbolAddress
};
std::size_t device_variable_count();
std::map<std::uintptr_t, NamedVariable> device_variables();

/// The host's code asks for a variable's address.
void note_address_asked(const void* symbol);
/// The variable that an address can only come from the name of: on a GPU that is the host's own shadow of it. Null for
/// others.
const char* variable_by_name(const void* address);
/// Whether it lies in a variable of the device's, or of constant memory.
bool is_symbol(const void* address);

/// Return whether an address may lie in a device variable that the rewriter could not list.
bool may_be_unlisted_variable(const void* address);

/// Whether memory was there that has been freed, and nothing else is there now.
bool was_freed(const void* address);

std::int64_t allocated_bytes();
std::uint64_t host_bytes();

inline constexpr std::size_t device_bytes = std::size_t{4} << 30;  // of the device that is shown

}  // namespace warplab_cpu
