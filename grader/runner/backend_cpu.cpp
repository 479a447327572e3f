// The runner's side of the CPU backend: "device" memory is a memory file that the judge created.

#include <sys/mman.h>
#include <unistd.h>

#include "grader/cpu/control.h"
#include "grader/io/channel.h"
#include "grader/io/protocol.h"
#include "grader/runner/backend.h"

namespace warplab::runner {

void start(StatusPage* page) {
    cpu::use_status_page(page);
    cpu::send_findings_to([](const RawFinding& finding) {
        if (!protocol::send_packet(protocol::answer_fd, protocol::PacketKind::finding, finding)) _exit(channel_closed);
    });
    cpu::hide_device_memory(true);  // host code that uses a device pointer fails here, as on a GPU
}

Mapping map_device(const protocol::Buffer& buffer, int descriptor) {
    Mapping mapping = map_host(buffer, descriptor);
    mapping.device = mapping.file;
    if (mapping.device) cpu::register_device_memory(mapping.device, mapping.file_bytes);
    return mapping;
}

void unmap(Mapping& mapping) {
    if (mapping.device) cpu::unregister_device_memory(mapping.device);
    if (mapping.file && !mapping.device) cpu::end_host_buffer(mapping.file);
    if (mapping.file) munmap(mapping.file, mapping.file_bytes);
    mapping = {};
}

void copy_in(const Mapping& mapping) {
    if (!mapping.file) return;
    void* const begin = static_cast<char*>(mapping.file) + mapping.buffer.offset;
    if (mapping.device)
        cpu::begin_buffer(mapping.device, mapping.file_bytes, begin, mapping.buffer.bytes, mapping.buffer.is_input,
                          mapping.buffer.is_constant, mapping.number);
    else
        cpu::begin_host_buffer(mapping.file, mapping.file_bytes, begin, mapping.buffer.bytes);
}

void copy_out(const Mapping&) {}

void name_part(void* begin, std::size_t bytes, const char* name) { cpu::name_part(begin, bytes, name); }

void set_thread_order(std::uint32_t order) { cpu::set_thread_order(static_cast<cpu::ThreadOrder>(order)); }
void set_host_limit(std::uint64_t bytes) { cpu::set_host_limit(bytes); }

void use_sanitizer(bool on) { cpu::use_sanitizer(on); }
void begin_trace(const trace::Order& order) { cpu::begin_trace(order, protocol::trace_fd); }
void show_multiprocessors(unsigned count) { cpu::show_multiprocessors(count); }
void begin_dataset(bool counts_requests) { cpu::begin_dataset(counts_requests); }
Observations observed() { return cpu::observed(); }

Counters counters() {
    const cpu::Counters now = cpu::counters();
    return {now.host_bytes, now.launches, now.allocated_bytes};
}

void call_begins() { cpu::begin_call(); }
void call_ends() { cpu::end_call(); }

void name_kernels(bool) {}

}  // namespace warplab::runner
