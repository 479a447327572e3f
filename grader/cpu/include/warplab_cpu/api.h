#pragma once
// The host side of CUDA's runtime API. Work is done immediately; the sanitizer tracks the work that would still run on
// a GPU.

#include <stddef.h>

#include <type_traits>
#include <utility>

#include "launch.h"
#include "types.h"

#pragma GCC visibility push(default)

#define CUDART_VERSION 12040
#define CUDA_VERSION CUDART_VERSION
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4

enum cudaError {
#define WARPLAB_CPU_ERROR(name, number, words) name = number,
#include "errors.inc"
#undef WARPLAB_CPU_ERROR
};
typedef enum cudaError cudaError_t;

enum cudaDeviceAttr {
#define WARPLAB_CPU_ATTRIBUTE(name, number, value) name = number,
#include "attributes.inc"
#undef WARPLAB_CPU_ATTRIBUTE
};

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual
};
enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault,
    cudaSharedMemBankSizeFourByte,
    cudaSharedMemBankSizeEightByte
};
enum cudaSharedCarveout {
    cudaSharedmemCarveoutDefault = -1,
    cudaSharedmemCarveoutMaxL1 = 0,
    cudaSharedmemCarveoutMaxShared = 100
};
enum cudaLimit {
    cudaLimitStackSize = 0,
    cudaLimitPrintfFifoSize = 1,
    cudaLimitMallocHeapSize = 2,
    cudaLimitPersistingL2CacheSize = 6
};
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited };
enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2,
    cudaMemoryTypeManaged = 3
};
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1,
    cudaMemAdviseUnsetReadMostly,
    cudaMemAdviseSetPreferredLocation,
    cudaMemAdviseUnsetPreferredLocation,
    cudaMemAdviseSetAccessedBy,
    cudaMemAdviseUnsetAccessedBy
};

enum cudaMemLocationType {
    cudaMemLocationTypeInvalid = 0,
    cudaMemLocationTypeDevice = 1,
    cudaMemLocationTypeHost = 2,
    cudaMemLocationTypeHostNuma = 3,
    cudaMemLocationTypeHostNumaCurrent = 4
};
struct cudaMemLocation {
    cudaMemLocationType type;
    int id;
};

#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterMapped 0x02
#define cudaMemAttachGlobal 0x01
#define cudaMemAttachHost 0x02
#define cudaMemAttachSingle 0x04
#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventWaitDefault 0x00
#define cudaEventWaitExternal 0x01
#define cudaEventRecordDefault 0x00
#define cudaEventRecordExternal 0x01
#define cudaDeviceScheduleAuto 0x00
#define cudaDeviceScheduleSpin 0x01
#define cudaDeviceScheduleYield 0x02
#define cudaDeviceScheduleBlockingSync 0x04
#define cudaDeviceMapHost 0x08
#define cudaOccupancyDefault 0x00
#define cudaCpuDeviceId (-1)
#define cudaInvalidDeviceId (-2)

typedef struct CUevent_st* cudaEvent_t;
typedef void (*cudaHostFn_t)(void* data);
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void* data);

struct cudaUUID_t {
    char bytes[16];
};
struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    int clockRate;
    size_t totalConstMem;
    int major;
    int minor;
    size_t textureAlignment;
    int deviceOverlap;
    int multiProcessorCount;
    int kernelExecTimeoutEnabled;
    int integrated;
    int canMapHostMemory;
    int computeMode;
    int concurrentKernels;
    int ECCEnabled;
    int pciBusID;
    int pciDeviceID;
    int pciDomainID;
    int tccDriver;
    int asyncEngineCount;
    int unifiedAddressing;
    int memoryClockRate;
    int memoryBusWidth;
    int l2CacheSize;
    int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported;
    int globalL1CacheSupported;
    int localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    int managedMemory;
    int isMultiGpuBoard;
    int singleToDoublePrecisionPerfRatio;
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem;
    int cooperativeLaunch;
    size_t sharedMemPerBlockOptin;
    int directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor;
    int accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
};
struct cudaFuncAttributes {
    size_t sharedSizeBytes;
    size_t constSizeBytes;
    size_t localSizeBytes;
    int maxThreadsPerBlock;
    int numRegs;
    int ptxVersion;
    int binaryVersion;
    int cacheModeCA;
    int maxDynamicSharedSizeBytes;
    int preferredShmemCarveout;
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void* devicePointer;
    void* hostPointer;
};

// Errors
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

// The device
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset(warplab_cpu::Line line = {});
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
inline cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return cudaGetDevice(device); }
inline cudaError_t cudaGetDeviceFlags(unsigned* flags) { return *flags = cudaDeviceScheduleAuto, cudaSuccess; }
inline cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
    return *config = cudaFuncCachePreferNone, cudaSuccess;
}
inline cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    return *config = cudaSharedMemBankSizeFourByte, cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device);
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);

