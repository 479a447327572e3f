#include "grader/judge/device/cuda_device.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "grader/common/descriptor.h"
#include "grader/judge/device/bulk.h"
#include "grader/judge/device/read_kernel.h"
#include "grader/model/statistics.h"

namespace warplab {
namespace {

// Declarations of the functions of the driver interface and of NVML that the judge calls; both are stable ABIs.
using Handle = void*;
using Pointer = unsigned long long;
struct Location {
    int type = 1;  // a device
    int id = 0;
};
struct AllocationProperties {
    int type = 1;     // in device memory
    int handles = 1;  // exportable as a file descriptor
    Location location;
    void* security = nullptr;  // used only on Windows
    unsigned char flags[8] = {};
};
struct Access {
    Location location;
    int flags = 3;  // read and write
};

struct Library {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    void* management = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    template <class Function>
    Function* of(void* library, const char* name) const {
        return library ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
    }
};

const Library& library() {
    static const Library loaded;
    return loaded;
}

/// Call a driver function by name. Return its error code: 0 for success, -1 if the driver does not have the function.
template <class... Arguments>
int try_call(const char* name, Arguments... arguments) {
    auto* function = library().of<int(Arguments...)>(library().driver, name);
    return function ? function(arguments...) : -1;
}

std::string error_words(int error) {
    if (error == -1) return "the driver does not have this function";
    const char* words = nullptr;
    try_call("cuGetErrorString", error, &words);
    return words ? words : fmt::format("error {}", error);
}

/// Call a driver function by name. Throw std::runtime_error with the driver's message if it fails.
template <class... Arguments>
void call(const char* name, Arguments... arguments) {
    if (const int error = try_call(name, arguments...))
        throw std::runtime_error(fmt::format("{}: {}", name, error_words(error)));
}

/// Call a function of NVML by name, and return whether it succeeds.
template <class... Arguments>
bool ask_management(const char* name, Arguments... arguments) {
    auto* function = library().of<int(Arguments...)>(library().management, name);
    return function && function(arguments...) == 0;
}

enum Attribute {
    threads_per_block = 1,
    shared_per_block = 8,
    warp_size = 10,
    clock_rate = 13,
    multiprocessor_count = 16,
    l2_cache = 38,
    threads_per_multiprocessor = 39,
    capability_major = 75,
    capability_minor = 76,
    shared_per_multiprocessor = 81,
    registers_per_multiprocessor = 82,
    shared_opt_in = 97,
    blocks_per_multiprocessor = 106,
};

int attribute(int device, Attribute which) {
    int value = 0;
    try_call("cuDeviceGetAttribute", &value, static_cast<int>(which), device);
    return value;
}

constexpr int device_index = 0;  // CUDA_VISIBLE_DEVICES selects the GPU
constexpr std::size_t calibration_bytes = 256 << 20;

bool plain_copies = false;

/// Two pinned buffers for copies between host and GPU: the GPU copies one while the cores fill or empty the other. This
/// is several times faster than a copy of pageable memory.
class StagingBuffers {
  public:
    static constexpr std::size_t min_bytes = 16 << 20;

    /// Return null if the copy is small, plain copies are requested, or pinned memory is not available.
    static StagingBuffers* for_copy(std::size_t bytes) {
        static StagingBuffers buffers;
        return bytes < min_bytes || plain_copies || !buffers.memory_[1] ? nullptr : &buffers;
    }

    void write(Pointer to, const std::byte* from, std::size_t bytes) {
        for (Part part(bytes); part.bytes; part.next()) {
            wait(part.buffer);
            copy_bytes(memory_[part.buffer], from + part.begin, part.bytes);
            call("cuMemcpyHtoDAsync_v2", to + part.begin, static_cast<const void*>(memory_[part.buffer]), part.bytes,
                 Handle{});
            call("cuEventRecord", copied_[part.buffer], Handle{});
        }
        wait(0);
        wait(1);
    }

