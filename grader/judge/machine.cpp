#include "grader/judge/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <thread>

#include "grader/judge/compile/toolchain.h"
#include "grader/judge/device/cuda_device.h"
#include "grader/model/manifest.h"

namespace warplab {
namespace {

/// Return the text after the first `separator` in the first line of `file` that begins with `key`.
std::string field_of(const char* file, const std::string& key, char separator) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        if (!line.starts_with(key)) continue;
        std::string value = line.substr(line.find(separator) + 1);
        value.erase(0, value.find_first_not_of(" \t\""));
        value.erase(value.find_last_not_of(" \t\"") + 1);
        return value;
    }
    return "";
}

std::string nvcc_missing() {
    return find_nvcc().empty() ? "nvcc is neither on the PATH nor in /usr/local/cuda/bin" : "";
}

}  // namespace

Machine describe_machine() {
    Machine machine;
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    machine.host = host.data();
    machine.cpu = field_of("/proc/cpuinfo", "model name", ':');
    if (machine.cpu.empty()) {
        utsname system{};
        uname(&system);
        machine.cpu = system.machine;
    }
    machine.cpu_cores = static_cast<int>(std::thread::hardware_concurrency());
    machine.os = field_of("/etc/os-release", "PRETTY_NAME", '=');
    machine.compiler = compiler_version();
    machine.cuda = nvcc_version();
    if (!why_no_device().empty()) return machine;
    machine.gpu = CudaDevice::get().limits().name;
    machine.driver = CudaDevice::get().driver_version();
    return machine;
}

std::string why_no_gpu() { return !why_no_device().empty() ? why_no_device() : nvcc_missing(); }

Backend choose_backend(const std::string& requested) {
    if (!requested.empty() && requested != "cuda" && requested != "cpu")
        throw UsageError(fmt::format("There is no backend \"{}\": BACKEND is cuda or cpu.", requested));
    if (requested == "cpu") return Backend::cpu;
    const std::string reason = why_no_gpu();
    if (reason.empty()) return Backend::cuda;
    if (requested.empty()) return Backend::cpu;
    throw UsageError(
        fmt::format("BACKEND=cuda cannot run here: {}. Omit BACKEND, or use BACKEND=cpu: the same files "
                    "run on the CPU backend without a GPU.",
                    reason));
}

}  // namespace warplab
