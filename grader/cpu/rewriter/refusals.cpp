#include "grader/cpu/rewriter/refusals.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "grader/cpu/rewriter/passes.h"

namespace warplab::rewriter {

/// Patterns that are refused for the same reason.
struct Group {
    std::string_view reason, instead;
    std::vector<std::string_view> patterns;
};

// clang-format off
const std::vector<Refusal>& refusals() {
    static constexpr std::string_view
        own_kernel = "write your own kernel for the loop or the reduction",
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
    static const std::vector<Group> groups = {
        {"inline PTX", as_cpp, {"asm", "__asm__", "__asm", "<cuda/ptx"}},
        {"Thrust", own_kernel, {"<thrust/", "thrust::"}},
        {"this part of CUB", own_kernel,
         {"<cub/", "cub::DeviceReduce", "cub::DeviceSegmentedReduce", "cub::DeviceScan", "cub::DeviceHistogram",
          "cub::DeviceRadixSort", "cub::DeviceSegmentedSort", "cub::DeviceMergeSort", "cub::DeviceSelect",
          "cub::DevicePartition", "cub::DeviceRunLengthEncode", "cub::DeviceFor", "cub::DeviceTransform",
          "cub::DeviceAdjacentDifference", "cub::BlockRadixSort", "cub::BlockMergeSort", "cub::BlockExchange",
          "cub::BlockShuffle", "cub::BlockDiscontinuity", "cub::BlockAdjacentDifference", "cub::BlockRunLengthDecode",
          "cub::WarpMergeSort", "cub::WarpExchange", "cub::WarpLoad", "cub::WarpStore", "cub::BlockRadixRank",
          "cub::ThreadLoad", "cub::ThreadStore", "cub::ThreadReduce", "cub::ShuffleDown", "cub::ShuffleUp",
          "cub::ShuffleIndex", "cub::LaneId", "cub::WarpId", "cub::KeyValuePair", "cub::ArgMax", "cub::ArgMin",
          "cub::DoubleBuffer", "cub::CachingDeviceAllocator", "cub::CacheModifiedInputIterator",
          "cub::CacheModifiedOutputIterator", "cub::CountingInputIterator", "cub::ConstantInputIterator",
          "cub::TransformInputIterator", "cub::ArgIndexInputIterator", "cub::GridEvenShare", "cub::GridBarrier",
          "cub::GridQueue"}},
        {"cuBLAS", own_kernel, {"<cublas", "cublas*"}},
        {"cuFFT", own_kernel, {"<cufft"}},
        {"cuSPARSE", own_kernel, {"<cusparse"}},
        {"cuSOLVER", own_kernel, {"<cusolver"}},
        {"cuDNN", own_kernel, {"<cudnn"}},
        {"CUTLASS", own_kernel, {"<cutlass/"}},
        {"NPP", own_kernel, {"<npp"}},
        {"cuRAND", own_random, {"<curand", "curand*"}},
        {"8-bit floating point", "use float or half", {"<cuda_fp8"}},
        {"6-bit floating point", "use float or half", {"<cuda_fp6"}},
        {"4-bit floating point", "use float or half", {"<cuda_fp4"}},
        {"textures", by_pointer,
         {"texture<", "cudaTextureObject_t", "cudaCreateTextureObject", "cudaBindTexture*", "tex1D*", "tex2D*", "tex3D*",
          "texCubemap*", "cudaDestroyTextureObject", "cudaGetTexture*", "cudaArray*", "cudaChannelFormat*",
          "cudaCreateChannelDesc", "cudaGetChannelDesc", "cudaFreeArray", "cudaResourceDesc", "cudaResourceType",
          "cudaResourceView*", "cudaTextureDesc", "cudaMemcpyToArray*", "cudaMemcpyFromArray*", "cudaMemcpyArrayToArray",
          "cudaMemcpy2DToArray*", "cudaMemcpy2DFromArray*", "cudaMemcpy2DArrayToArray", "cudaMallocMipmappedArray",
          "cudaFreeMipmappedArray", "cudaGetMipmapped*", "cudaMipmapped*", "cudaDeviceGetTexture*"}},
        {"texture arrays", by_pointer, {"cudaMallocArray", "cudaMalloc3DArray"}},
        {"surfaces", by_pointer,
         {"surface<", "cudaSurfaceObject_t", "cudaCreateSurfaceObject", "surf1D*", "surf2D*", "surf3D*",
          "cudaDestroySurfaceObject", "cudaGetSurface*"}},
        {"tensor cores (wmma)", plain_math, {"<mma.h", "nvcuda::wmma", "wmma::"}},
        {"thread block clusters", block_only,
         {"__cluster_dims__", "this_cluster", "cluster_group", "cudaLaunchAttributeClusterDimension",
          "cudaOccupancyMaxActiveClusters", "cudaOccupancyMaxPotentialClusterSize", "cudaClusterSchedulingPolicy",
          "cudaCGScope", "__cluster*", "__threadfence_cluster", "__isClusterShared"}},
        {"a block size that the kernel fixes", by_launch, {"__block_size__"}},
        {"programmatic dependent launch", "launch without the attribute", {"cudaLaunchAttributeProgrammatic*"}},
        {"the tensor memory accelerator", plain_copy, {"CUtensorMap", "cuTensorMap*"}},
        {"a barrier across grids", block_only, {"this_multi_grid", "multi_grid_group"}},
        {"a launch on several GPUs", block_only, {"cudaLaunchCooperativeKernelMultiDevice"}},
        {"this part of CUDA graphs", by_capture,
         {"cudaChildGraphNodeParams", "cudaConditionalNode*", "cudaEventRecordNodeParams", "cudaEventWaitNodeParams",
          "cudaGraphAddNode", "cudaGraphAddMemAllocNode", "cudaGraphAddMemFreeNode", "cudaGraphAddMemcpyNodeFromSymbol",
          "cudaGraphAddMemcpyNodeToSymbol", "cudaGraphChildGraph*", "cudaGraphConditional*", "cudaGraphDebugDot*",
          "cudaGraphEventRecord*", "cudaGraphEventWait*", "cudaGraphExecChildGraph*", "cudaGraphExecEvent*",
          "cudaGraphExecMemcpyNodeSetParamsFromSymbol", "cudaGraphExecMemcpyNodeSetParamsToSymbol", "cudaGraphExecNode*",
          "cudaGraphKernelNodeCopyAttributes", "cudaGraphKernelNodeField", "cudaGraphKernelNodeGetAttribute",
          "cudaGraphKernelNodeSetAttribute", "cudaGraphKernelNodeUpdate", "cudaGraphMemAlloc*",
          "cudaGraphMemAttributeType", "cudaGraphMemFree*", "cudaGraphMemcpyNodeSetParamsFromSymbol",
          "cudaGraphMemcpyNodeSetParamsToSymbol", "cudaGraphNodeParams", "cudaGraphNodeSetParams",
          "cudaGraphReleaseUserObject", "cudaGraphRetainUserObject", "cudaHostNodeParamsV2", "cudaKernelNodeParamsV2",
          "cudaMemAllocNode*", "cudaMemFreeNode*", "cudaMemcpyNodeParams", "cudaMemsetParamsV2",
          "cudaStreamBeginCaptureToGraph", "cudaStreamUpdateCapture*", "cudaUserObject*"}},
        {"reading a node's parameters", "keep a copy of the parameters with which you created it",
         {"cudaGraphHostNodeGetParams", "cudaGraphKernelNodeGetParams", "cudaGraphMemcpyNodeGetParams",
          "cudaGraphMemsetNodeGetParams"}},
        {"memory shared with other processes or devices", remove,
         {"cudaGraphAddExternal*", "cudaGraphExecExternal*", "cudaGraphExternal*", "cudaIpc*", "cudaImportExternal*",
          "cudaDestroyExternal*", "cudaExternal*", "cudaSignalExternal*", "cudaWaitExternal*",
          "cudaDeviceFlushGPUDirect*", "cudaFlushGPUDirect*", "cudaGPUDirect*", "cudaDeviceGetNvSci*", "cudaMemRange*"}},
        {"graphics interoperation", remove,
         {"cudaGraphics*", "<cudaGL", "<cuda_gl_interop", "<cudaEGL", "<cudaVDPAU", "<cuda_egl_interop",
          "<cuda_vdpau_interop"}},
        {"several copies in one call", "copy them one after the other with cudaMemcpyAsync",
         {"cudaMemcpy3DBatch*", "cudaMemcpy3DOperand*", "cudaOffset3D", "cudaMemcpyBatchAsync", "cudaMemcpyAttributes",
          "cudaMemcpyFlags", "cudaMemcpySrcAccessOrder", "cudaMemDiscard*", "cudaMemPrefetchBatchAsync"}},
        {"several GPUs", "use one GPU",
         {"cudaMemcpy3DPeer*", "cudaDeviceCanAccessPeer", "cudaDeviceEnablePeerAccess", "cudaDeviceDisablePeerAccess",
          "cudaDeviceGetP2P*", "cudaDeviceP2PAttr", "cudaMemcpyPeer*", "cudaSetValidDevices", "cudaDeviceNumaConfig",
          "cudaDeviceGetHostAtomicCapabilities", "cudaAtomicOperation*"}},
        {"asynchronous barriers", "use __syncthreads()", {"<cuda_awbarrier"}},
        {"this part of libcu++ (<cuda/…>)", "use the language and the runtime's own functions", {"<cuda/"}},
        {"memory pools", "use cudaMalloc or cudaMallocAsync",
         {"cudaMemPool*", "cudaMallocFromPoolAsync", "cudaDeviceGetDefaultMemPool", "cudaDeviceGetMemPool",
          "cudaDeviceSetMemPool", "cudaMemGetDefaultMemPool", "cudaMemGetMemPool", "cudaMemSetMemPool", "cudaMemAccess*",
          "cudaMemAllocation*", "cudaMemFabricHandle*", "cudaDeviceGraphMemTrim", "cudaDeviceGetGraphMemAttribute",
          "cudaDeviceSetGraphMemAttribute"}},
        {"code that is loaded at run time", by_launch,
         {"cudaLibrary*", "cudalibrary*", "cudaKernelSet*", "cudaGetKernel", "cudaGetDriverEntryPoint*",
          "cudaDriverEntryPoint*", "cudaGetExportTable", "cudaGetFuncBySymbol", "cudaFuncGetName",
          "cudaFuncGetParamInfo", "cudaJit*"}},
        {"control of the L2 cache", remove,
         {"cudaStreamSetAttribute", "cudaStreamGetAttribute", "cudaStreamCopyAttributes", "cudaAccessP*",
          "cudaCtxResetPersistingL2Cache", "cudaSynchronizationPolicy", "cudaLaunchMemSync*"}},
        {"messages of the driver", remove,
         {"cudaLogs*", "cudaAsync*", "cudaDeviceRegisterAsync*", "cudaDeviceUnregisterAsync*"}},
        {"a rare function of GPUs", as_loop,
         {"cyl_bessel_i*", "erfcinv*", "erfcx*", "erfinv*", "normcdfinv*", "__dp2a*", "__viadd*", "__vib*", "__vimax*",
          "__vimin*", "__vsads*", "__vabsss*", "__vnegss*", "__u128Atomic*", "__nv_atomic*", "__prof_trigger", "__pm0",
          "__pm1", "__pm2", "__pm3", "__ffma2*", "__fmaf_ieee*", "__nv_associate*", "__nv_bswap*", "__fadd2_*",
          "__fmul2_*", "__fma_rd", "__fma_ru", "__fma_rz"}},
        {"address spaces", "use plain pointers, which are generic",
         {"__cvta_*", "__isShared", "__isCtaShared", "__isGlobal", "__isLocal", "__isConstant", "__isGridConstant"}},
        {"named barriers", "use __syncthreads()", {"__barrier_sync*"}},
        {"run-time compilation", by_launch,
         {"<nvrtc", "<nvJitLink", "<nvvm", "<fatbinary_section", "<nvFatbin", "<nvPTXCompiler"}},
        {"this library of CUDA's", own_kernel, {"<nvblas", "<cudalibxt", "<nccl", "<nvjpeg", "<cufile", "<nv_decode"}},
        {"this interface of NVIDIA's profilers", remove, {"<cupti", "<nvperf", "<cudaProfiler", "<nvtx3/"}},
        {"this header of CUDA", "include <cuda_runtime.h>, which has the runtime's functions and types",
         {"<Openacc", "<Openmp", "<cccl/", "<channel_descriptor", "<common_functions", "<cooperative_groups/", "<crt/",
          "<cudaTypedefs", "<cuda_bf16.hpp", "<cuda_device_runtime_api", "<cuda_fp16.hpp", "<cuda_occupancy",
          "<cuda_pipeline_helpers", "<cuda_stdint", "<cudart_platform", "<device_atomic_functions.hpp",
          "<device_double_functions", "<device_types", "<driver_functions", "<generated_", "<host_config",
          "<library_types", "<nv/", "<sm_", "<surface_", "<texture_", "<vector_functions.hpp"}},
        {"the driver API", runtime, {"cuModule*", "cuLaunchKernel*", "cuCtxCreate*", "cuMemAlloc*"}},
    };
    static const std::vector<Refusal> all = [] {
        std::vector<Refusal> flat;
        for (const auto& group : groups)
            for (const auto pattern : group.patterns) flat.push_back({pattern, group.reason, group.instead});
        return flat;
    }();
    return all;
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

/// Finds an identifier's entries without searching the whole table for each word of the file.
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

    void refuse_includes() {
        for (const auto& header : context_.unit.includes) add(patterns_.find_include(header.text), header);
    }

    /// Refuse line directives, because line numbers and file names distinguish the submission from headers.
    void refuse_line_directives() {
        for (const auto& directive : context_.unit.line_directives)
            context_.refuse_for_cpu(directive, "the CPU backend does not support #line; remove it");
    }

    void refuse_names(const Stream& stream) {
        for (int i = 0; i < stream.size(); ++i) {
            if (is_pasted_qualifier(stream, i)) add(&pasted_, stream.tokens[i]);
            if (stream.is_identifier(i) && !is_runnable_asm(stream, i))
                add(patterns_.find(stream, i), stream.tokens[i], stream[i + 1] == "::" ? stream[i + 2] : "");
        }
    }

  private:
    /// Return whether a macro builds a word such as __global__ from parts (`__ ## name ## __`), so that no
    /// pass finds the word. Four characters are enough to tell a qualifier from a function such as `__d ## add_rn`.
    static bool is_pasted_qualifier(const Stream& stream, int i) {
        if (stream[i + 1] != "##" || stream[i - 1] == "##" || !stream[i].starts_with("__")) return false;
        int last = i + 2;
        while (stream[last + 1] == "##") last += 2;
        return std::ranges::any_of(qualifiers, [&](std::string_view word) {
            return word.starts_with(stream[i]) && (stream[i].size() >= 4 || word.ends_with(stream[last]));
        });
    }

    static constexpr std::string_view qualifiers[] = {"__global__", "__device__",   "__host__",
                                                      "__shared__", "__constant__", "__managed__"};
    static constexpr Refusal pasted_{"##", "a qualifier such as __global__ that is built with ##",
                                     "write the whole word in the macro"};

    /// Add a problem only for the first occurrence of each reason.
    void add(const Refusal* refusal, const Token& token, std::string_view member = "") {
        if (!refusal || ++reasons_[refusal->reason] > 1) return;
        const std::string name = std::string(token.text) + (member.empty() ? "" : "::" + std::string(member));
        context_.refuse_for_cpu(token, name + ": " + std::string(refusal->reason) + " cannot run on the CPU backend; " +
                                           std::string(refusal->instead));
    }

    Context& context_;
    Patterns patterns_;
    std::unordered_map<std::string_view, int> reasons_;
};

}  // namespace

void refuse_unsupported(Context& context) {
    Refuser refuser(context);
    refuser.refuse_includes();
    refuser.refuse_line_directives();
    refuser.refuse_names(context.unit.code);
    for (const auto& macro : context.unit.macros) refuser.refuse_names(macro.body);
}

}  // namespace warplab::rewriter