// Memory. `line` is the line of the call, for reports.
cudaError_t cudaMalloc(void** pointer, size_t bytes, warplab_cpu::Line line = {});
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal,
                              warplab_cpu::Line line = {});
cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned flags = 0, warplab_cpu::Line line = {});
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags, warplab_cpu::Line line = {});
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height, warplab_cpu::Line line = {});
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream, warplab_cpu::Line line = {});
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
cudaError_t cudaHostGetFlags(unsigned* flags, void* host);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device, cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int device);
// The same functions, as CUDA 13 declares them
inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation, unsigned,
                                        cudaStream_t stream = nullptr) {
    return cudaMemPrefetchAsync(pointer, bytes, 0, stream);
}
inline cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation) {
    return cudaMemAdvise(pointer, bytes, advice, 0);
}

namespace warplab_cpu {
/// For each pointer of a copy, the number of bytes up to the end of its variable, or the maximum of size_t if GCC does
/// not know the variable.
struct Room {
    size_t to, from;
};
cudaError_t copy_memory(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, Room room, int line);
cudaError_t copy_memory(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, Room room, int line,
                        cudaStream_t stream);
}  // namespace warplab_cpu
#define WARPLAB_CPU_ROOM(pointer) __builtin_object_size(pointer, 0)
#define WARPLAB_CPU_INLINED inline __attribute__((always_inline))  // so that GCC knows the variables of the caller
WARPLAB_CPU_INLINED cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                           warplab_cpu::Line line = {}) {
    return warplab_cpu::copy_memory(to, from, bytes, kind, {WARPLAB_CPU_ROOM(to), WARPLAB_CPU_ROOM(from)}, line);
}
WARPLAB_CPU_INLINED cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                                cudaStream_t stream = nullptr, warplab_cpu::Line line = {}) {
    return warplab_cpu::copy_memory(to, from, bytes, kind, {WARPLAB_CPU_ROOM(to), WARPLAB_CPU_ROOM(from)}, line,
                                    stream);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind, warplab_cpu::Line line = {});
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr,
                              warplab_cpu::Line line = {});
cudaError_t cudaMemset(void* to, int value, size_t bytes, warplab_cpu::Line line = {});
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream = nullptr,
                            warplab_cpu::Line line = {});
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height, warplab_cpu::Line line = {});
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream = nullptr, warplab_cpu::Line line = {});

template <class T>
cudaError_t cudaMalloc(T** pointer, size_t bytes, warplab_cpu::Line line = {}) {
    return cudaMalloc(reinterpret_cast<void**>(pointer), bytes, line);
}
template <class T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal,
                              warplab_cpu::Line line = {}) {
    return cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags, line);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned flags = 0, warplab_cpu::Line line = {}) {
    return cudaMallocHost(reinterpret_cast<void**>(pointer), bytes, flags, line);
}
template <class T>
cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned flags, warplab_cpu::Line line = {}) {
    return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags, line);
}
template <class T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height, warplab_cpu::Line line = {}) {
    return cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height, line);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream, warplab_cpu::Line line = {}) {
    return cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream, line);
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned flags) {
    return cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}

// Three-dimensional memory
struct cudaExtent {
    size_t width, height, depth;  // in bytes, rows and slices
};
struct cudaPos {
    size_t x, y, z;
};
struct cudaPitchedPtr {
    void* ptr;
    size_t pitch, xsize, ysize;
};
struct cudaMemcpy3DParms {
    struct cudaArray* srcArray;  // must be null, like dstArray: there are no texture arrays here
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray* dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    cudaMemcpyKind kind;
};
inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t width, size_t height) {
    return {pointer, pitch, width, height};
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent, warplab_cpu::Line line = {});
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* params, warplab_cpu::Line line = {});
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* params, cudaStream_t stream = nullptr,
                              warplab_cpu::Line line = {});
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent, warplab_cpu::Line line = {});
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream = nullptr,
                              warplab_cpu::Line line = {});

