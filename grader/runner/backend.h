#pragma once
// The parts of the runner that differ between the backends. backend_cpu.cpp and backend_cuda.cpp implement them.

#include <cstddef>
#include <cstdint>

#include "grader/io/protocol.h"
#include "grader/io/status_page.h"

namespace warplab::runner {

/// Start the backend: in main(), after the submission's constructors and before its other code.
void start(StatusPage* page);

/// Turn the sanitizer on or off (CPU backend), before any code of the submission runs.
void use_sanitizer(bool on);

/// Record a trace if `order` requests one (CPU backend), before any code of the submission runs.
void begin_trace(const trace::Order& order);

inline constexpr int channel_closed = 91;  // the exit status if the judge cannot be reached

/// The memory of one buffer of an `open` request.
struct Mapping {
    void* device = nullptr;  // start of the device allocation (slot 0 is at Buffer::offset in it)
    void* file = nullptr;    // mapping of the memory file, if any
    std::size_t file_bytes = 0;
    protocol::Buffer buffer{};
    std::uint32_t number = 0;  // the buffer's position in the request
};
/// Map or allocate a buffer's device memory. `descriptor` is that of the buffer's memory file or GPU memory, or -1. If
/// the memory cannot be mapped or allocated, end the process with a message; the judge treats this as its own error.
Mapping map_device(const protocol::Buffer& buffer, int descriptor);
void unmap(Mapping& mapping);

/// Map only the memory file, on both backends (runner.cpp).
Mapping map_host(const protocol::Buffer& buffer, int descriptor);

/// For Transport::local: copy the memory file's slot to the runner's own device memory, and back.
void copy_in(const Mapping& mapping);
void copy_out(const Mapping& mapping);

void set_thread_order(std::uint32_t order);
void set_host_limit(std::uint64_t bytes);  // limits device-to-host bytes until it is called again

struct Counters {
    std::uint64_t host_bytes = 0;  // since set_host_limit
    std::uint64_t launches = 0;
    std::int64_t allocated_bytes = 0;
};
Counters counters();

/// Set the number of multiprocessors that the CPU backend reports.
void show_multiprocessors(unsigned count);

/// Start the calls of the next dataset. If `counts_requests` is true, the sanitizer also counts requests to memory,
/// which costs time.
void begin_dataset(bool counts_requests);

/// Return the observations of the last untimed call.
Observations observed();

/// Name a part of scratch; see warplab::name_part() in driver.h.
void name_part(void* begin, std::size_t bytes, const char* name);

/// Mark the beginning and the end of each untimed call, so that the backend can check what the call leaves allocated.
void call_begins();
void call_ends();

/// Set whether each launch writes the kernel's name to the status page (costs time).
void name_kernels(bool on);

}  // namespace warplab::runner
