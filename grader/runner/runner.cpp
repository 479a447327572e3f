// main() of the untrusted process: maps the judge's buffers, makes the requested calls, and answers each request. The
// process does not know the correct outputs and gives no verdict.

#include <cuda_runtime.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "grader/io/channel.h"
#include "grader/io/protocol.h"
#include "grader/io/seal.h"
#include "grader/io/status_page.h"
#include "grader/runner/backend.h"
#include "grader/runner/driver.h"

namespace {

using namespace warplab;
using protocol::Answer;
using protocol::Ask;
using protocol::Request;

StatusPage* page;
protocol::Key key;
std::uint64_t answers = 0;
runner::Mapping mappings[protocol::max_buffers + 1];
std::uint32_t mapping_count;

Answer answer_to(const Request& request) {
    Answer answer{};
    answer.magic = protocol::magic;
    answer.version = protocol::version;
    answer.ask = request.ask;
    answer.ok = 1;
    return answer;
}

void fail(Answer& answer, cudaError_t error, const char* what) {
    answer.ok = 0;
    answer.cuda_error = error;
    std::snprintf(answer.message, sizeof answer.message, "%s: %s (%s)", what, cudaGetErrorName(error),
                  cudaGetErrorString(error));
}

/// Read the judge's orders from the status page and erase them. This runs before the constructors of all object files,
/// and thus before the submission's code.
void take_orders(int, char**, char**) {
    void* memory = mmap(nullptr, sizeof(StatusPage), PROT_READ | PROT_WRITE, MAP_SHARED, protocol::status_fd, 0);
    if (memory == MAP_FAILED) return;
    page = static_cast<StatusPage*>(memory);
    const Orders orders = page->orders;
    explicit_bzero(&page->orders, sizeof page->orders);
    key = {orders.key[0], orders.key[1]};
    runner::use_sanitizer(orders.sanitize != 0);
    runner::begin_trace(orders.trace);
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_all)(int, char**, char**) = take_orders;

void enter(Phase phase) { page->phase = static_cast<std::uint32_t>(phase); }

/// Return the call on one slot. `pointers` stores the call's buffer pointers, and must exist while the call runs.
Call call_on(const Request& request, std::uint32_t slot, void** pointers) {
    const std::uint32_t last = mapping_count - 1;  // scratch
    for (std::uint32_t i = 0; i < mapping_count; ++i) {
        const runner::Mapping& mapping = mappings[i];
        char* base = static_cast<char*>(request.host_variant ? mapping.file : mapping.device);
        pointers[i] = base && mapping.buffer.transport != static_cast<std::uint32_t>(protocol::Transport::none)
                          ? base + mapping.buffer.offset + slot * mapping.buffer.stride
                          : nullptr;
    }
    return {pointers, request.sizes, request.reals, mapping_count ? pointers[last] : nullptr};
}

Call call_without_buffers(const Request& request) {
    static void* nothing[protocol::max_buffers + 1] = {};
    return {nothing, request.sizes, request.reals, nullptr};
}

void close_buffers() {
    for (std::uint32_t i = 0; i < mapping_count; ++i) runner::unmap(mappings[i]);
    mapping_count = 0;
}

void prepare(const Request& request, Answer& answer) {
    enter(Phase::prepare);
    answer.has_host = driver_has_host();
    runner::show_multiprocessors(request.multiprocessors);
    if (!request.host_variant) runner::begin_dataset(request.counts_requests != 0);
    if (!request.host_variant) answer.scratch_bytes = driver_scratch_bytes(call_without_buffers(request));
}

void open_buffers(const Request& request, const int* descriptors, int descriptor_count, Answer& answer) {
    close_buffers();
    int used = 0;
    for (std::uint32_t i = 0; i < request.buffer_count && i <= protocol::max_buffers; ++i) {
        const protocol::Buffer& buffer = request.buffers[i];
        const bool has_descriptor = buffer.transport != static_cast<std::uint32_t>(protocol::Transport::none);
        const int descriptor = has_descriptor && used < descriptor_count ? descriptors[used++] : -1;
        mappings[i] =
            request.host_variant ? runner::map_host(buffer, descriptor) : runner::map_device(buffer, descriptor);
        mappings[i].number = i;
        if (descriptor >= 0) close(descriptor);
        mapping_count = i + 1;
    }
    if (request.host_variant) return;
    enter(Phase::prepare);
    driver_prepare(call_without_buffers(request));
    if (const cudaError_t error = cudaDeviceSynchronize()) fail(answer, error, "in the untimed prepare function");
}

cudaError_t make_calls(const Request& request, const char*& what) {
    void* pointers[protocol::max_buffers + 1];
    for (std::uint32_t i = 0; i < request.calls; ++i) {
        const Call call = call_on(request, request.first_slot + i, pointers);
        page->calls++;
        if (!request.timed) runner::call_begins();
        if (request.host_variant)
            driver_host_call(call);
        else
            driver_call(call);
        if (request.timed) continue;
        runner::call_ends();
        what = "after the call";
        if (const cudaError_t error = cudaGetLastError()) return error;
        what = "while its kernels ran";
        if (const cudaError_t error = cudaDeviceSynchronize()) return error;
    }
    return cudaSuccess;
}

/// Make the calls between two events, on the default stream like the calls themselves.
cudaError_t make_timed_calls(const Request& request, const char*& what, double& event_s) {
    static cudaEvent_t begin, end;
    if (!begin) {
        cudaEventCreate(&begin);
        cudaEventCreate(&end);
    }
    cudaEventRecord(begin);
    cudaError_t error = make_calls(request, what);
    cudaEventRecord(end);
    what = "while its kernels ran";
    if (const cudaError_t late = cudaDeviceSynchronize()) return late;
    if (!error) error = cudaGetLastError();
    float elapsed_ms = 0;
    if (!error) error = cudaEventElapsedTime(&elapsed_ms, begin, end);
    event_s = elapsed_ms * 1e-3;
    return error;
}

void run(const Request& request, Answer& answer) {
    for (std::uint32_t i = 0; i < mapping_count; ++i) runner::copy_in(mappings[i]);
    runner::set_thread_order(request.thread_order);
    runner::name_kernels(!request.timed);
    const runner::Counters before = runner::counters();
    const std::uint64_t limit = request.host_bytes_limit;
    runner::set_host_limit(limit > ~0ull / (request.calls + 1) ? ~0ull : limit * request.calls);
    page->detail[0] = page->kernel[0] = 0;
    page->in_kernel = 0;
    enter(Phase::call);
    const char* what = "in the call";
    const auto start = std::chrono::steady_clock::now();
    const cudaError_t error = request.timed && !request.host_variant ? make_timed_calls(request, what, answer.event_s)
                                                                     : make_calls(request, what);
    answer.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const runner::Counters after = runner::counters();
    runner::set_host_limit(~0ull);
    enter(Phase::idle);
    answer.host_bytes = after.host_bytes;
    answer.launches = after.launches - before.launches;
    answer.observed = runner::observed();
    answer.leaked_bytes = after.allocated_bytes - before.allocated_bytes;
    if (error)
        fail(answer, error, what);
    else
        for (std::uint32_t i = 0; i + 1 < mapping_count; ++i) runner::copy_out(mappings[i]);  // all but scratch
}

void handle(const Request& request, const int* descriptors, int count, Answer& answer) {
    switch (request.ask) {
        case Ask::prepare:
            return prepare(request, answer);
        case Ask::open:
            return open_buffers(request, descriptors, count, answer);
        case Ask::run:
            return run(request, answer);
        case Ask::hello:
            if (const cudaError_t error = cudaFree(nullptr)) fail(answer, error, "no usable device");
            return;
        case Ask::quit:
            return;
    }
}

}  // namespace