// __device__ and __constant__ variables
namespace warplab_cpu {
/// The stream of a call's work, and whether the host waits for the work.
struct Queue {
    cudaStream_t stream = nullptr;
    bool host_waits = true;
};
cudaError_t copy_to_symbol(const void* symbol, size_t symbol_bytes, const void* from, size_t bytes, size_t offset,
                           cudaMemcpyKind kind, Room room, int line, Queue queue = {});
cudaError_t copy_from_symbol(void* to, const void* symbol, size_t symbol_bytes, size_t bytes, size_t offset,
                             cudaMemcpyKind kind, Room room, int line, Queue queue = {});
cudaError_t get_symbol_address(void** address, const void* symbol);
template <class T>
const void* place_of_symbol(const T& symbol) {  // the symbol may be volatile
    return const_cast<const char*>(&reinterpret_cast<const volatile char&>(symbol));
}
}  // namespace warplab_cpu
template <class T>
WARPLAB_CPU_INLINED cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                                   cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                   warplab_cpu::Line line = {}) {
    return warplab_cpu::copy_to_symbol(warplab_cpu::place_of_symbol(symbol), sizeof(T), from, bytes, offset, kind,
                                       {~size_t{0}, WARPLAB_CPU_ROOM(from)}, line);
}
template <class T>
WARPLAB_CPU_INLINED cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes,
                                                        size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                        cudaStream_t stream = nullptr, warplab_cpu::Line line = {}) {
    return warplab_cpu::copy_to_symbol(warplab_cpu::place_of_symbol(symbol), sizeof(T), from, bytes, offset, kind,
                                       {~size_t{0}, WARPLAB_CPU_ROOM(from)}, line, {stream, false});
}
template <class T>
WARPLAB_CPU_INLINED cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                                     cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                     warplab_cpu::Line line = {}) {
    return warplab_cpu::copy_from_symbol(to, warplab_cpu::place_of_symbol(symbol), sizeof(T), bytes, offset, kind,
                                         {WARPLAB_CPU_ROOM(to), ~size_t{0}}, line);
}
template <class T>
WARPLAB_CPU_INLINED cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                                          cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                          cudaStream_t stream = nullptr, warplab_cpu::Line line = {}) {
    return warplab_cpu::copy_from_symbol(to, warplab_cpu::place_of_symbol(symbol), sizeof(T), bytes, offset, kind,
                                         {WARPLAB_CPU_ROOM(to), ~size_t{0}}, line, {stream, false});
}
#undef WARPLAB_CPU_INLINED
#undef WARPLAB_CPU_ROOM
template <class T>
cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
    return warplab_cpu::get_symbol_address(address, warplab_cpu::place_of_symbol(symbol));
}
template <class To, class T>
cudaError_t cudaGetSymbolAddress(To** address, const T& symbol) {
    return warplab_cpu::get_symbol_address(reinterpret_cast<void**>(address), warplab_cpu::place_of_symbol(symbol));
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t* bytes, const T&) {
    *bytes = sizeof(T);
    return cudaSuccess;
}

// Streams and events. `line` is the line of the call, for reports.
cudaError_t cudaStreamCreate(cudaStream_t* stream, warplab_cpu::Line line = {});
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags, warplab_cpu::Line line = {});
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority,
                                         warplab_cpu::Line line = {});
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaEventCreate(cudaEvent_t* event, warplab_cpu::Line line = {});
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags, warplab_cpu::Line line = {});
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags, warplab_cpu::Line line = {});
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr, unsigned flags = 0);
inline cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) { return *priority = 0, cudaSuccess; }
inline cudaError_t cudaStreamGetDevice(cudaStream_t, int* device) { return cudaGetDevice(device); }
inline cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
    return *id = reinterpret_cast<unsigned long long>(stream), cudaSuccess;
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t = 0, unsigned = 0x04) { return cudaSuccess; }
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();

// Kernels as values
namespace warplab_cpu {
cudaError_t set_attribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t get_attributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t get_occupancy(int* blocks, const void* kernel, int block_threads, size_t shared_bytes);
template <class K>
const void* kernel_address(K kernel) {
    if constexpr (std::is_null_pointer_v<K>)
        return nullptr;
    else
        return reinterpret_cast<const void*>(kernel);
}
}  // namespace warplab_cpu
template <class K>
cudaError_t cudaFuncSetAttribute(K* kernel, cudaFuncAttribute attribute, int value) {
    return warplab_cpu::set_attribute(warplab_cpu::kernel_address(kernel), attribute, value);
}
template <class K>
cudaError_t cudaFuncSetCacheConfig(K*, cudaFuncCache) {
    return cudaSuccess;
}
template <class K>
cudaError_t cudaFuncSetSharedMemConfig(K*, cudaSharedMemConfig) {
    return cudaSuccess;
}
template <class K>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, K* kernel) {
    return warplab_cpu::get_attributes(attributes, warplab_cpu::kernel_address(kernel));
}
template <class K>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, K* kernel, int block_threads,
                                                          size_t shared_bytes) {
    return warplab_cpu::get_occupancy(blocks, warplab_cpu::kernel_address(kernel), block_threads, shared_bytes);
}
template <class K>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, K* kernel, int block_threads,
                                                                   size_t shared_bytes, unsigned) {
    return warplab_cpu::get_occupancy(blocks, warplab_cpu::kernel_address(kernel), block_threads, shared_bytes);
}
template <class K, class SharedBytes>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, K* kernel, SharedBytes shared_bytes,
                                                           int limit = 0) {
    if (!grid || !block) return cudaErrorInvalidValue;
    int max_threads = 0;
    *grid = *block = 0;
    for (int threads = limit > 0 && limit < 1024 ? limit / 32 * 32 : 1024; threads > 0; threads -= 32) {
        int blocks = 0;
        const cudaError_t error = warplab_cpu::get_occupancy(&blocks, warplab_cpu::kernel_address(kernel), threads,
                                                             size_t(shared_bytes(threads)));
        if (error != cudaSuccess) return error;
        if (blocks * threads <= max_threads) continue;
        max_threads = blocks * threads;
        *block = threads;
        *grid = blocks * 16;
    }
    return cudaSuccess;
}
template <class K, class SharedBytes>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* grid, int* block, K* kernel,
                                                                    SharedBytes shared_bytes, int limit = 0,
                                                                    unsigned = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, shared_bytes, limit);
}
template <class K>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, K*, int blocks, int) {
    if (!bytes || blocks <= 0) return cudaErrorInvalidValue;
    const size_t bytes_per_block = 228 * 1024 / size_t(blocks);
    *bytes = bytes_per_block < 1024 ? 0 : bytes_per_block - 1024;
    return cudaSuccess;
}
template <class K>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, K* kernel, size_t shared_bytes = 0,
                                               int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        grid, block, kernel, [shared_bytes](int) { return shared_bytes; }, limit);
}

