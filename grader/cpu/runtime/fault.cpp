#include "grader/cpu/runtime/fault.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "grader/cpu/include/warplab_cpu/arithmetic.h"
#include "grader/cpu/runtime/memory.h"
#include "grader/cpu/runtime/scheduler.h"

namespace warplab_cpu {
namespace {

using warplab::Fault;
using warplab::LaunchSize;
using warplab::StatusPage;

StatusPage spare_page;  // used until the runner provides a shared page
StatusPage* page = &spare_page;
std::atomic_flag fault_recorded = ATOMIC_FLAG_INIT;

struct Range {
    uintptr_t begin = 0, end = 0;
    bool contains(uintptr_t address) const { return address >= begin && address < end; }
};
Range code;  // the executable's code
uintptr_t load_address = 0;
thread_local Range below_stack;

void find_executable() {
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void*) {
            load_address = info->dlpi_addr;
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& part = info->dlpi_phdr[i];
                if (part.p_type == PT_LOAD && (part.p_flags & PF_X))
                    code = {load_address + part.p_vaddr, load_address + part.p_vaddr + part.p_memsz};
            }
            return 1;  // the first object is the executable
        },
        nullptr);
}

struct Registers {
    uintptr_t program_counter, stack, link;
};

Registers registers_of(void* context) {
    [[maybe_unused]] const auto* state = static_cast<ucontext_t*>(context);
#if defined(__x86_64__)
    const auto& r = state->uc_mcontext.gregs;
    return {uintptr_t(r[REG_RIP]), uintptr_t(r[REG_RSP]), 0};
#elif defined(__aarch64__)
    const auto& r = state->uc_mcontext;
    return {uintptr_t(r.pc), uintptr_t(r.sp), uintptr_t(r.regs[30])};
#else
    return {0, 0, 0};
#endif
}

/// Return whether an address in the executable directly follows bytes that may be a call, so that the address may be a
/// return address.
bool follows_call([[maybe_unused]] uintptr_t address) {
#if defined(__x86_64__)
    const auto* before = reinterpret_cast<const unsigned char*>(address);
    return before[-5] == 0xE8 || before[-2] == 0xFF || before[-3] == 0xFF || before[-6] == 0xFF;
#else
    return true;
#endif
}

/// Return the place of a fault in the executable. For a fault in a library function such as memcpy, return the place of
/// the call.
uintptr_t place_in_executable(const Registers& registers, bool stack_readable) {
    if (code.contains(registers.program_counter)) return registers.program_counter - load_address;
    if (code.contains(registers.link)) return registers.link - 1 - load_address;
    const auto* words = reinterpret_cast<const uintptr_t*>(registers.stack);
    for (int i = 0; stack_readable && i < 64; ++i)
        if (code.contains(words[i]) && follows_call(words[i])) return words[i] - 1 - load_address;
    return 0;
}

void write_text(char* to, size_t capacity, const char* text) {
    std::strncpy(to, text, capacity - 1);
    to[capacity - 1] = 0;
}

std::atomic<bool> explains_read_error = false;  // page->detail explains an error that the program has read

/// Record the fault. Return false if another thread was first. Async-signal-safe.
bool record(Fault fault, const char* detail) {
    if (fault_recorded.test_and_set()) return false;
    uint3 block{}, thread{};
    page->in_kernel = running_thread(block, thread);
    const unsigned blocks[] = {block.x, block.y, block.z}, threads[] = {thread.x, thread.y, thread.z};
    std::memcpy(page->block, blocks, sizeof(blocks));
    std::memcpy(page->thread, threads, sizeof(threads));
    write_text(page->detail, sizeof(page->detail), detail);
    page->fault = static_cast<std::uint32_t>(fault);
    return true;
}