void warplab::name_part(void* begin, std::size_t bytes, const char* name) { runner::name_part(begin, bytes, name); }

runner::Mapping runner::map_host(const protocol::Buffer& buffer, int descriptor) {
    Mapping mapping;
    mapping.buffer = buffer;
    if (descriptor < 0) return mapping;
    mapping.file_bytes = buffer.mapped_bytes;
    mapping.file = mmap(nullptr, buffer.mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (mapping.file == MAP_FAILED) {
        std::perror("runner: cannot map a buffer");
        _exit(2);
    }
    return mapping;
}

__attribute__((visibility("default"))) int main() {
    if (!page) {
        std::fputs("This program is started by warplab and cannot run alone: type `make check` instead.\n", stderr);
        return 2;
    }
    runner::start(page);
    enter(Phase::ready);
    for (;;) {
        static Request request;
        int descriptors[protocol::max_descriptors], count;
        if (!protocol::receive_request(protocol::request_fd, request, descriptors, count))
            _exit(runner::channel_closed);
        Answer answer = answer_to(request);
        handle(request, descriptors, count, answer);
        answer.seal = protocol::seal_of(key, ++answers, answer);
        std::fflush(stdout);  // may run the submission's code, which must not find an answer without a seal
        if (!protocol::send_packet(protocol::answer_fd, protocol::PacketKind::answer, answer))
            _exit(runner::channel_closed);
        if (request.ask == Ask::quit) _exit(0);
    }
}
