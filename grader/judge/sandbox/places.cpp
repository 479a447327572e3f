#include "grader/judge/sandbox/places.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "grader/judge/sandbox/compilers.h"

namespace warplab::sandbox {
namespace {
namespace fs = std::filesystem;

std::vector<std::string> split(const char* list) {
    std::vector<std::string> parts;
    std::stringstream stream(list ? list : "");
    for (std::string part; std::getline(stream, part, ':');)
        if (!part.empty()) parts.push_back(part);
    return parts;
}

const char* search_path() {
    const char* path = std::getenv("PATH");
    return path && *path ? path : "/usr/local/bin:/usr/bin:/bin";
}

std::string find_visible_search_path() {
    std::vector<fs::path> visible = tool_folders();
    for (const fs::path& folder : system_folders()) visible.push_back(folder);
    visible.push_back("/usr");
    std::string kept_folders;
    for (const std::string& folder : split(search_path())) {
        const auto is_shown = [&](const fs::path& place) { return lies_in(folder, place) || lies_in(place, folder); };
        if (std::ranges::any_of(visible, is_shown)) kept_folders += (kept_folders.empty() ? "" : ":") + folder;
    }
    return kept_folders;
}

/// Return the folders of the search path that a sandbox shows at least in part. The others do not exist there, but
/// their names may contain those of people and projects.
const std::string& visible_search_path() {
    static const std::string search_path = find_visible_search_path();
    return search_path;
}

void add_existing(std::vector<fs::path>& list, const fs::path& path) {
    std::error_code error;
    if (!path.empty() && path != "/" && fs::exists(path, error) && std::ranges::find(list, path) == list.end())
        list.push_back(path);
}

std::string environment_or(const char* variable, const char* fallback) {
    const char* value = std::getenv(variable);
    return value && *value ? value : fallback;
}

}  // namespace

fs::path find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? fs::path(name) : fs::path();
    for (const auto& folder : split(search_path()))
        if (const fs::path candidate = fs::path(folder) / name; access(candidate.c_str(), X_OK) == 0)
            return fs::absolute(candidate);
    return {};
}

const CompilerPlaces& gcc() {
    static const CompilerPlaces places = gcc_places(find_program(environment_or("CXX", "g++")));
    return places;
}

const CompilerPlaces& nvcc() {
    static const CompilerPlaces places = [] {
        const fs::path nvcc_path = find_program(environment_or("NVCC", "nvcc"));
        const bool chosen = std::getenv("NVCC") != nullptr;
        return nvcc_places(nvcc_path.empty() && !chosen ? find_program("/usr/local/cuda/bin/nvcc") : nvcc_path);
    }();
    return places;
}

const std::vector<fs::path>& tool_folders() {
    static const std::vector<fs::path> found = [] {
        std::vector<fs::path> folders;
        for (const auto& list :
             {gcc().folders, nvcc().folders, helper_places({"as", "ld", "ld.gold", "nm", "addr2line"})})
            for (const fs::path& folder : list) add_existing(folders, folder);
        return folders;
    }();
    return found;
}

std::vector<fs::path> system_folders() {
    std::vector<fs::path> folders;
    for (const char* folder : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) add_existing(folders, folder);
    return folders;
}

std::vector<fs::path> etc_files(const Policy& policy) {
    std::vector<fs::path> files;
    add_existing(files, "/etc/ld.so.cache");
    if (policy.activity == Activity::run && !policy.gpu) return files;
    // Compilers and the CUDA Toolkit may be links into /etc/alternatives.
    for (const char* file : {"/etc/alternatives", "/etc/ld.so.conf", "/etc/ld.so.conf.d"}) add_existing(files, file);
    return files;
}

std::vector<fs::path> kernel_files() {
    std::vector<fs::path> files;
    for (const char* name : {"cpuinfo", "meminfo", "stat", "version", "uptime", "loadavg", "filesystems", "devices",
                             "modules", "sys", "driver", "cgroups", "misc"})
        add_existing(files, fs::path("/proc") / name);
    return files;
}

std::vector<fs::path> gpu_devices(std::optional<int> node) {
    std::vector<fs::path> devices;
    for (const char* driver_node :
         {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-caps", "/dev/dxg"})
        add_existing(devices, driver_node);
    if (node) {
        add_existing(devices, "/dev/nvidia" + std::to_string(*node));
        return devices;
    }
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/dev", error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("nvidia") && name.size() > 6 &&
            std::all_of(name.begin() + 6, name.end(), [](unsigned char c) { return std::isdigit(c); }))
            add_existing(devices, entry.path());
    }
    return devices;
}

std::vector<fs::path> driver_folders() {
    std::vector<fs::path> folders;
    for (const char* folder :
         {"/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/wsl/lib", "/opt/nvidia/lib64"})
        add_existing(folders, folder);
    for (const auto& folder : split(std::getenv("LD_LIBRARY_PATH"))) {
        std::error_code error;
        if (fs::exists(fs::path(folder) / "libcuda.so.1", error)) add_existing(folders, folder);
    }
    return folders;
}

std::vector<std::string> clean_environment(SandboxLevel level, bool gpu, bool sees_one_gpu,
                                           const std::vector<std::string>& more) {
    std::vector<std::string> environment = more;  // first, because if a name occurs twice, the first value wins
    const std::string path = level == SandboxLevel::none ? search_path() : visible_search_path();
    environment.insert(environment.end(), {"PATH=" + path, "HOME=/tmp", "LANG=C.UTF-8"});
    std::string libraries;
    if (const char* own_libraries = std::getenv("LD_LIBRARY_PATH"))
        libraries = own_libraries;  // a cluster's compiler needs it
    if (gpu)
        for (const auto& folder : driver_folders()) libraries += (libraries.empty() ? "" : ":") + folder.string();
    if (!libraries.empty()) environment.push_back("LD_LIBRARY_PATH=" + libraries);
    // The program must use the judge's GPU. If it sees only this GPU, a device number would be wrong, because that also
    // counts other GPUs. But the program sees all parts of this GPU, so it needs the name of the judge's part.
    const char* const gpus = std::getenv("CUDA_VISIBLE_DEVICES");
    if (gpu && gpus && (!sees_one_gpu || std::string(gpus).starts_with("MIG-")))
        environment.push_back(std::string("CUDA_VISIBLE_DEVICES=") + gpus);
    if (const char* threads = std::getenv("WARPLAB_THREADS"))  // limits the CPU backend's threads on a shared machine
        environment.push_back(std::string("WARPLAB_THREADS=") + threads);
    return environment;
}

}  // namespace warplab::sandbox
