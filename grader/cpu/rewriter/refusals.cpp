#include "grader/cpu/rewriter/refusals.h"

#include <unordered_map>
#include <unordered_set>

#include "grader/cpu/rewriter/passes.h"

namespace warplab::rewriter {

// clang-format off
const std::vector<Refusal>& refusals() {
    static constexpr std::string_view
        own_kernel = "write the loop or the reduction as a kernel of your own",
        own_random = "pass random numbers in as an input, or write a small generator as a __device__ function",
        by_pointer = "read the array through a pointer (const __restrict__, or __ldg)",
        plain_copy = "copy with ordinary loads and stores, then __syncthreads()",
        block_only = "stay within one block, or split the work into several launches",
        by_launch  = "launch with kernel<<<blocks, threads>>>(arguments)",
        by_capture = "capture the work from a stream, or use cudaGraphAddKernelNode and similar functions",
        plain_math = "multiply with ordinary arithmetic",
        as_cpp     = "write it in C++ or with an intrinsic (__shfl_sync, __popc, __ldg …)",
        runtime    = "use the runtime's functions (cudaMalloc, cudaMemcpy, <<<…>>> …)",
        as_loop    = "write it with ordinary arithmetic or with atomicAdd and similar functions",
        remove     = "remove it";
    static const std::vector<Refusal> table = {
        {"asm",                            "inline PTX", as_cpp},
        {"__asm__",                        "inline PTX", as_cpp},
        {"__asm",                          "inline PTX", as_cpp},

        {"<thrust/",                       "Thrust", own_kernel},
        {"thrust::",                       "Thrust", own_kernel},
        {"<cub/",                          "this part of CUB", own_kernel},
        {"cub::DeviceReduce",               "this part of CUB", own_kernel},
        {"cub::DeviceSegmentedReduce",      "this part of CUB", own_kernel},
        {"cub::DeviceScan",                 "this part of CUB", own_kernel},
        {"cub::DeviceHistogram",            "this part of CUB", own_kernel},
        {"cub::DeviceRadixSort",            "this part of CUB", own_kernel},
        {"cub::DeviceSegmentedSort",        "this part of CUB", own_kernel},
        {"cub::DeviceMergeSort",            "this part of CUB", own_kernel},
        {"cub::DeviceSelect",               "this part of CUB", own_kernel},
        {"cub::DevicePartition",            "this part of CUB", own_kernel},
        {"cub::DeviceRunLengthEncode",      "this part of CUB", own_kernel},
        {"cub::DeviceFor",                  "this part of CUB", own_kernel},
        {"cub::DeviceTransform",            "this part of CUB", own_kernel},
        {"cub::DeviceAdjacentDifference",   "this part of CUB", own_kernel},
        {"cub::BlockRadixSort",             "this part of CUB", own_kernel},
        {"cub::BlockMergeSort",             "this part of CUB", own_kernel},
        {"cub::BlockExchange",              "this part of CUB", own_kernel},
        {"cub::BlockShuffle",               "this part of CUB", own_kernel},
        {"cub::BlockDiscontinuity",         "this part of CUB", own_kernel},
        {"cub::BlockAdjacentDifference",    "this part of CUB", own_kernel},
        {"cub::BlockRunLengthDecode",       "this part of CUB", own_kernel},
        {"cub::WarpMergeSort",              "this part of CUB", own_kernel},
        {"cub::WarpExchange",               "this part of CUB", own_kernel},
        {"cub::WarpLoad",                   "this part of CUB", own_kernel},
        {"cub::WarpStore",                  "this part of CUB", own_kernel},
        {"<cublas",                        "cuBLAS", own_kernel},
        {"cublas*",                        "cuBLAS", own_kernel},
        {"<cufft",                         "cuFFT", own_kernel},
        {"<cusparse",                      "cuSPARSE", own_kernel},
        {"<cusolver",                      "cuSOLVER", own_kernel},
        {"<cudnn",                         "cuDNN", own_kernel},
        {"<cutlass/",                      "CUTLASS", own_kernel},
        {"<npp",                           "NPP", own_kernel},
        {"<curand",                        "cuRAND", own_random},
        {"curand*",                        "cuRAND", own_random},

        {"<cuda_fp8",                      "8-bit floating point", "use float or half"},
        {"<cuda_fp6",                      "6-bit floating point", "use float or half"},
        {"<cuda_fp4",                      "4-bit floating point", "use float or half"},

        {"texture<",                       "textures", by_pointer},
        {"cudaTextureObject_t",            "textures", by_pointer},
        {"cudaCreateTextureObject",        "textures", by_pointer},
        {"cudaBindTexture*",               "textures", by_pointer},
        {"cudaMallocArray",                "texture arrays", by_pointer},
        {"cudaMalloc3DArray",              "texture arrays", by_pointer},
        {"tex1D*",                         "textures", by_pointer},
        {"tex2D*",                         "textures", by_pointer},
        {"tex3D*",                         "textures", by_pointer},
        {"texCubemap*",                    "textures", by_pointer},
        {"surface<",                       "surfaces", by_pointer},
        {"cudaSurfaceObject_t",            "surfaces", by_pointer},
        {"cudaCreateSurfaceObject",        "surfaces", by_pointer},
        {"surf1D*",                        "surfaces", by_pointer},
        {"surf2D*",                        "surfaces", by_pointer},
        {"surf3D*",                        "surfaces", by_pointer},

        {"<mma.h",                         "tensor cores (wmma)", plain_math},
        {"nvcuda::wmma",                   "tensor cores (wmma)", plain_math},
        {"wmma::",                         "tensor cores (wmma)", plain_math},

        {"__cluster_dims__",               "thread block clusters", block_only},
        {"__block_size__",                 "a block size that the kernel fixes", by_launch},
        {"this_cluster",                   "thread block clusters", block_only},
        {"cluster_group",                  "thread block clusters", block_only},
        {"cudaLaunchAttributeProgrammatic*", "programmatic dependent launch", "launch without the attribute"},
        {"cudaLaunchAttributeClusterDimension", "thread block clusters", block_only},
        {"CUtensorMap",                    "the tensor memory accelerator", plain_copy},
        {"cuTensorMap*",                   "the tensor memory accelerator", plain_copy},

        {"this_multi_grid",                "a barrier across grids", block_only},
        {"multi_grid_group",               "a barrier across grids", block_only},
        {"cudaLaunchCooperativeKernelMultiDevice", "a launch on several GPUs", block_only},

        {"cudaChildGraphNodeParams",          "this part of CUDA graphs", by_capture},
        {"cudaConditionalNode*",              "this part of CUDA graphs", by_capture},
        {"cudaEventRecordNodeParams",         "this part of CUDA graphs", by_capture},
        {"cudaEventWaitNodeParams",           "this part of CUDA graphs", by_capture},
        {"cudaGraphAddNode",                  "this part of CUDA graphs", by_capture},
        {"cudaGraphAddMemAllocNode",          "this part of CUDA graphs", by_capture},
        {"cudaGraphAddMemFreeNode",           "this part of CUDA graphs", by_capture},
        {"cudaGraphAddMemcpyNodeFromSymbol",  "this part of CUDA graphs", by_capture},
        {"cudaGraphAddMemcpyNodeToSymbol",    "this part of CUDA graphs", by_capture},
        {"cudaGraphChildGraph*",              "this part of CUDA graphs", by_capture},
        {"cudaGraphConditional*",             "this part of CUDA graphs", by_capture},
        {"cudaGraphDebugDot*",                "this part of CUDA graphs", by_capture},
        {"cudaGraphEventRecord*",             "this part of CUDA graphs", by_capture},
        {"cudaGraphEventWait*",               "this part of CUDA graphs", by_capture},
        {"cudaGraphExecChildGraph*",          "this part of CUDA graphs", by_capture},
        {"cudaGraphExecEvent*",               "this part of CUDA graphs", by_capture},
        {"cudaGraphExecMemcpyNodeSetParamsFromSymbol", "this part of CUDA graphs", by_capture},
        {"cudaGraphExecMemcpyNodeSetParamsToSymbol", "this part of CUDA graphs", by_capture},
        {"cudaGraphExecNode*",                "this part of CUDA graphs", by_capture},
        {"cudaGraphKernelNodeCopyAttributes", "this part of CUDA graphs", by_capture},
        {"cudaGraphKernelNodeField",          "this part of CUDA graphs", by_capture},
        {"cudaGraphKernelNodeGetAttribute",   "this part of CUDA graphs", by_capture},
        {"cudaGraphKernelNodeSetAttribute",   "this part of CUDA graphs", by_capture},
        {"cudaGraphKernelNodeUpdate",         "this part of CUDA graphs", by_capture},
        {"cudaGraphMemAlloc*",                "this part of CUDA graphs", by_capture},
        {"cudaGraphMemAttributeType",         "this part of CUDA graphs", by_capture},
        {"cudaGraphMemFree*",                 "this part of CUDA graphs", by_capture},
        {"cudaGraphMemcpyNodeSetParamsFromSymbol", "this part of CUDA graphs", by_capture},
        {"cudaGraphMemcpyNodeSetParamsToSymbol", "this part of CUDA graphs", by_capture},
        {"cudaGraphNodeParams",               "this part of CUDA graphs", by_capture},
        {"cudaGraphNodeSetParams",            "this part of CUDA graphs", by_capture},
        {"cudaGraphReleaseUserObject",        "this part of CUDA graphs", by_capture},
        {"cudaGraphRetainUserObject",         "this part of CUDA graphs", by_capture},
        {"cudaHostNodeParamsV2",              "this part of CUDA graphs", by_capture},
        {"cudaKernelNodeParamsV2",            "this part of CUDA graphs", by_capture},
        {"cudaMemAllocNode*",                 "this part of CUDA graphs", by_capture},
        {"cudaMemFreeNode*",                  "this part of CUDA graphs", by_capture},
        {"cudaMemcpyNodeParams",              "this part of CUDA graphs", by_capture},
        {"cudaMemsetParamsV2",                "this part of CUDA graphs", by_capture},
        {"cudaStreamBeginCaptureToGraph",     "this part of CUDA graphs", by_capture},
        {"cudaStreamUpdateCapture*",          "this part of CUDA graphs", by_capture},
        {"cudaUserObject*",                   "this part of CUDA graphs", by_capture},
        {"cudaGraphHostNodeGetParams",        "reading a node's parameters", "keep a copy of the parameters that you made it with"},
        {"cudaGraphKernelNodeGetParams",      "reading a node's parameters", "keep a copy of the parameters that you made it with"},
        {"cudaGraphMemcpyNodeGetParams",      "reading a node's parameters", "keep a copy of the parameters that you made it with"},
        {"cudaGraphMemsetNodeGetParams",      "reading a node's parameters", "keep a copy of the parameters that you made it with"},
        {"cudaGraphAddExternal*",             "memory shared with other processes or devices", remove},
        {"cudaGraphExecExternal*",            "memory shared with other processes or devices", remove},
        {"cudaGraphExternal*",                "memory shared with other processes or devices", remove},
        {"cudaGraphics*",                     "graphics interoperation", remove},
        {"cudaMemcpy3DBatch*",                "several copies in one call", "copy them one after the other with cudaMemcpyAsync"},
        {"cudaMemcpy3DOperand*",              "several copies in one call", "copy them one after the other with cudaMemcpyAsync"},
        {"cudaOffset3D",                      "several copies in one call", "copy them one after the other with cudaMemcpyAsync"},
        {"cudaMemcpy3DPeer*",                 "several GPUs", "use one GPU"},

        {"<cuda_awbarrier",                "asynchronous barriers", "use __syncthreads()"},
        {"<cuda/ptx",                      "inline PTX", as_cpp},
        {"<cuda/",                         "libcu++ (<cuda/…>)", "use the language and the runtime's own functions"},

        {"cudaDestroyTextureObject",        "textures", by_pointer},
        {"cudaGetTexture*",                 "textures", by_pointer},
        {"cudaArray*",                      "textures", by_pointer},
        {"cudaChannelFormat*",              "textures", by_pointer},
        {"cudaCreateChannelDesc",           "textures", by_pointer},
        {"cudaGetChannelDesc",              "textures", by_pointer},
        {"cudaFreeArray",                   "textures", by_pointer},
        {"cudaResourceDesc",                "textures", by_pointer},
        {"cudaResourceType",                "textures", by_pointer},
        {"cudaResourceView*",               "textures", by_pointer},
        {"cudaTextureDesc",                 "textures", by_pointer},
        {"cudaMemcpyToArray*",              "textures", by_pointer},
        {"cudaMemcpyFromArray*",            "textures", by_pointer},
        {"cudaMemcpyArrayToArray",          "textures", by_pointer},
        {"cudaMemcpy2DToArray*",            "textures", by_pointer},
        {"cudaMemcpy2DFromArray*",          "textures", by_pointer},
        {"cudaMemcpy2DArrayToArray",        "textures", by_pointer},
        {"cudaMallocMipmappedArray",        "textures", by_pointer},
        {"cudaFreeMipmappedArray",          "textures", by_pointer},
        {"cudaGetMipmapped*",               "textures", by_pointer},
        {"cudaMipmapped*",                  "textures", by_pointer},
        {"cudaDeviceGetTexture*",           "textures", by_pointer},

        {"cudaDestroySurfaceObject",        "surfaces", by_pointer},
        {"cudaGetSurface*",                 "surfaces", by_pointer},

        {"cudaMemPool*",                    "memory pools", "use cudaMalloc or cudaMallocAsync"},
        {"cudaMallocFromPoolAsync",         "memory pools", "use cudaMalloc or cudaMallocAsync"},
        {"cudaDeviceGetDefaultMemPool",     "memory pools", "use cudaMalloc or cudaMallocAsync"},
        {"cudaDeviceGetMemPool",            "memory pools", "use cudaMalloc or cudaMallocAsync"},
        {"cudaDeviceSetMemPool",            "memory pools", "use cudaMalloc or cudaMallocAsync"},
        {"cudaMemGetDefaultMemPool",        "memory pools", "use cudaMalloc or cudaMallocAsync"},
        {"cudaMemGetMemPool",               "memory pools", "use cudaMalloc or cudaMallocAsync"},
        {"cudaMemSetMemPool",               "memory pools", "use cudaMalloc or cudaMallocAsync"},
        {"cudaMemAccess*",                  "memory pools", "use cudaMalloc or cudaMallocAsync"},
        {"cudaMemAllocation*",              "memory pools", "use cudaMalloc or cudaMallocAsync"},
        {"cudaMemFabricHandle*",            "memory pools", "use cudaMalloc or cudaMallocAsync"},
        {"cudaDeviceGraphMemTrim",          "memory pools", "use cudaMalloc or cudaMallocAsync"},
        {"cudaDeviceGetGraphMemAttribute",  "memory pools", "use cudaMalloc or cudaMallocAsync"},
        {"cudaDeviceSetGraphMemAttribute",  "memory pools", "use cudaMalloc or cudaMallocAsync"},

        {"cudaMemcpyBatchAsync",            "several copies in one call", "copy them one after the other with cudaMemcpyAsync"},
        {"cudaMemcpyAttributes",            "several copies in one call", "copy them one after the other with cudaMemcpyAsync"},
        {"cudaMemcpyFlags",                 "several copies in one call", "copy them one after the other with cudaMemcpyAsync"},
        {"cudaMemcpySrcAccessOrder",        "several copies in one call", "copy them one after the other with cudaMemcpyAsync"},
        {"cudaMemDiscard*",                 "several copies in one call", "copy them one after the other with cudaMemcpyAsync"},
        {"cudaMemPrefetchBatchAsync",       "several copies in one call", "copy them one after the other with cudaMemcpyAsync"},

        {"cudaDeviceCanAccessPeer",         "several GPUs", "use one GPU"},
        {"cudaDeviceEnablePeerAccess",      "several GPUs", "use one GPU"},
        {"cudaDeviceDisablePeerAccess",     "several GPUs", "use one GPU"},
        {"cudaDeviceGetP2P*",               "several GPUs", "use one GPU"},
        {"cudaDeviceP2PAttr",               "several GPUs", "use one GPU"},
        {"cudaMemcpyPeer*",                 "several GPUs", "use one GPU"},
        {"cudaSetValidDevices",             "several GPUs", "use one GPU"},
        {"cudaDeviceNumaConfig",            "several GPUs", "use one GPU"},
        {"cudaDeviceGetHostAtomicCapabilities", "several GPUs", "use one GPU"},
        {"cudaAtomicOperation*",            "several GPUs", "use one GPU"},

        {"cudaIpc*",                        "memory shared with other processes or devices", remove},
        {"cudaImportExternal*",             "memory shared with other processes or devices", remove},
        {"cudaDestroyExternal*",            "memory shared with other processes or devices", remove},
        {"cudaExternal*",                   "memory shared with other processes or devices", remove},
        {"cudaSignalExternal*",             "memory shared with other processes or devices", remove},
        {"cudaWaitExternal*",               "memory shared with other processes or devices", remove},
        {"cudaDeviceFlushGPUDirect*",       "memory shared with other processes or devices", remove},
        {"cudaFlushGPUDirect*",             "memory shared with other processes or devices", remove},
        {"cudaGPUDirect*",                  "memory shared with other processes or devices", remove},
        {"cudaDeviceGetNvSci*",             "memory shared with other processes or devices", remove},
        {"cudaMemRange*",                   "memory shared with other processes or devices", remove},

        {"cudaLibrary*",                    "code that is loaded at run time", by_launch},
        {"cudalibrary*",                    "code that is loaded at run time", by_launch},
        {"cudaKernelSet*",                  "code that is loaded at run time", by_launch},
        {"cudaGetKernel",                   "code that is loaded at run time", by_launch},
        {"cudaGetDriverEntryPoint*",        "code that is loaded at run time", by_launch},
        {"cudaDriverEntryPoint*",           "code that is loaded at run time", by_launch},
        {"cudaGetExportTable",              "code that is loaded at run time", by_launch},
        {"cudaGetFuncBySymbol",             "code that is loaded at run time", by_launch},
        {"cudaFuncGetName",                 "code that is loaded at run time", by_launch},
        {"cudaFuncGetParamInfo",            "code that is loaded at run time", by_launch},
        {"cudaJit*",                        "code that is loaded at run time", by_launch},

        {"cudaStreamSetAttribute",          "control of the L2 cache", remove},
        {"cudaStreamGetAttribute",          "control of the L2 cache", remove},
        {"cudaStreamCopyAttributes",        "control of the L2 cache", remove},
        {"cudaAccessP*",                    "control of the L2 cache", remove},
        {"cudaCtxResetPersistingL2Cache",   "control of the L2 cache", remove},
        {"cudaSynchronizationPolicy",       "control of the L2 cache", remove},
        {"cudaLaunchMemSync*",              "control of the L2 cache", remove},

        {"cudaLogs*",                       "messages of the driver", remove},
        {"cudaAsync*",                      "messages of the driver", remove},
        {"cudaDeviceRegisterAsync*",        "messages of the driver", remove},
        {"cudaDeviceUnregisterAsync*",      "messages of the driver", remove},

        {"cudaOccupancyMaxActiveClusters",  "thread block clusters", block_only},
        {"cudaOccupancyMaxPotentialClusterSize", "thread block clusters", block_only},
        {"cudaClusterSchedulingPolicy",     "thread block clusters", block_only},
        {"cudaCGScope",                     "thread block clusters", block_only},

        {"cyl_bessel_i*",                   "a rare function of GPUs", as_loop},
        {"erfcinv*",                        "a rare function of GPUs", as_loop},
        {"erfcx*",                          "a rare function of GPUs", as_loop},
        {"erfinv*",                         "a rare function of GPUs", as_loop},
        {"normcdfinv*",                     "a rare function of GPUs", as_loop},
        {"__dp2a*",                         "a rare function of GPUs", as_loop},
        {"__viadd*",                        "a rare function of GPUs", as_loop},
        {"__vib*",                          "a rare function of GPUs", as_loop},
        {"__vimax*",                        "a rare function of GPUs", as_loop},
        {"__vimin*",                        "a rare function of GPUs", as_loop},
        {"__vsads*",                        "a rare function of GPUs", as_loop},
        {"__vabsss*",                       "a rare function of GPUs", as_loop},
        {"__vnegss*",                       "a rare function of GPUs", as_loop},
        {"__u128Atomic*",                   "a rare function of GPUs", as_loop},
        {"__nv_atomic*",                    "a rare function of GPUs", as_loop},
        {"__prof_trigger",                  "a rare function of GPUs", as_loop},
        {"__pm0",                           "a rare function of GPUs", as_loop},
        {"__pm1",                           "a rare function of GPUs", as_loop},
        {"__pm2",                           "a rare function of GPUs", as_loop},
        {"__pm3",                           "a rare function of GPUs", as_loop},
        {"__ffma2*",                        "a rare function of GPUs", as_loop},
        {"__fmaf_ieee*",                    "a rare function of GPUs", as_loop},
        {"__nv_associate*",                 "a rare function of GPUs", as_loop},
        {"__nv_bswap*",                     "a rare function of GPUs", as_loop},

        {"__cluster*",                      "thread block clusters", block_only},
        {"__threadfence_cluster",           "thread block clusters", block_only},
        {"__isClusterShared",               "thread block clusters", block_only},

        {"__cvta_*",                        "address spaces", "use plain pointers, which are generic"},
        {"__isShared",                      "address spaces", "use plain pointers, which are generic"},
        {"__isCtaShared",                   "address spaces", "use plain pointers, which are generic"},
        {"__isGlobal",                      "address spaces", "use plain pointers, which are generic"},
        {"__isLocal",                       "address spaces", "use plain pointers, which are generic"},
        {"__isConstant",                    "address spaces", "use plain pointers, which are generic"},
        {"__isGridConstant",                "address spaces", "use plain pointers, which are generic"},

        {"__barrier_sync*",                 "named barriers", "use __syncthreads()"},

        {"__fadd2_*",                       "a rare function of GPUs", as_loop},
        {"__fmul2_*",                       "a rare function of GPUs", as_loop},
        {"__fma_rd",                        "a rare function of GPUs", as_loop},
        {"__fma_ru",                        "a rare function of GPUs", as_loop},
        {"__fma_rz",                        "a rare function of GPUs", as_loop},

        {"<nvrtc",                         "run-time compilation", by_launch},
        {"<cudaGL",                        "graphics interoperation", remove},
        {"<cuda_gl_interop",               "graphics interoperation", remove},
        {"<cudaEGL",                        "graphics interoperation", remove},
        {"<cudaVDPAU",                      "graphics interoperation", remove},
        {"<cuda_egl_interop",               "graphics interoperation", remove},
        {"<cuda_vdpau_interop",             "graphics interoperation", remove},
        {"<nvJitLink",                      "run-time compilation", by_launch},
        {"<nvvm",                           "run-time compilation", by_launch},
        {"<fatbinary_section",              "run-time compilation", by_launch},
        {"<nvFatbin",                       "run-time compilation", by_launch},
        {"<nvPTXCompiler",                  "run-time compilation", by_launch},
        {"<nvblas",                         "this library of CUDA's", own_kernel},
        {"<cudalibxt",                      "this library of CUDA's", own_kernel},
        {"<nccl",                           "this library of CUDA's", own_kernel},
        {"<nvjpeg",                         "this library of CUDA's", own_kernel},
        {"<cufile",                         "this library of CUDA's", own_kernel},
        {"<nv_decode",                      "this library of CUDA's", own_kernel},
        {"<cupti",                          "this interface of NVIDIA's profilers", remove},
        {"<nvperf",                         "this interface of NVIDIA's profilers", remove},
        {"<cudaProfiler",                   "this interface of NVIDIA's profilers", remove},
        {"<nvtx3/",                         "this interface of NVIDIA's profilers", remove},
        {"<Openacc",                        "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<Openmp",                         "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<cccl/",                          "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<channel_descriptor",             "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<common_functions",               "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<cooperative_groups/",            "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<crt/",                           "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<cudaTypedefs",                   "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<cuda_bf16.hpp",                  "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<cuda_device_runtime_api",        "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<cuda_fp16.hpp",                  "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<cuda_occupancy",                 "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<cuda_pipeline_helpers",          "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<cuda_stdint",                    "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<cudart_platform",                "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<device_atomic_functions.hpp",    "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<device_double_functions",        "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<device_types",                   "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<driver_functions",               "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<generated_",                     "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<host_config",                    "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<library_types",                  "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<nv/",                            "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<sm_",                            "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<surface_",                       "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<texture_",                       "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"<vector_functions.hpp",           "this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types"},
        {"cuModule*",                      "the driver API", runtime},
        {"cuLaunchKernel*",                "the driver API", runtime},
        {"cuCtxCreate*",                   "the driver API", runtime},
        {"cuMemAlloc*",                    "the driver API", runtime},
    };
    return table;
}

const std::vector<std::string_view>& supplied_headers() {
    static const std::vector<std::string_view> names = {
        "cooperative_groups/memcpy_async.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h",
        "nvtx3/nvToolsExt.h", "nvtx3/nvToolsExtCuda.h", "nvtx3/nvtx3.hpp",
        "sm_20_atomic_functions.h", "sm_20_intrinsics.h", "sm_30_intrinsics.h", "sm_32_intrinsics.h",
        "sm_35_intrinsics.h", "sm_60_atomic_functions.h", "sm_61_intrinsics.h",
        "cub/block/block_histogram.cuh", "cub/block/block_load.cuh", "cub/block/block_reduce.cuh",
        "cub/block/block_scan.cuh", "cub/block/block_store.cuh", "cub/cub.cuh", "cub/warp/warp_reduce.cuh",
        "cub/warp/warp_scan.cuh",
        "cuda/atomic", "cuda/barrier", "cuda/cmath", "cuda/functional", "cuda/latch", "cuda/pipeline",
        "cuda/semaphore", "cuda/std/array", "cuda/std/atomic", "cuda/std/barrier", "cuda/std/bit", "cuda/std/bitset",
        "cuda/std/cassert", "cuda/std/cfloat", "cuda/std/chrono", "cuda/std/climits", "cuda/std/cmath",
        "cuda/std/complex", "cuda/std/cstddef", "cuda/std/cstdint", "cuda/std/cstdlib", "cuda/std/cstring",
        "cuda/std/ctime", "cuda/std/functional", "cuda/std/initializer_list", "cuda/std/iterator", "cuda/std/latch",
        "cuda/std/limits", "cuda/std/mdspan", "cuda/std/memory", "cuda/std/numbers", "cuda/std/numeric",
        "cuda/std/optional", "cuda/std/ratio", "cuda/std/semaphore", "cuda/std/span", "cuda/std/tuple",
        "cuda/std/type_traits", "cuda/std/utility", "cuda/std/variant",
    };
    return names;
}
// clang-format on

namespace {

/// Finds an identifier's entries without a search of the whole table for each word of the file.
class Patterns {
  public:
    Patterns() {
        for (const auto& refusal : refusals()) {
            const auto pattern = refusal.pattern;
            if (pattern.front() == '<') {
                includes_.push_back(&refusal);
            } else if (pattern.back() == '*') {
                prefixes_[pattern.substr(0, prefix_length)].push_back(&refusal);
            } else {
                names_[pattern.substr(0, pattern.find_first_of(":<"))].push_back(&refusal);
            }
        }
    }

    const Refusal* find_include(std::string_view header) const {
        const auto name = header.substr(header.empty() ? 0 : 1);
        if (supplied_.count(name.substr(0, name.find_first_of(">\"")))) return nullptr;
        for (const auto* refusal : includes_) {
            const auto prefix = refusal->pattern.substr(1);
            if (name.substr(0, prefix.size()) == prefix) return refusal;
        }
        return nullptr;
    }

    const Refusal* find(const Stream& stream, int i) const {
        if (stream[i - 1] == "." || stream[i - 1] == "->") return nullptr;
        if (const auto named = names_.find(stream[i]); named != names_.end()) {
            for (const auto* refusal : named->second) {
                if (matches(stream, i, refusal->pattern)) return refusal;
            }
        }
        if (const auto begins = prefixes_.find(stream[i].substr(0, prefix_length)); begins != prefixes_.end()) {
            for (const auto* refusal : begins->second) {
                const auto prefix = refusal->pattern.substr(0, refusal->pattern.size() - 1);
                if (stream[i].substr(0, prefix.size()) == prefix) return refusal;
            }
        }
        return nullptr;
    }

  private:
    static constexpr std::size_t prefix_length = 4;  // every pattern with a * is longer

    static bool matches(const Stream& stream, int i, std::string_view pattern) {
        if (pattern.back() == '<') {
            const auto before = stream[i - 1];
            const bool begins = before.empty() || before == ";" || before == "}" || before == ">" || before == "static";
            return begins && stream[i + 1] == "<";
        }
        const auto colons = pattern.find("::");
        if (colons == std::string_view::npos) return true;
        const auto after = pattern.substr(colons + 2);
        return stream[i + 1] == "::" && (after.empty() || stream[i + 2] == after);
    }

    using List = std::vector<const Refusal*>;
    List includes_;
    std::unordered_set<std::string_view> supplied_{supplied_headers().begin(), supplied_headers().end()};
    std::unordered_map<std::string_view, List> names_, prefixes_;
};

class Refuser {
  public:
    explicit Refuser(Context& context) : context_(context) {}

    void read_includes() {
        for (const auto& header : context_.unit.includes) add(patterns_.find_include(header.text), header);
    }

    /// Refuse line directives, because line numbers and file names distinguish the submission from headers.
    void read_line_directives() {
        for (const auto& directive : context_.unit.line_directives)
            context_.refuse_for_cpu(directive, "#line cannot run on the CPU backend; remove it");
    }

    void read(const Stream& stream) {
        for (int i = 0; i < stream.size(); ++i) {
            if (stream.is_identifier(i) && !is_runnable_asm(stream, i))
                add(patterns_.find(stream, i), stream.tokens[i]);
        }
    }

  private:
    /// Add a problem only at the first place of each reason.
    void add(const Refusal* refusal, const Token& token) {
        if (!refusal || ++reasons_[refusal->reason] > 1) return;
        context_.refuse_for_cpu(token, std::string(token.text) + ": " + std::string(refusal->reason) +
                                           " cannot run on the CPU backend; " + std::string(refusal->instead));
    }

    Context& context_;
    Patterns patterns_;
    std::unordered_map<std::string_view, int> reasons_;
};

}  // namespace

void refuse_unsupported(Context& context) {
    Refuser refuser(context);
    refuser.read_includes();
    refuser.read_line_directives();
    refuser.read(context.unit.code);
    for (const auto& macro : context.unit.macros) refuser.read(macro.body);
}

}  // namespace warplab::rewriter