void write_to_stderr(const char* text) {
    [[maybe_unused]] auto written = write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void end_process(Fault fault) {
    if (page == &spare_page) {
        if (page->in_kernel) {
            write_to_stderr(page->kernel);
            write_to_stderr(": ");
        }
        write_to_stderr(page->detail);
        write_to_stderr("\n");
    }
    _exit(warplab::cpu::fault_status + static_cast<int>(fault));
}

/// Wait while another thread ends the process.
[[noreturn]] void wait_for_exit() {
    for (;;) pause();
}

/// Return whether a register holds the value of a variable that was never set (-ftrivial-auto-var-init=pattern).
bool holds_unset_value([[maybe_unused]] void* context) {
#if defined(__x86_64__)
    const auto& r = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    for (int i = REG_R8; i <= REG_RCX; ++i)
        if (uintptr_t(r[i]) >> 48 == 0xFEFE) return true;
#endif
    return false;
}

// The used part of a stack is mapped, so an access that faults this close to the stack pointer exceeded the stack's
// end.
constexpr uintptr_t near_bytes = 16 * 1024;

constexpr auto not_aligned =
    "an address is not aligned for its type (a float4 begins at a multiple of 16 bytes), or a pointer was never set";

/// Return whether the kernel has overwritten the number of its own thread, which lies on its stack.
bool has_overwritten_itself(bool in_kernel, const uint3& thread) {
    const auto& block = page->launch_block;
    return in_kernel && thread.x != warplab::unknown_thread &&
           (thread.x >= block[0] || thread.y >= block[1] || thread.z >= block[2]);
}

void on_signal(int signal, siginfo_t* info, void* context) {
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    const bool memory = signal == SIGSEGV || signal == SIGBUS;
    uint3 block, thread;
    const bool kernel = running_thread(block, thread);
    const bool is_protected = signal == SIGSEGV && info->si_code == SEGV_ACCERR;
    if (is_protected && hand_over(info->si_addr, kernel)) return;
    const Registers registers = registers_of(context);
    const bool near_top = address + near_bytes >= registers.stack && address < registers.stack + near_bytes;
    const bool guard = hits_stack_guard(info->si_addr) || below_stack.contains(address);
    const bool from_above = registers.stack >= address + near_bytes;  // reached by an index, not by the stack pointer
    const bool overflow = memory && (near_top || (guard && !from_above));
    // For a misaligned access, x86 reports no address, but aarch64 does.
    const bool misaligned = (signal == SIGSEGV && info->si_code == SI_KERNEL && address == 0) ||
                            (signal == SIGBUS && info->si_code == BUS_ADRALN);
    const AddressFault address_fault =
        overflow
            ? AddressFault{Fault::stack_overflow, "the stack is full: endless recursion, or arrays too large for it"}
        : signal == SIGFPE ? AddressFault{Fault::arithmetic, "an integer was divided by zero"}
        : signal == SIGILL
            ? AddressFault{Fault::illegal_instruction,
                           "an illegal instruction was reached, for example after an integer division by zero"}
        : signal == SIGABRT
            ? AddressFault{Fault::aborted,
                           "abort() was called, by the code itself or by the C library, for example because "
                           "free() got memory that is not from malloc()"}
        : memory && has_overwritten_itself(kernel, thread)
            ? AddressFault{Fault::overwritten, "the number of its thread is overwritten"}
        : misaligned && holds_unset_value(context) ? AddressFault{Fault::unset_pointer, "a pointer was never set"}
        : misaligned                               ? AddressFault{Fault::misaligned, not_aligned}
                     : explain_address(info->si_addr, kernel, !code.contains(registers.program_counter));
    if (!record(address_fault.fault, address_fault.words)) wait_for_exit();
    page->address = memory ? address : 0;
    page->program_counter =
        signal == SIGABRT ? 0 : place_in_executable(registers, !overflow);  // the call of abort() is too many frames up
    end_process(address_fault.fault);
}

constexpr int memory_signals[] = {SIGSEGV, SIGBUS};
bool handlers_installed = false;
std::uint32_t handlers_replaced = 0;

/// Install the runtime's handler. Return whether it was installed already.
bool install_handler(int signal) {
    struct sigaction action {
    }, before{};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(signal, &action, &before);
    return before.sa_sigaction == on_signal;
}

void on_exit_by_student() {
    const auto phase = static_cast<warplab::Phase>(page->phase);
    if (phase != warplab::Phase::prepare && phase != warplab::Phase::call) return;
    if (!record(Fault::exited, "exit()")) return;
    std::fflush(nullptr);
    end_process(Fault::exited);
}

}  // namespace

void prepare_thread_for_faults() {
    static thread_local bool prepared = false;
    if (prepared) return;
    prepared = true;
    constexpr size_t bytes = 64 * 1024, margin = 64 * 1024;
    stack_t stack{};
    stack.ss_sp = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack.ss_size = bytes;
    if (stack.ss_sp != MAP_FAILED) sigaltstack(&stack, nullptr);
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* lowest = nullptr;
    size_t size = 0, guard = 0;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_getguardsize(&attributes, &guard);
    pthread_attr_destroy(&attributes);
    const auto begin = reinterpret_cast<uintptr_t>(lowest);
    below_stack = {begin - margin, begin + guard + margin};  // the first thread's stack may grow up to this range
}