    /// Call work(begin, part, bytes) for each part of the memory, until it returns false.
    template <class Work>
    void read(Pointer from, std::size_t bytes, const Work& work) {
        Part ahead(bytes);
        const auto begin_next = [&] {
            if (!ahead.bytes) return;
            call("cuMemcpyDtoHAsync_v2", static_cast<void*>(memory_[ahead.buffer]), from + ahead.begin, ahead.bytes,
                 Handle{});
            call("cuEventRecord", copied_[ahead.buffer], Handle{});
            ahead.next();
        };
        begin_next();
        for (Part part(bytes); part.bytes; part.next()) {
            begin_next();
            wait(part.buffer);
            if (!work(part.begin, memory_[part.buffer], part.bytes)) return;
        }
    }

  private:
    static constexpr std::size_t buffer_bytes = 32 << 20;

    /// The parts of a copy, which use the two buffers alternately.
    struct Part {
        explicit Part(std::size_t bytes) : all(bytes), bytes(std::min(buffer_bytes, bytes)) {}
        void next() {
            begin += bytes;
            bytes = std::min(buffer_bytes, all - begin);
            buffer ^= 1;
        }
        std::size_t all, begin = 0, bytes;
        unsigned buffer = 0;
    };

    StagingBuffers() {
        for (unsigned i = 0; i < 2; ++i) {
            void* pinned = nullptr;
            call("cuEventCreate", &copied_[i], 0u);
            if (!try_call("cuMemAllocHost_v2", &pinned, buffer_bytes)) memory_[i] = static_cast<std::byte*>(pinned);
        }
    }
    void wait(unsigned buffer) { call("cuEventSynchronize", copied_[buffer]); }

    std::byte* memory_[2] = {};
    Handle copied_[2] = {};
};

/// Separate physical memory in whole pages: its descriptor gives access to nothing else, and no process can map it
/// without that descriptor.
class DeviceRegion : public Region {
  public:
    explicit DeviceRegion(std::size_t bytes) : Region(bytes) {
        constexpr std::size_t page = 2 << 20;
        mapped_bytes_ = std::max(page, (bytes + page - 1) / page * page);
        try {
            map();
        } catch (...) {
            release();
            throw;
        }
    }
    ~DeviceRegion() override { release(); }

    void write(std::size_t offset, const void* from, std::size_t count) override {
        if (StagingBuffers* const staging = StagingBuffers::for_copy(count))
            staging->write(pointer_ + offset, static_cast<const std::byte*>(from), count);
        else if (count)
            call("cuMemcpyHtoD_v2", pointer_ + offset, from, count);
    }
    void read(std::size_t offset, void* to, std::size_t count) const override {
        StagingBuffers* const staging = StagingBuffers::for_copy(count);
        if (!staging && count) call("cuMemcpyDtoH_v2", to, pointer_ + offset, count);
        if (!staging) return;
        staging->read(pointer_ + offset, count, [&](std::size_t begin, const std::byte* part, std::size_t bytes) {
            copy_bytes(static_cast<std::byte*>(to) + begin, part, bytes);
            return true;
        });
    }
    std::optional<std::size_t> first_difference(std::size_t offset, const void* expected,
                                                std::size_t count) const override {
        std::optional<std::size_t> first;
        const auto compare = [&](std::size_t begin, const std::byte* part, std::size_t bytes) {
            const auto at = warplab::first_difference(part, static_cast<const std::byte*>(expected) + begin, bytes);
            if (at) first = begin + *at;
            return !at;
        };
        if (StagingBuffers* const staging = StagingBuffers::for_copy(count)) {
            staging->read(pointer_ + offset, count, compare);
        } else {
            std::vector<std::byte> copy(count);
            read(offset, copy.data(), count);
            compare(0, copy.data(), count);
        }
        return first;
    }
    void fill(std::size_t offset, std::size_t count, std::uint32_t pattern) override {
        if (count) call("cuMemsetD32_v2", pointer_ + offset, pattern, count / sizeof pattern);
    }
    void copy_from(const Region& source, std::size_t source_offset, std::size_t offset, std::size_t count) override {
        const Pointer from = static_cast<const DeviceRegion&>(source).pointer_ + source_offset;
        if (count) call("cuMemcpyDtoDAsync_v2", pointer_ + offset, from, count, Handle{});
    }
    void describe(protocol::Buffer& buffer) const override {
        buffer.transport = static_cast<std::uint32_t>(protocol::Transport::device);
        buffer.mapped_bytes = mapped_bytes_;
    }
    int descriptor() const override { return file_.get(); }
    Pointer pointer() const { return pointer_; }

