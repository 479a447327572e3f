// The runner's side of the CUDA backend: device memory belongs to the judge and arrives as descriptors. The linker
// redirects the student's calls of a few runtime functions to this file (--wrap; judge/compile/toolchain.h has the
// list), to count device-to-host bytes and allocations and to name the kernel of a failure. These counts and names make
// messages clearer and reveal honest mistakes; the judge does not trust them.

#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

#include "grader/runner/backend.h"

namespace warplab::runner {
namespace {

StatusPage* page;
Counters counted;
std::uint64_t host_limit = ~0ull;
bool names_launched_kernels = true;
std::mutex allocations_mutex;

std::unordered_map<void*, std::size_t>& allocations() {
    static auto* map = new std::unordered_map<void*, std::size_t>;  // outlives static destructors
    return *map;
}

[[noreturn]] void give_up(const char* what, cudaError_t error) {
    std::fprintf(stderr, "runner: %s: %s\n", what, cudaGetErrorString(error));
    _exit(2);
}

void note_launch(const void* kernel) {
    ++counted.launches;
    if (!page) return;
    page->launches = counted.launches;
    if (!names_launched_kernels) return;
    const char* name = nullptr;
    if (cudaFuncGetName(&name, kernel) == cudaSuccess && name) {
        std::strncpy(page->kernel, name, sizeof page->kernel - 1);
        page->in_kernel = 1;
    }
}

/// If WARPLAB_LAUNCHES names a file, write one line to it for each kernel and launch shape, for `warplab device`.
void show_launch(const void* kernel, dim3 grid, dim3 block, std::size_t shared) {
    static const char* const path = std::getenv("WARPLAB_LAUNCHES");
    static std::FILE* const file = path ? std::fopen(path, "w") : nullptr;
    static std::set<std::string> shown;
    const char* name = nullptr;
    cudaFuncAttributes attributes{};
    if (!file || cudaFuncGetName(&name, kernel) != cudaSuccess ||
        cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess)
        return;
    const int threads = static_cast<int>(block.x * block.y * block.z);
    int resident = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared);
    char line[512];
    std::snprintf(line, sizeof line, "%s %llu %d %zu %d %d\n", name,
                  static_cast<unsigned long long>(grid.x) * grid.y * grid.z, threads,
                  attributes.sharedSizeBytes + shared, attributes.numRegs, resident);
    if (!shown.insert(line).second) return;
    std::fputs(line, file);
    std::fflush(file);
}

bool goes_to_host(const void* destination, cudaMemcpyKind kind) {
    if (kind != cudaMemcpyDefault) return kind == cudaMemcpyDeviceToHost;
    cudaPointerAttributes attributes{};
    return cudaPointerGetAttributes(&attributes, destination) != cudaSuccess || attributes.type == cudaMemoryTypeHost ||
           attributes.type == cudaMemoryTypeUnregistered;
}

void count_host_bytes(std::uint64_t bytes) {
    counted.host_bytes += bytes;
    if (counted.host_bytes <= host_limit || !page) return;
    page->fault = static_cast<std::uint32_t>(Fault::host_limit);
    std::snprintf(page->detail, sizeof page->detail, "%llu bytes were copied to the host, and %llu are allowed",
                  static_cast<unsigned long long>(counted.host_bytes), static_cast<unsigned long long>(host_limit));
    _exit(91);
}

void note_allocation(void* pointer, std::size_t bytes) {
    const std::lock_guard lock(allocations_mutex);
    allocations()[pointer] = bytes;
    counted.allocated_bytes += static_cast<std::int64_t>(bytes);
}

void note_free(void* pointer) {
    const std::lock_guard lock(allocations_mutex);
    const auto iterator = allocations().find(pointer);
    if (iterator == allocations().end()) return;
    counted.allocated_bytes -= static_cast<std::int64_t>(iterator->second);
    allocations().erase(iterator);
}

bool is_local(const protocol::Buffer& buffer) {
    return buffer.transport == static_cast<std::uint32_t>(protocol::Transport::local);
}

/// Functions of NVIDIA's driver, which the runtime has loaded. A machine without a GPU has no library to link with.
struct DriverApi {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    template <class Function>
    void find(Function*& function, const char* name) {
        function = library ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
        if (function) return;
        std::fprintf(stderr, "runner: the driver has no %s\n", name);
        _exit(2);
    }
    decltype(&cuGetErrorString) error_string;
    decltype(&cuMemImportFromShareableHandle) import;
    decltype(&cuMemAddressReserve) reserve;
    decltype(&cuMemMap) map;
    decltype(&cuMemSetAccess) set_access;
    decltype(&cuMemRelease) release;
    decltype(&cuMemUnmap) unmap;
    decltype(&cuMemAddressFree) free_addresses;
    DriverApi() {
        find(error_string, "cuGetErrorString");
        find(import, "cuMemImportFromShareableHandle");
        find(reserve, "cuMemAddressReserve");
        find(map, "cuMemMap");
        find(set_access, "cuMemSetAccess");
        find(release, "cuMemRelease");
        find(unmap, "cuMemUnmap");
        find(free_addresses, "cuMemAddressFree");
    }
};

DriverApi& driver_api() {
    static auto* functions = new DriverApi;  // outlives static destructors
    return *functions;
}

void check(const char* what, CUresult result) {
    if (result == CUDA_SUCCESS) return;
    const char* words = nullptr;
    driver_api().error_string(result, &words);
    std::fprintf(stderr, "runner: cannot %s the judge's device memory: %s\n", what, words ? words : "unknown error");
    _exit(2);
}

void* map_judges_memory(int descriptor, std::size_t bytes) {
    if (const cudaError_t error = cudaFree(nullptr)) give_up("cannot use the GPU", error);  // creates the context
    CUmemAccessDesc access{};
    access.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CUmemGenericAllocationHandle physical{};
    CUdeviceptr pointer{};
    void* const handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
    check("open", driver_api().import(&physical, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    check("reserve addresses for", driver_api().reserve(&pointer, bytes, 0, 0, 0));
    check("map", driver_api().map(pointer, bytes, 0, physical, 0));
    check("get access to", driver_api().set_access(pointer, bytes, &access, 1));
    check("release the handle of", driver_api().release(physical));  // the memory stays until it is unmapped
    return reinterpret_cast<void*>(pointer);
}

void unmap_judges_memory(void* memory, std::size_t bytes) {
    const CUdeviceptr pointer = reinterpret_cast<CUdeviceptr>(memory);
    cudaDeviceSynchronize();
    driver_api().unmap(pointer, bytes);
    driver_api().free_addresses(pointer, bytes);
}

}  // namespace

void start(StatusPage* status) { page = status; }

Mapping map_device(const protocol::Buffer& buffer, int descriptor) {
    Mapping mapping;
    mapping.buffer = buffer;
    if (is_local(buffer)) {
        mapping = map_host(buffer, descriptor);
        if (const cudaError_t error = cudaMalloc(&mapping.device, buffer.bytes ? buffer.bytes : 1))
            give_up("cannot allocate device memory", error);
        mapping.buffer.offset = mapping.buffer.stride = 0;
    } else if (buffer.transport == static_cast<std::uint32_t>(protocol::Transport::device)) {
        mapping.device = map_judges_memory(descriptor, buffer.mapped_bytes);
    }
    return mapping;
}

void unmap(Mapping& mapping) {
    if (mapping.device && is_local(mapping.buffer))
        cudaFree(mapping.device);
    else if (mapping.device)
        unmap_judges_memory(mapping.device, mapping.buffer.mapped_bytes);
    if (mapping.file) munmap(mapping.file, mapping.file_bytes);
    mapping = {};
}

void copy_in(const Mapping& mapping) {
    if (!mapping.device || !is_local(mapping.buffer) || !mapping.buffer.is_input) return;
    cudaMemcpy(mapping.device, mapping.file, mapping.buffer.bytes, cudaMemcpyHostToDevice);
}

void copy_out(const Mapping& mapping) {
    if (!mapping.device || !is_local(mapping.buffer)) return;
    cudaMemcpy(mapping.file, mapping.device, mapping.buffer.bytes, cudaMemcpyDeviceToHost);
}

void set_thread_order(std::uint32_t) {}

void set_host_limit(std::uint64_t bytes) {
    counted.host_bytes = 0;
    host_limit = bytes;
}

Counters counters() { return counted; }

void use_sanitizer(bool) {}
void begin_trace(const trace::Order&) {}
void show_multiprocessors(unsigned) {}
void begin_dataset(bool) {}
Observations observed() { return {}; }

void name_part(void*, std::size_t, const char*) {}
void call_begins() {}
void call_ends() {}

void name_kernels(bool on) { names_launched_kernels = on; }

}  // namespace warplab::runner

using namespace warplab;

extern "C" {

cudaError_t __real_cudaMemcpy(void*, const void*, std::size_t, cudaMemcpyKind);
cudaError_t __wrap_cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (runner::goes_to_host(to, kind)) runner::count_host_bytes(bytes);
    return __real_cudaMemcpy(to, from, bytes, kind);
}

cudaError_t __real_cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
    if (runner::goes_to_host(to, kind)) runner::count_host_bytes(bytes);
    return __real_cudaMemcpyAsync(to, from, bytes, kind, stream);
}