void restore_handlers() {
    if (!handlers_installed) return;
    for (int signal : memory_signals) handlers_replaced += !install_handler(signal);
}

std::uint32_t count_replaced_handlers() { return handlers_replaced; }

void end_with_fault(Fault fault, const std::string& detail) {
    if (!record(fault, detail.c_str())) wait_for_exit();
    end_process(fault);
}

void end_with_fault_at(const void* caller, Fault fault, const std::string& detail) {
    if (!record(fault, detail.c_str())) wait_for_exit();
    page->program_counter = reinterpret_cast<uintptr_t>(caller) - 1 - executable_begin();
    end_process(fault);
}

void end_with_misaligned(const void* address, const void* caller) {
    if (!record(Fault::misaligned, not_aligned)) wait_for_exit();
    page->address = reinterpret_cast<uintptr_t>(address);
    page->program_counter = reinterpret_cast<uintptr_t>(caller) - 1 - executable_begin();
    end_process(Fault::misaligned);
}

void note_error_read() { explains_read_error = true; }

void drop_detail_of_read_error() {
    if (explains_read_error) note_detail("");
}

void note_detail(const std::string& detail, warplab::LaunchLimit limit) {
    if (page->fault != 0) return;
    explains_read_error = false;
    write_text(page->detail, sizeof(page->detail), detail.c_str());
    page->launch_limit = static_cast<uint32_t>(limit);
}

warplab::StatusPage& writable_page() { return *page; }
bool page_is_read() { return page != &spare_page; }

std::uintptr_t executable_begin() {
    if (!load_address) find_executable();
    return load_address;
}

void note_launch(const Grid& grid) {
    write_text(page->kernel, sizeof(page->kernel), grid.kernel);
    page->launch_line = grid.line;
    const LaunchSize launch{page->calls,
                            grid.line,
                            {grid.blocks.x, grid.blocks.y, grid.blocks.z},
                            {grid.threads.x, grid.threads.y, grid.threads.z}};
    LaunchSize& largest = page->largest_launch;
    if (largest.call != launch.call || largest.threads() < launch.threads()) largest = launch;
    static uint64_t counted_call = 0;
    if (counted_call != page->calls) page->call_launches = 0;
    counted_call = page->calls;
    ++page->call_launches;
    std::memcpy(page->launch_block, launch.block, sizeof launch.block);
    ++page->launches;
    page->in_kernel = 1;
}

void note_return() { page->in_kernel = 0; }

void note_blocks_ended(uint64_t count) {
    __atomic_fetch_add(&page->blocks_ended, static_cast<uint32_t>(count), __ATOMIC_RELAXED);
}
void note_early_exits() { __atomic_fetch_add(&page->early_exits, 1, __ATOMIC_RELAXED); }

const StatusPage& status_page() { return *page; }

}  // namespace warplab_cpu

namespace warplab::cpu {

void use_status_page(StatusPage* shared) {
    using namespace warplab_cpu;
    page = shared ? shared : &spare_page;
    find_executable();
    prepare_thread_for_faults();
    for (int signal : {SIGFPE, SIGILL, SIGABRT, SIGTRAP}) install_handler(signal);
    for (int signal : memory_signals) install_handler(signal);
    handlers_installed = true;
    static const int once = atexit(on_exit_by_student);
    (void)once;
}

}  // namespace warplab::cpu

// Replaces the function of the C library that assert() calls, in kernels and on the host: the C library's function
// would write its message only to stderr.
extern "C" [[noreturn]] __attribute__((visibility("default"))) void __assert_fail(const char* expression,
                                                                                  const char* file, unsigned line,
                                                                                  const char*) noexcept {
    const char* slash = std::strrchr(file, '/');
    const std::string words = std::string("assertion `") + expression + "' failed at " + (slash ? slash + 1 : file) +
                              ":" + std::to_string(line);
    warplab_cpu::end_with_fault(warplab::Fault::aborted, words);
}

/// The data that GCC passes to the handler of -fsanitize=return.
struct FunctionEnd {
    const char* file;
    std::uint32_t line, column;
};

/// The handler of -fsanitize=return: a function that returns a value reached its end.
extern "C" [[noreturn]] __attribute__((visibility("default"))) void __ubsan_handle_missing_return(
    const FunctionEnd* end) {
    warplab_cpu::end_with_fault(warplab::Fault::missing_return,
                                "the function that begins at line " + std::to_string(end->line) +
                                    " returns a value, but a call of it reached the end without a return statement");
}

void __trap() { warplab_cpu::end_with_fault(warplab::Fault::refused, "__trap() was called"); }