  private:
    void map() {
        const AllocationProperties properties;
        const Access access;
        if (const int error = try_call("cuMemCreate", &physical_, mapped_bytes_, &properties, 0ull))
            throw OutOfMemory(fmt::format("cannot allocate {} bytes on the GPU: {}", bytes(), error_words(error)));
        call("cuMemAddressReserve", &reserved_, mapped_bytes_, std::size_t{0}, Pointer{0}, 0ull);
        call("cuMemMap", reserved_, mapped_bytes_, std::size_t{0}, physical_, 0ull);
        pointer_ = reserved_;
        call("cuMemSetAccess", pointer_, mapped_bytes_, &access, std::size_t{1});
        int file = -1;
        call("cuMemExportToShareableHandle", static_cast<void*>(&file), physical_, properties.handles, 0ull);
        file_ = Descriptor(file);
        fcntl(file, F_SETFD, FD_CLOEXEC);
    }
    void release() {
        file_.reset();
        if (pointer_) {
            try_call("cuCtxSynchronize");
            try_call("cuMemUnmap", pointer_, mapped_bytes_);
        }
        if (reserved_) try_call("cuMemAddressFree", reserved_, mapped_bytes_);
        if (physical_) try_call("cuMemRelease", physical_);
    }

    std::size_t mapped_bytes_ = 0;
    unsigned long long physical_ = 0;
    Pointer reserved_ = 0, pointer_ = 0;
    Descriptor file_;
};

std::string find_why_no_device() {
    if (!library().driver) return "the NVIDIA driver's library libcuda.so.1 is not on this machine";
    if (const int error = try_call("cuInit", 0u)) return "the NVIDIA driver reports: " + error_words(error);
    int count = 0;
    if (const int error = try_call("cuDeviceGetCount", &count))
        return "the NVIDIA driver reports: " + error_words(error);
    return count ? "" : "the NVIDIA driver sees no GPU";
}

DeviceLimits read_limits() {
    DeviceLimits limits;
    char name[256] = {};
    call("cuDeviceGetName", name, static_cast<int>(sizeof name), device_index);
    limits.name = name;
    const auto read = [](Attribute which) { return attribute(device_index, which); };
    limits.major = read(capability_major);
    limits.minor = read(capability_minor);
    limits.multiprocessors = read(multiprocessor_count);
    limits.threads_per_multiprocessor = read(threads_per_multiprocessor);
    limits.blocks_per_multiprocessor = read(blocks_per_multiprocessor);
    limits.threads_per_block = read(threads_per_block);
    limits.registers_per_multiprocessor = read(registers_per_multiprocessor);
    limits.shared_per_multiprocessor = read(shared_per_multiprocessor);
    limits.shared_per_block = read(shared_per_block);
    limits.shared_opt_in = read(shared_opt_in);
    limits.warp = read(warp_size);
    limits.clock_khz = read(clock_rate);
    limits.l2_bytes = static_cast<std::size_t>(read(l2_cache));
    try_call("cuDeviceTotalMem_v2", &limits.memory_bytes, device_index);
    try_call("cuDriverGetVersion", &limits.driver_version);
    return limits;
}

std::string find_address() {
    char address[64] = {};
    try_call("cuDeviceGetPCIBusId", address, static_cast<int>(sizeof address), device_index);
    return address;
}

Handle management_device() {
    static const Handle device = [] {
        Handle handle = nullptr;
        const std::string address = find_address();
        if (!address.empty() && ask_management("nvmlInit_v2"))
            ask_management("nvmlDeviceGetHandleByPciBusId_v2", address.c_str(), &handle);
        return handle;
    }();
    return device;
}

std::string throttle_words(unsigned long long reasons) {
    static constexpr std::pair<unsigned long long, const char*> known[] = {
        {0x4, "power cap"},           {0x8, "hardware slowdown"}, {0x20, "thermal (software)"},
        {0x40, "thermal (hardware)"}, {0x80, "power brake"},      {0x2, "application clocks"},
    };
    std::string words;
    for (const auto& [bit, name] : known)
        if (reasons & bit) words += (words.empty() ? "" : ", ") + std::string(name);
    return words;
}

/// Return the seconds between device events before and after `work`.
template <class Work>
double time_on_device(Work work) {
    Handle begin = nullptr, end = nullptr;
    call("cuEventCreate", &begin, 0u);
    call("cuEventCreate", &end, 0u);
    call("cuEventRecord", begin, Handle{});
    work();
    call("cuEventRecord", end, Handle{});
    call("cuEventSynchronize", end);
    float elapsed_ms = 0;
    call("cuEventElapsedTime", &elapsed_ms, begin, end);
    try_call("cuEventDestroy_v2", begin);
    try_call("cuEventDestroy_v2", end);
    return elapsed_ms * 1e-3;
}

/// Return the bytes per second of `work`, which moves `bytes`: the median of nine runs of about 20 ms.
template <class Work>
double bandwidth_of(double bytes, Work work) {
    work();
    const double once_s = time_on_device(work);
    const int repeats = std::clamp(static_cast<int>(0.02 / once_s), 1, 10000);
    std::vector<double> rates;
    for (int run = 0; run < 9; ++run) {
        const double elapsed_s = time_on_device([&] {
            for (int i = 0; i < repeats; ++i) work();
        });
        rates.push_back(bytes * repeats / elapsed_s);
    }
    return median(rates);
}

}  // namespace

PlainCopies::PlainCopies() { plain_copies = true; }
PlainCopies::~PlainCopies() { plain_copies = false; }

std::string why_no_device() {
    static const std::string reason = find_why_no_device();
    return reason;
}

std::string gpu_address() { return find_address(); }

CudaDevice& CudaDevice::get() {
    if (!why_no_device().empty()) throw std::runtime_error(why_no_device());
    static CudaDevice device;
    return device;
}

CudaDevice::CudaDevice() {
    Handle context = nullptr;
    constexpr int out_of_memory = 2;  // CUDA_ERROR_OUT_OF_MEMORY
    const int error = try_call("cuDevicePrimaryCtxRetain", &context, device_index);
    if (error == out_of_memory) throw OutOfMemory("other programs use all memory of the GPU");
    if (error) throw std::runtime_error(fmt::format("cuDevicePrimaryCtxRetain: {}", error_words(error)));
    call("cuCtxSetCurrent", context);
}

std::unique_ptr<Region> CudaDevice::allocate(std::size_t bytes) { return std::make_unique<DeviceRegion>(bytes); }
void CudaDevice::synchronise() { call("cuCtxSynchronize"); }

std::size_t CudaDevice::free_bytes() const {
    std::size_t free = 0, total = 0;
    call("cuMemGetInfo_v2", &free, &total);
    return free;
}

const DeviceLimits& CudaDevice::limits() const {
    static const DeviceLimits limits = read_limits();
    return limits;
}

std::string CudaDevice::driver_version() const {
    char words[96] = {};
    management_device();
    ask_management("nvmlSystemGetDriverVersion", words, static_cast<unsigned>(sizeof words));
    return words;
}

std::optional<int> CudaDevice::node() const {
    unsigned minor = 0;
    const Handle device = management_device();
    if (!device || !ask_management("nvmlDeviceGetMinorNumber", device, &minor)) return std::nullopt;
    if (access(("/dev/nvidia" + std::to_string(minor)).c_str(), F_OK) != 0) return std::nullopt;
    return static_cast<int>(minor);
}

double CudaDevice::copy_bandwidth(std::size_t bytes) {
    const DeviceRegion from(bytes), to(bytes);
    return bandwidth_of(2.0 * static_cast<double>(bytes),
                        [&] { call("cuMemcpyDtoDAsync_v2", to.pointer(), from.pointer(), bytes, Handle{}); });
}

double CudaDevice::read_bandwidth(std::size_t bytes) {
    static const Handle kernel = [] {
        Handle module = nullptr, function = nullptr;
        call("cuModuleLoadData", &module, static_cast<const void*>(read_kernel_ptx));
        call("cuModuleGetFunction", &function, module, "read_kernel");
        return function;
    }();
    DeviceRegion data(bytes), sink(4);
    data.fill(0, bytes / 4 * 4, 0x01234567);
    Pointer data_pointer = data.pointer(), sink_pointer = sink.pointer();
    unsigned long long count = bytes / 16;
    void* arguments[] = {&data_pointer, &count, &sink_pointer};
    const unsigned blocks = static_cast<unsigned>(limits().multiprocessors) * 8, threads = 256;
    return bandwidth_of(static_cast<double>(bytes), [&] {
        call("cuLaunchKernel", kernel, blocks, 1u, 1u, threads, 1u, 1u, 0u, Handle{}, static_cast<void**>(arguments),
             static_cast<void**>(nullptr));
    });
}

void CudaDevice::warm_up(double seconds) {
    const DeviceRegion from(256 << 20), to(256 << 20);
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < until) {
        for (int i = 0; i < 50; ++i)
            call("cuMemcpyDtoDAsync_v2", to.pointer(), from.pointer(), std::size_t{256 << 20}, Handle{});
        synchronise();
    }
}

