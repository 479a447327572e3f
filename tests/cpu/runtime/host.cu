// The host side: memory, copies, symbols, errors, the device, streams and events, and the functions for the runner.

#include <time.h>

#include <algorithm>
#include <string>

#include "checks.h"

#define FAILS(call, error)                          \
    do {                                            \
        CHECK_EQUAL(call, error);                   \
        CHECK_EQUAL(cudaPeekAtLastError(), error);  \
        CHECK_EQUAL(cudaGetLastError(), error);     \
        CHECK_EQUAL(cudaGetLastError(), cudaSuccess); \
    } while (0)
#define LAUNCH_FAILS(launch, error)                   \
    do {                                              \
        launch;                                       \
        CHECK_EQUAL(cudaPeekAtLastError(), error);    \
        CHECK_EQUAL(cudaGetLastError(), error);       \
        CHECK_EQUAL(cudaGetLastError(), cudaSuccess); \
    } while (0)
#define WORKS(call) CHECK_EQUAL(call, cudaSuccess)

__constant__ float weights[4] = {1, 2, 3, 4};
__constant__ int scale;
__device__ int counter = 5;
__device__ double table[3];
__device__ volatile int latest;
__managed__ int shared_with_host = 1;

__global__ void mark_kernel(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void symbols_kernel(float* out) {
    *out = weights[threadIdx.x] * scale;
    counter += 1;
    shared_with_host += 10;
}
__global__ void large_shared_kernel(int* out) {
    extern __shared__ int large[];
    large[50 * 1024] = 3;
    *out = large[50 * 1024];
}
template <int size>
__global__ void template_kernel(int* out) {
    extern __shared__ char bytes[];
    bytes[size] = 1;
    *out = bytes[size] + size;
}
__global__ void add_one_kernel(int* values) { values[threadIdx.x] += 1; }

static warplab::StatusPage page;

/// The sanitizer needs new addresses, and a program must not be able to detect the sanitizer.
void test_addresses_are_not_reused() {
    void *first, *second;
    WORKS(cudaMalloc(&first, 123456));
    WORKS(cudaFree(first));
    WORKS(cudaMalloc(&second, 123456));
    WORKS(cudaFree(second));
    CHECK(first != second);
}

void test_memory() {
    const auto before = warplab::cpu::counters().allocated_bytes;
    float* a = nullptr;
    WORKS(cudaMalloc(&a, 1000));
    CHECK(a && reinterpret_cast<uintptr_t>(a) % 256 == 0);
    CHECK_EQUAL(warplab::cpu::counters().allocated_bytes, before + 1000);
    CHECK(from_device(a) != 0.0f);  // poisoned
    int* b = nullptr;
    FAILS(cudaMalloc((void**)&b, size_t{5} << 30), cudaErrorMemoryAllocation);
    CHECK(b == nullptr);
    WORKS(cudaFree(nullptr));
    int on_stack = 0;
    FAILS(cudaFree(&on_stack), cudaErrorInvalidValue);
    FAILS(cudaFree(a + 1), cudaErrorInvalidValue);
    WORKS(cudaFree(a));
    FAILS(cudaFree(a), cudaErrorInvalidValue);
    CHECK_EQUAL(warplab::cpu::counters().allocated_bytes, before);

    size_t free_bytes = 0, total_bytes = 0;
    WORKS(cudaMemGetInfo(&free_bytes, &total_bytes));
    CHECK(total_bytes == size_t{4} << 30 && free_bytes <= total_bytes);

    int *managed = nullptr, *pinned = nullptr, *seen = nullptr;
    WORKS(cudaMallocManaged(&managed, 256));
    WORKS(cudaHostAlloc(&pinned, 256, cudaHostAllocMapped));
    WORKS(cudaHostGetDevicePointer(&seen, pinned, 0));
    managed[3] = pinned[3] = 1;
    add_one_kernel<<<1, 64>>>(managed);
    add_one_kernel<<<1, 64>>>(seen);
    WORKS(cudaDeviceSynchronize());
    CHECK(managed[3] == 2 && pinned[3] == 2);
    cudaPointerAttributes attributes;
    WORKS(cudaPointerGetAttributes(&attributes, managed + 5));
    CHECK_EQUAL(attributes.type, cudaMemoryTypeManaged);
    WORKS(cudaPointerGetAttributes(&attributes, &on_stack));
    CHECK_EQUAL(attributes.type, cudaMemoryTypeUnregistered);
    WORKS(cudaMemPrefetchAsync(managed, 256, 0));
    WORKS(cudaMemPrefetchAsync(managed, 256, {cudaMemLocationTypeDevice, 0}, 0, nullptr));
    WORKS(cudaMemAdvise(managed, 256, cudaMemAdviseSetReadMostly, {cudaMemLocationTypeHost, 0}));
    FAILS(cudaFree(pinned), cudaErrorInvalidValue);
    WORKS(cudaFreeHost(pinned));
    WORKS(cudaFree(managed));
    std::vector<int> registered(100);
    WORKS(cudaHostRegister(registered.data(), 400, 0));
    FAILS(cudaHostRegister(registered.data(), 400, 0), cudaErrorHostMemoryAlreadyRegistered);
    FAILS(cudaHostRegister(registered.data() + 50, 400, 0), cudaErrorHostMemoryAlreadyRegistered);
    FAILS(cudaHostRegister(registered.data() - 50, 400, 0), cudaErrorHostMemoryAlreadyRegistered);
    FAILS(cudaHostRegister(registered.data(), std::size_t{1} << 46, 0), cudaErrorInvalidValue);  // more than exists
    WORKS(cudaHostUnregister(registered.data()));
    FAILS(cudaHostUnregister(registered.data()), cudaErrorHostMemoryNotRegistered);
}

void test_copies() {
    std::vector<int> host(100), back(100);
    for (int i = 0; i < 100; ++i) host[i] = i;
    int *a = on_device(host), *b = on_device(back);
    WORKS(cudaMemcpy(b, a, 400, cudaMemcpyDeviceToDevice));
    WORKS(cudaMemcpy(back.data(), b, 400, cudaMemcpyDefault));
    CHECK(back == host);
    WORKS(cudaMemcpyAsync(b + 50, host.data(), 200, cudaMemcpyHostToDevice));
    CHECK_EQUAL(from_device(b, 100)[99], 49);
    WORKS(cudaMemset(b, 1, 8));
    CHECK(from_device(b, 3) == (std::vector<int>{0x01010101, 0x01010101, 2}));
    WORKS(cudaMemsetAsync(b, 0, 4));
    CHECK_EQUAL(from_device(b), 0);

    page = {};
    FAILS(cudaMemcpy(host.data(), back.data(), 400, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK(strstr(page.detail, "cudaMemcpy") && strstr(page.detail, "destination"));
    CHECK(strstr(page.detail, ("line " + std::to_string(__LINE__ - 2)).c_str()));
    page = {};
    FAILS(cudaMemcpy(a, host.data(), 400, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    CHECK(strstr(page.detail, "the direction says cudaMemcpyDeviceToHost, but the pointers go from host to device"));
    FAILS(cudaMemcpy(a, host.data(), 400, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(host.data(), a, 400, cudaMemcpyHostToHost), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(a, b, 400, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(a, host.data(), 404, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(nullptr, a, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(back.data(), a, 4, cudaMemcpyKind(9)), cudaErrorInvalidMemcpyDirection);
    FAILS(cudaMemset(host.data(), 0, 4), cudaErrorInvalidValue);
    FAILS(cudaMemset(a, 0, 401), cudaErrorInvalidValue);
    int* freed = on_device(host);
    WORKS(cudaFree(freed));
    page = {};
    FAILS(cudaMemcpy(back.data(), freed + 3, 40, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    CHECK(strstr(page.detail, "the source was freed before"));
    page = {};
    FAILS(cudaFree(freed), cudaErrorInvalidValue);
    CHECK(strstr(page.detail, "cudaFree: that memory was freed before"));
    WORKS(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));

    size_t pitch = 0;
    char* rows = nullptr;
    WORKS(cudaMallocPitch(&rows, &pitch, 10, 3));
    CHECK(pitch >= 10 && pitch % 256 == 0);
    char text[3][12] = {"first line!", "second line", "third line!"}, copied[3][12] = {};
    WORKS(cudaMemset2D(rows, pitch, 'x', 10, 3));
    WORKS(cudaMemcpy2D(rows, pitch, text, 12, 6, 3, cudaMemcpyHostToDevice));
    WORKS(cudaMemcpy2D(copied, 12, rows, pitch, 10, 3, cudaMemcpyDeviceToHost));
    CHECK(std::string(copied[0]) == "first xxxx" && std::string(copied[2]) == "third xxxx");
    FAILS(cudaMemcpy2D(copied, 5, rows, pitch, 10, 3, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);

    warplab::cpu::set_host_limit(1000);
    from_device(a, 100);
    WORKS(cudaMemcpy(b, a, 400, cudaMemcpyDeviceToDevice));
    CHECK_EQUAL(warplab::cpu::counters().host_bytes, 400);
    warplab::cpu::set_host_limit(~uint64_t{0});
    CHECK_EQUAL(warplab::cpu::counters().host_bytes, 0);
}

void test_symbols() {
    const float other[2] = {30, 40};
    const int factor = 10;
    WORKS(cudaMemcpyToSymbol(weights, other, sizeof(other), 2 * sizeof(float)));
    WORKS(cudaMemcpyToSymbol(scale, &factor, sizeof(int)));
    float* out = on_device(std::vector<float>{0});
    symbols_kernel<<<1, 4>>>(out);
    CHECK(from_device(out) >= 10.0f);
    int count = 0;
    WORKS(cudaMemcpyFromSymbol(&count, counter, sizeof(int)));
    CHECK_EQUAL(count, 9);
    CHECK_EQUAL(shared_with_host, 41);
    double* address = nullptr;
    size_t bytes = 0;
    WORKS(cudaGetSymbolAddress((void**)&address, table));
    WORKS(cudaGetSymbolSize(&bytes, table));
    CHECK_EQUAL(bytes, 24);
    WORKS(cudaMemset(address, 0, 24));
    const double value = 1.5;
    WORKS(cudaMemcpy(address + 1, &value, 8, cudaMemcpyHostToDevice));
    double back = 0;
    WORKS(cudaMemcpyFromSymbol(&back, table, 8, 8));
    CHECK_EQUAL(back, 1.5);
    FAILS(cudaMemcpyToSymbol(scale, &factor, 8), cudaErrorInvalidValue);
    FAILS(cudaMemcpyToSymbol(weights, other, 8, 12), cudaErrorInvalidValue);
    const float* host_pointer = nullptr;
    page = {};
    FAILS(cudaMemcpyToSymbol(host_pointer, other, 12), cudaErrorInvalidSymbol);
    CHECK(strstr(page.detail, "not to a __device__ or __constant__ variable"));
    WORKS(cudaMemcpyToSymbolAsync(latest, &factor, sizeof(int)));
    WORKS(cudaMemcpyFromSymbolAsync(&count, latest, sizeof(int)));
    CHECK_EQUAL(count, 10);
    WORKS(cudaMemcpy(&shared_with_host, &factor, sizeof(int), cudaMemcpyHostToDevice));
    page = {};
    FAILS(cudaMemcpy(weights, other, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK(strstr(page.detail, "weights by its name, which only cudaMemcpyToSymbol accepts"));
    FAILS(cudaMemset(&counter, 0, sizeof(int)), cudaErrorInvalidValue);
}

void test_launch_errors() {
    int* out = on_device(std::vector<int>(4096));
    LAUNCH_FAILS((mark_kernel<<<1, 1025>>>(out)), cudaErrorInvalidConfiguration);
    LAUNCH_FAILS((mark_kernel<<<1, dim3(32, 33)>>>(out)), cudaErrorInvalidConfiguration);
    LAUNCH_FAILS((mark_kernel<<<1, dim3(1, 1, 65)>>>(out)), cudaErrorInvalidConfiguration);
    LAUNCH_FAILS((mark_kernel<<<0, 32>>>(out)), cudaErrorInvalidConfiguration);
    LAUNCH_FAILS((mark_kernel<<<1, 0>>>(out)), cudaErrorInvalidConfiguration);
    LAUNCH_FAILS((mark_kernel<<<-1, 32>>>(out)), cudaErrorInvalidConfiguration);
    LAUNCH_FAILS((mark_kernel<<<dim3(1, 65536), 32>>>(out)), cudaErrorInvalidConfiguration);
    LAUNCH_FAILS((mark_kernel<<<dim3(1, 1, 65536), 32>>>(out)), cudaErrorInvalidConfiguration);
    CHECK(strstr(page.detail, "mark_kernel") && strstr(page.detail, "65536"));
    for (int value : from_device(out, 4096)) CHECK_EQUAL(value, 0);  // none of them ran
    mark_kernel<<<4, 1024>>>(out);
    WORKS(cudaGetLastError());

    const int large = 51 * 1024 * 4;
    LAUNCH_FAILS((large_shared_kernel<<<1, 1, large>>>(out)), cudaErrorInvalidValue);
    LAUNCH_FAILS((large_shared_kernel<<<1, 1, 48 * 1024 + 1>>>(out)), cudaErrorInvalidValue);
    WORKS(cudaFuncSetAttribute(large_shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, large));
    large_shared_kernel<<<1, 1, large>>>(out);
    WORKS(cudaGetLastError());
    CHECK_EQUAL(from_device(out), 3);
    FAILS(cudaFuncSetAttribute(large_shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024 + 1),
          cudaErrorInvalidValue);
    WORKS(cudaFuncSetAttribute((const void*)template_kernel<70000>, cudaFuncAttributeMaxDynamicSharedMemorySize, 80000));
    template_kernel<70000><<<1, 1, 80000>>>(out);
    WORKS(cudaGetLastError());
    CHECK_EQUAL(from_device(out), 70001);
    LAUNCH_FAILS((template_kernel<60000><<<1, 1, 80000>>>(out)), cudaErrorInvalidValue);
    cudaFuncAttributes attributes;
    WORKS(cudaFuncGetAttributes(&attributes, template_kernel<70000>));
    CHECK(attributes.maxDynamicSharedSizeBytes == 80000 && attributes.maxThreadsPerBlock == 1024);
}

void test_device() {
    int count = 0, device = -1, value = 0, blocks = 0, grid = 0, block = 0;
    WORKS(cudaGetDeviceCount(&count));
    WORKS(cudaGetDevice(&device));
    WORKS(cudaSetDevice(0));
    FAILS(cudaSetDevice(1), cudaErrorInvalidDevice);
    CHECK(count == 1 && device == 0);
    cudaDeviceProp properties;
    WORKS(cudaGetDeviceProperties(&properties, 0));
    CHECK(properties.major == 9 && properties.minor == 0 && properties.multiProcessorCount == 16);
    CHECK(properties.sharedMemPerBlock == 48 * 1024 && properties.sharedMemPerBlockOptin == 227 * 1024);
    CHECK(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024 && properties.maxGridSize[1] == 65535);
    FAILS(cudaGetDeviceProperties(&properties, 3), cudaErrorInvalidDevice);
    WORKS(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    CHECK_EQUAL(value, 16);
    WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, mark_kernel, 256, 0));
    CHECK_EQUAL(blocks, 8);
    WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, mark_kernel, 32, 0));
    CHECK_EQUAL(blocks, 32);
    WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, mark_kernel, 64, 100 * 1024));
    CHECK_EQUAL(blocks, 2);
    WORKS(cudaOccupancyMaxPotentialBlockSize(&grid, &block, mark_kernel));
    CHECK(block == 1024 && grid == 32);
    CHECK(std::string(cudaGetErrorName(cudaErrorInvalidValue)) == "cudaErrorInvalidValue");
    CHECK(std::string(cudaGetErrorString(cudaErrorIllegalAddress)) == "an illegal memory access was encountered");
    CHECK(std::string(cudaGetErrorString(cudaError_t(12345))) == "unrecognized error code");
    WORKS(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 22));
    size_t limit = 0;
    WORKS(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
    CHECK_EQUAL(limit, 1 << 22);
    WORKS(cudaDeviceReset());
}

void test_streams_and_events() {
    cudaStream_t stream;
    cudaEvent_t begin, end, untimed;
    WORKS(cudaStreamCreate(&stream));
    WORKS(cudaEventCreate(&begin));
    WORKS(cudaEventCreate(&end));
    WORKS(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    float milliseconds = -1;
    FAILS(cudaEventElapsedTime(&milliseconds, begin, end), cudaErrorInvalidResourceHandle);
    int* out = on_device(std::vector<int>(64));
    WORKS(cudaEventRecord(begin, stream));
    mark_kernel<<<1, 64, 0, stream>>>(out);
    const timespec pause = {0, 3000000};
    nanosleep(&pause, nullptr);
    WORKS(cudaEventRecord(end, stream));
    WORKS(cudaEventSynchronize(end));
    WORKS(cudaEventElapsedTime(&milliseconds, begin, end));
    CHECK(milliseconds >= 3.0f);
    WORKS(cudaEventRecord(untimed));
    FAILS(cudaEventElapsedTime(&milliseconds, begin, untimed), cudaErrorInvalidResourceHandle);
    WORKS(cudaStreamWaitEvent(stream, end, 0));
    WORKS(cudaStreamQuery(stream));
    int called = 0;
    WORKS(cudaLaunchHostFunc(stream, [](void* data) { ++*static_cast<int*>(data); }, &called));
    CHECK_EQUAL(called, 1);
    WORKS(cudaStreamSynchronize(stream));
    WORKS(cudaStreamDestroy(stream));
    WORKS(cudaEventDestroy(begin));
    WORKS(cudaEventDestroy(end));
    FAILS(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
    WORKS(cudaProfilerStart());
}

void test_hidden_memory() {
    std::vector<int> host(100000, 1);
    int *device = on_device(host), *managed = nullptr, *pinned = nullptr;
    WORKS(cudaMallocManaged(&managed, 400000));
    WORKS(cudaMallocHost(&pinned, 4096));
    std::fill(managed, managed + 100000, 1);
    pinned[0] = 1;
    warplab::cpu::hide_device_memory(true);
    warplab::cpu::set_host_limit(~uint64_t{0});
    mark_kernel<<<100, 1000>>>(device);
    CHECK_EQUAL(from_device(device + 99999), 2);
    WORKS(cudaMemset(device, 0, 4));
    CHECK_EQUAL(from_device(device), 0);
    CHECK_EQUAL(warplab::cpu::counters().host_bytes, 8);
    mark_kernel<<<100, 1000>>>(managed);
    CHECK_EQUAL(warplab::cpu::counters().host_bytes, 8);
    CHECK_EQUAL(managed[5], 2);
    CHECK_EQUAL(managed[6], 2);
    CHECK_EQUAL(warplab::cpu::counters().host_bytes, 8 + 65536);
    mark_kernel<<<1, 100>>>(pinned);
    CHECK_EQUAL(pinned[0], 2);
    CHECK_EQUAL(warplab::cpu::counters().host_bytes, 8 + 65536 + 4096);
    int* later = on_device(host);
    mark_kernel<<<1, 100>>>(later);
    CHECK_EQUAL(from_device(later), 2);
    warplab::cpu::hide_device_memory(false);
    CHECK_EQUAL(device[7], 2);
    cudaFree(device), cudaFree(managed), cudaFree(later), cudaFreeHost(pinned);
}

void test_registered_memory() {
    static int outside[1024];
    warplab::cpu::register_device_memory(outside, sizeof(outside));
    const int value = 41;
    WORKS(cudaMemcpy(outside + 3, &value, 4, cudaMemcpyHostToDevice));
    mark_kernel<<<1, 1024>>>(outside);
    CHECK_EQUAL(from_device(outside + 3), 42);
    FAILS(cudaMemset(outside, 0, sizeof(outside) + 4), cudaErrorInvalidValue);
    warplab::cpu::unregister_device_memory(outside);
    FAILS(cudaMemcpy(outside, &value, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
}

int main(int count, char** arguments) {
    warplab::cpu::use_status_page(&page);
    use_arguments(count, arguments);
    const auto launches = warplab::cpu::counters().launches;
    test_memory();
    test_addresses_are_not_reused();
    CHECK_EQUAL(warplab::cpu::counters().launches, launches + 2);
    CHECK_EQUAL(page.launches, 2);
    CHECK(std::string(page.kernel) == "add_one_kernel" && page.launch_line > 0);
    test_copies();
    test_symbols();
    test_launch_errors();
    test_device();
    test_streams_and_events();
    test_hidden_memory();
    test_registered_memory();
    return wrong_checks != 0;
}
