#pragma once
// The parts of the runner that differ between the backends; backend_cpu.cpp and backend_cuda.cpp implement them.

#include <cstddef>
#include <cstdint>

#include "grader/io/protocol.h"
#include "grader/io/status_page.h"

namespace warplab::runner {

/// Before anything else of the student's code runs in main.
void start(StatusPage* page);

/// Turn the sanitizer on or off (CPU backend), before any code of the submission runs.
void use_sanitizer(bool on);

inline constexpr int channel_closed = 91;  // the exit status when the judge cannot be reached

/// Device memory for one buffer of an `open` request; `descriptor` is its memory file or -1. Ends the process with
/// a message when it cannot be had: the judge treats that as our fault.
struct Mapping {
    void* device = nullptr;  // start of the device allocation (slot 0 lies at Buffer::offset in it)
    void* file = nullptr;    // mapping of the memory file, if any
    std::size_t file_bytes = 0;
    protocol::Buffer buffer{};
    std::uint32_t number = 0;  // which of the request's buffers
};
Mapping map_device(const protocol::Buffer& buffer, int descriptor);
void unmap(Mapping& mapping);

/// The memory file alone, on both backends (runner.cpp).
Mapping map_host(const protocol::Buffer& buffer, int descriptor);

/// Transport::local: the memory file's slot to device memory of our own and back.
void copy_in(const Mapping& mapping);
void copy_out(const Mapping& mapping);

void set_thread_order(std::uint32_t order);
void set_host_limit(std::uint64_t bytes);  // device-to-host bytes until the next call of this

struct Counters {
    std::uint64_t host_bytes = 0;  // since set_host_limit
    std::uint64_t launches = 0;
    std::int64_t allocated_bytes = 0;
};
Counters counters();

/// Start the calls of the next dataset.
void begin_dataset();

/// Return the observations of the last untimed call.
Observed observed();

/// For warplab::name_part() of driver.h.
void name_part(void* begin, std::size_t bytes, const char* name);

/// Around each untimed call: where the backend looks for what it leaves behind.
void call_begins();
void call_ends();

/// Whether the kernel launched last is to be named in the status page at each launch (costs time).
void name_kernels(bool on);

}  // namespace warplab::runner
