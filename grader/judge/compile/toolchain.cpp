#include "grader/judge/compile/toolchain.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "grader/judge/device/cuda_device.h"
#include "grader/judge/sandbox/places.h"
#include "grader/judge/sandbox/process.h"

namespace warplab {
namespace {
namespace fs = std::filesystem;

constexpr auto default_architecture = "sm_90";

fs::path first_existing(const std::vector<fs::path>& folders, const char* file) {
    std::error_code error;
    for (const auto& folder : folders)
        if (fs::exists(folder / file, error)) return folder;
    return {};
}

/// Return the CUDA Toolkit that nvcc belongs to.
fs::path cuda_prefix() {
    std::error_code error;
    const fs::path nvcc = fs::canonical(find_nvcc(), error);
    return error ? fs::path() : nvcc.parent_path().parent_path();
}

std::string word_after(const std::string& text, const std::string& before) {
    const auto at = text.find(before);
    if (at == std::string::npos) return "";
    const auto begin = at + before.size();
    return text.substr(begin, text.find_first_of(" \n\r,", begin) - begin);
}

#if defined(__aarch64__)
constexpr auto target_folder = "targets/sbsa-linux";
#else
constexpr auto target_folder = "targets/x86_64-linux";
#endif

}  // namespace

fs::path find_cxx() { return sandbox::gcc().program; }

fs::path find_nvcc() { return sandbox::nvcc().program; }

std::string compiler_version() {
    static const std::string version = [] {
        if (find_cxx().empty()) return std::string();
        std::string number = run_to_end({find_cxx().string(), "-dumpfullversion"}, {}).output;
        number.erase(number.find_last_not_of(" \n") + 1);
        return "g++ " + number;
    }();
    return version;
}

std::string nvcc_version() {
    static const std::string version = [] {
        if (find_nvcc().empty()) return std::string();
        const std::string number = word_after(run_to_end({find_nvcc().string(), "--version"}, {}).output, ", V");
        return number.empty() ? "nvcc" : "nvcc " + number;
    }();
    return version;
}

std::string compiler_identity(const fs::path& compiler) {
    std::error_code error;
    const fs::path real = fs::canonical(compiler, error);
    struct stat file {};
    if (error || stat(real.c_str(), &file) != 0) return "";
    return real.string() + " " + std::to_string(file.st_size) + " " + std::to_string(file.st_mtim.tv_sec) + "." +
           std::to_string(file.st_mtim.tv_nsec);
}

fs::path cuda_include() {
    return first_existing({cuda_prefix() / "include", cuda_prefix() / target_folder / "include"}, "cuda_runtime.h");
}

fs::path cuda_library() {
    return first_existing({cuda_prefix() / "lib64", cuda_prefix() / target_folder / "lib", cuda_prefix() / "lib"},
                          "libcudart_static.a");
}

std::string gpu_architecture() {
    static const std::string architecture = [] {
        if (!why_no_device().empty()) return std::string(default_architecture);
        const DeviceLimits& limits = CudaDevice::get().limits();
        return "sm_" + std::to_string(limits.major) + std::to_string(limits.minor);
    }();
    return architecture;
}

// Signed overflow wraps and pointers may alias, as on the GPU. Fused multiply-add is off, so that results do not depend
// on the machine.
Flags student_cpu_flags() {
    return {"-std=c++17",
            "-O2",
            "-g1",
            "-gdwarf-4",  // with version 5, addr2line reports the compiled file instead of the file that #line names
            "-fwrapv",
            "-fno-strict-aliasing",
            "-ffp-contract=off",
            "-U_FORTIFY_SOURCE",  // some systems' g++ sets it: printf and memcpy would have names that are not hooked
            "-ftrivial-auto-var-init=pattern",  // 0xFE: an uninitialised variable is not 0 by chance
            "-fsanitize=return",  // a function that lacks its return stops, instead of running into the next one
            "-fno-gnu-unique",    // otherwise objcopy cannot hide all names
            "-pthread",
            "-pipe",
            "-Wall",
            "-Wno-unused",
            "-Wunused-value",             // a statement without effect
            "-Wunused-but-set-variable",  // for (float value : values) value = …; sets copies
            "-Wtype-limits",              // for (unsigned half = …; half >= 0; half /= 2) never ends
            "-Wshadow=local",             // a new variable where the outer one was meant
            "-Wno-sign-compare",          // int i < std::size_t n is common in student code
            "-Wno-unknown-pragmas",
            "-fdiagnostics-color=never",
            "-fno-diagnostics-show-caret",
            "-fmax-errors=101"};  // one more than are explained: thousands would take minutes
}

static Flags with_hooks(Flags flags) {
    flags.insert(flags.end(),
                 {"-U__SANITIZE_THREAD__",
                  "-DWARPLAB_CPU_HOOKED",  // cuda_runtime.h undefines it
                  "-Wno-tsan",             // about fences, which the hooks observe themselves
                  "--param=tsan-instrument-func-entry-exit=0", "--param=tsan-distinguish-volatile=1",
                  "-fno-builtin-memset", "-fno-builtin-memmove", "-fno-builtin-memcpy", "-fno-builtin-memcmp",
                  "-fno-crossjumping", "-fno-thread-jumps", "-fno-tree-tail-merge"});
    return flags;
}

// g++ adds ThreadSanitizer's hooks, but grader/cpu/runtime/sanitizer.cpp implements them, and ThreadSanitizer's library
// is never linked. The disabled passes would merge accesses of different lines, split an access, omit a read whose
// value matters only to some threads, or move a load out of a loop before the condition on which it depends. As on a
// GPU, no macro reveals the hooks.
Flags sanitizer_flags() {
    return with_hooks({"-O1",
                       "-fsanitize=thread,bounds-strict",  // strict: including an array that is a struct's last member
                       "-fno-tree-loop-im", "-fno-tree-sra"});
}

Flags fast_cpu_flags() {
    return {"-DWARPLAB_CPU_FAST"};  // without the hooks
}

// Loops of known length are unrolled completely, as by nvcc. The other flags keep each hook's call where it is in the
// intermediate code, so that the judge can match calls and intermediate code.
Flags traced_cpu_flags() {
    return with_hooks({"-O3",
                       "-ftrivial-auto-var-init=uninitialized",
                       "-fsanitize=thread",
                       "-fsanitize-coverage=trace-pc",
                       "-DWARPLAB_CPU_TRACED",  // g++ tells precompiled headers apart by macros, not by all flags
                       "-fno-tree-vectorize",
                       "-fno-reorder-blocks",
                       "-fno-reorder-blocks-and-partition",
                       "-fno-jump-tables",
                       "-fno-ivopts",
                       "-fno-unswitch-loops",
                       "-fno-split-loops",
                       "-fno-split-paths",
                       "-fno-unroll-loops",
                       "-fno-tree-loop-distribution",
                       "-fno-loop-interchange",
                       "-fno-predictive-commoning",
                       "-fno-version-loops-for-strides",
                       "-fno-ipa-cp",  // nvcc compiles a kernel for all arguments
                       "-fno-optimize-sibling-calls",
                       "-fpeel-loops",
                       "--param=max-completely-peel-times=256",
                       "--param=max-completely-peeled-insns=4000"});
}

Flags split_cpu_flags() {
    return {"-O3"};  // vectorises the loops over a block's threads
}

Flags student_cuda_flags(bool for_tools) {
    Flags flags = {"-std=c++17",
                   "-O3",
                   "-arch=" + gpu_architecture(),
                   "-ccbin",
                   find_cxx().string(),
                   "-diag-suppress=177,550"};  // variables that a starter declares for the student to use
    if (for_tools) flags.insert(flags.end(), {"-lineinfo", "-Xcompiler=-g1"});
    return flags;
}

Flags resource_report_flags(const std::string& architecture) {
    return {"-std=c++17", "-O3", "-arch=" + architecture, "-ccbin", find_cxx().string(), "-cubin", "-Xptxas", "-v"};
}

Flags harness_flags(Backend backend) {
    Flags flags = {"-std=c++20", "-O2", "-fwrapv", "-fno-strict-aliasing", "-fno-gnu-unique", "-pthread"};
    if (backend == Backend::cuda) flags.push_back("-I" + cuda_include().string());
    return flags;
}

Flags link_flags(Backend backend) {
    Flags flags = {"-pthread", "-ldl", "-lrt"};
    if (backend == Backend::cpu) return flags;
    flags.insert(flags.begin(), {"-L" + cuda_library().string(), "-lcudart_static"});
    for (const char* function : wrapped_functions) flags.push_back(std::string("-Wl,--wrap=") + function);
    return flags;
}

Flags library_flags(const std::vector<std::string>& libraries) {
    Flags flags;
    for (const std::string& library : libraries) flags.push_back("-l" + library);
    if (!flags.empty()) flags.push_back("-Wl,-rpath," + cuda_library().string());
    return flags;
}

}  // namespace warplab