template <class K>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, K* kernel, size_t shared_bytes = 0,
                                                        int limit = 0, unsigned = 0) {
    return cudaOccupancyMaxPotentialBlockSize(grid, block, kernel, shared_bytes, limit);
}

// Launches by a function call, without <<<…>>>. `arguments` points to one pointer for each parameter.
namespace warplab_cpu {
template <class>
inline constexpr bool always_false = false;

/// A kernel, with the types of its parameters.
class KernelPointer {
  public:
    KernelPointer() = default;
    KernelPointer(std::nullptr_t) {}
    template <class... Parameters>
    KernelPointer(void (*kernel)(Parameters...))
        : address_(reinterpret_cast<void*>(kernel)), call_(&call_with_types<Parameters...>) {}
    template <class Pointer, class = std::enable_if_t<std::is_void_v<Pointer>>>
    KernelPointer(Pointer*) {
        static_assert(always_false<Pointer>,
                      "the CPU backend must know the kernel's parameters: pass the kernel by name, without a cast");
    }
    explicit operator bool() const { return address_ != nullptr; }
    const void* address() const { return address_; }
    void operator()(void** arguments) const { call_(address_, arguments); }

  private:
    template <class... Parameters>
    static void call_with_types(void* kernel, void** arguments) {
        call(reinterpret_cast<void (*)(Parameters...)>(kernel), arguments, std::index_sequence_for<Parameters...>());
    }
    template <class... Parameters, size_t... Places>
    static void call(void (*kernel)(Parameters...), [[maybe_unused]] void** arguments, std::index_sequence<Places...>) {
        kernel(*static_cast<std::remove_reference_t<Parameters>*>(arguments[Places])...);
    }

    void* address_ = nullptr;
    void (*call_)(void*, void**) = nullptr;
};

cudaError_t launch(KernelPointer kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                   cudaStream_t stream, bool cooperative, int line);
}  // namespace warplab_cpu
inline cudaError_t cudaLaunchKernel(warplab_cpu::KernelPointer kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                    warplab_cpu::Line line = {}) {
    return warplab_cpu::launch(kernel, grid, block, arguments, shared_bytes, stream, false, line);
}
inline cudaError_t cudaLaunchCooperativeKernel(warplab_cpu::KernelPointer kernel, dim3 grid, dim3 block,
                                               void** arguments, size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                               warplab_cpu::Line line = {}) {
    return warplab_cpu::launch(kernel, grid, block, arguments, shared_bytes, stream, true, line);
}

enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore = 0,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributePriority = 8
};
union cudaLaunchAttributeValue {
    char pad[64];
    int cooperative;
    int priority;
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned int numAttrs;
};
namespace warplab_cpu {
inline bool is_cooperative(const cudaLaunchConfig_t& config) {
    bool cooperative = false;
    for (unsigned i = 0; i < config.numAttrs; ++i)
        if (config.attrs[i].id == cudaLaunchAttributeCooperative) cooperative = config.attrs[i].val.cooperative != 0;
    return cooperative;
}
}  // namespace warplab_cpu
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
    warplab_cpu::Launch pending("", 0, config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream);
    pending.cooperative = warplab_cpu::is_cooperative(*config);
    kernel(std::forward<Arguments>(arguments)...);
    return cudaError_t(pending.error);
}
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, warplab_cpu::KernelPointer kernel,
                                       void** arguments, warplab_cpu::Line line = {}) {
    return warplab_cpu::launch(kernel, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                               config->stream, warplab_cpu::is_cooperative(*config), line);
}

#pragma GCC visibility pop