CalibrationCopy::CalibrationCopy()
    : from_(CudaDevice::get().allocate(calibration_bytes)), to_(CudaDevice::get().allocate(calibration_bytes)) {
    measure(0);
}

double CalibrationCopy::measure(double budget_s) {
    const int copies = copy_s_ > 0 ? std::clamp(static_cast<int>(budget_s / copy_s_) - 1, 1, 100) : 1;
    const auto copy = [&] { to_->copy_from(*from_, 0, 0, calibration_bytes); };
    copy();  // untimed: hides the switch from the runner's context to the judge's, and the start-up time of a copy
    copy_s_ = time_on_device([&] {
                  for (int i = 0; i < copies; ++i) copy();
              }) /
              copies;
    return 2.0 * static_cast<double>(calibration_bytes) / copy_s_;
}

SampleConditions CudaDevice::conditions() const {
    SampleConditions result;
    const Handle device = management_device();
    if (!device) return result;
    unsigned value = 0;
    if (ask_management("nvmlDeviceGetClockInfo", device, 1, &value)) result.sm_clock_mhz = static_cast<int>(value);
    if (ask_management("nvmlDeviceGetTemperature", device, 0, &value)) result.temperature_c = static_cast<int>(value);
    unsigned long long reasons = 0;
    if (ask_management("nvmlDeviceGetCurrentClocksThrottleReasons", device, &reasons))
        result.throttle = throttle_words(reasons);
    return result;
}

void CudaDevice::reset_persisting_l2() {
    constexpr int persisting_l2_limit = 6;
    try_call("cuCtxSetLimit", persisting_l2_limit, std::size_t{0});
    try_call("cuCtxResetPersistingL2Cache");
}

}  // namespace warplab