cudaError_t __real_cudaMemcpy2D(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, cudaMemcpyKind);
cudaError_t __wrap_cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    if (runner::goes_to_host(to, kind)) runner::count_host_bytes(width * height);
    return __real_cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

cudaError_t __real_cudaMemcpyFromSymbol(void*, const void*, std::size_t, std::size_t, cudaMemcpyKind);
cudaError_t __wrap_cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                        cudaMemcpyKind kind) {
    if (runner::goes_to_host(to, kind)) runner::count_host_bytes(bytes);
    return __real_cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}

cudaError_t __real_cudaMalloc(void**, std::size_t);
cudaError_t __wrap_cudaMalloc(void** pointer, std::size_t bytes) {
    const cudaError_t error = __real_cudaMalloc(pointer, bytes);
    if (!error) runner::note_allocation(*pointer, bytes);
    return error;
}

cudaError_t __real_cudaFree(void*);
cudaError_t __wrap_cudaFree(void* pointer) {
    runner::note_free(pointer);
    return __real_cudaFree(pointer);
}

// CUDA 12 launches through the first function, CUDA 13 through the second.
cudaError_t __real_cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) __attribute__((weak));
cudaError_t __wrap_cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                    cudaStream_t stream) {
    runner::note_launch(kernel);
    runner::show_launch(kernel, grid, block, shared);
    return __real_cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t __real___cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t)
    __attribute__((weak));
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                      cudaStream_t stream) {
    runner::note_launch(reinterpret_cast<const void*>(kernel));
    runner::show_launch(reinterpret_cast<const void*>(kernel), grid, block, shared);
    return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**) __attribute__((weak));
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* shape, const void* kernel, void** arguments) {
    runner::note_launch(kernel);
    return __real_cudaLaunchKernelExC(shape, kernel, arguments);
}

cudaError_t __real_cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t)
    __attribute__((weak));
cudaError_t __wrap_cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                               std::size_t shared, cudaStream_t stream) {
    runner::note_launch(kernel);
    runner::show_launch(kernel, grid, block, shared);
    return __real_cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t __real_cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) __attribute__((weak));
cudaError_t __wrap_cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
    ++runner::counted.launches;  // the launch of a graph counts once, and names no kernel
    return __real_cudaGraphLaunch(graph, stream);
}

[[noreturn]] void __real_exit(int);
[[noreturn]] void __wrap_exit(int status) {
    if (runner::page) {
        runner::page->fault = static_cast<std::uint32_t>(Fault::exited);
        std::snprintf(runner::page->detail, sizeof runner::page->detail, "exit(%d)", status);
    }
    __real_exit(status);
}
}
