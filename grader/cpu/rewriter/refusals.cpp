#include "grader/cpu/rewriter/refusals.h"

#include <unordered_map>

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
        on_stream  = "launch the kernels one after the other on a stream",
        plain_math = "multiply with ordinary arithmetic",
        as_cpp     = "write it in C++ or with an intrinsic (__shfl_sync, __popc, __ldg …)",
        runtime    = "use the runtime's functions (cudaMalloc, cudaMemcpy, <<<…>>> …)",
        atomics    = "use atomicAdd and its kin",
        remove     = "remove it";
    static const std::vector<Refusal> table = {
        {"asm",                            "inline PTX", as_cpp},
        {"__asm__",                        "inline PTX", as_cpp},
        {"__asm",                          "inline PTX", as_cpp},

        {"<thrust/",                       "Thrust", own_kernel},
        {"thrust::",                       "Thrust", own_kernel},
        {"<cub/",                          "CUB", own_kernel},
        {"cub::",                          "CUB", own_kernel},
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

        {"<cuda_fp16",                     "half precision", "use float"},
        {"<cuda_bf16",                     "bfloat16", "use float"},
        {"<cuda_fp8",                      "8-bit floating point", "use float"},

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
        {"this_cluster",                   "thread block clusters", block_only},
        {"cluster_group",                  "thread block clusters", block_only},
        {"cudaLaunchAttributeClusterDimension", "thread block clusters", block_only},
        {"CUtensorMap",                    "the tensor memory accelerator", plain_copy},
        {"cuTensorMap*",                   "the tensor memory accelerator", plain_copy},

        {"this_grid",                      "a barrier across the grid", block_only},
        {"grid_group",                     "a barrier across the grid", block_only},
        {"this_multi_grid",                "a barrier across grids", block_only},
        {"multi_grid_group",               "a barrier across grids", block_only},
        {"cudaLaunchCooperativeKernel*",   "a cooperative launch (grid barrier)", block_only},
        {"cudaLaunchKernel*",              "a launch by cudaLaunchKernel", by_launch},

        {"cudaGraph*",                     "CUDA graphs", on_stream},
        {"cudaStreamBeginCapture*",        "CUDA graphs", on_stream},
        {"cudaStreamEndCapture",           "CUDA graphs", on_stream},

        {"<cuda/pipeline",                 "asynchronous copies (cuda::pipeline)", plain_copy},
        {"cuda::pipeline",                 "asynchronous copies (cuda::pipeline)", plain_copy},
        {"<cuda_pipeline",                 "asynchronous copies (cp.async)", plain_copy},
        {"__pipeline_*",                   "asynchronous copies (cp.async)", plain_copy},
        {"memcpy_async",                   "asynchronous copies (memcpy_async)", plain_copy},
        {"<cooperative_groups/memcpy_async", "asynchronous copies (memcpy_async)", plain_copy},
        {"<cuda/barrier",                  "cuda::barrier", "use __syncthreads()"},
        {"cuda::barrier",                  "cuda::barrier", "use __syncthreads()"},
        {"<cuda_awbarrier",                "asynchronous barriers", "use __syncthreads()"},
        {"<cuda/ptx",                      "inline PTX", as_cpp},
        {"<cuda/atomic",                   "libcu++ (cuda::atomic)", atomics},
        {"cuda::atomic",                   "libcu++ (cuda::atomic)", atomics},
        {"cuda::atomic_ref",               "libcu++ (cuda::atomic)", atomics},
        {"<cuda/",                         "libcu++ (<cuda/…>)", "use the language and the runtime's own functions"},

        {"<nvrtc",                         "run-time compilation", by_launch},
        {"<cudaGL",                        "graphics interoperation", remove},
        {"<cuda_gl_interop",               "graphics interoperation", remove},
        {"<nvtx3/",                        "profiler markers", remove},
        {"<nvToolsExt",                    "profiler markers", remove},
        {"cuModule*",                      "the driver API", runtime},
        {"cuLaunchKernel*",                "the driver API", runtime},
        {"cuCtxCreate*",                   "the driver API", runtime},
        {"cuMemAlloc*",                    "the driver API", runtime},
    };
    return table;
}
// clang-format on

namespace {

/// An identifier's entries, found without walking the table for every word of the file.
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
    std::unordered_map<std::string_view, List> names_, prefixes_;
};

class Refuser {
  public:
    explicit Refuser(Context& context) : context_(context) {}

    void read_includes() {
        for (const auto& header : context_.unit.includes) add(patterns_.find_include(header.text), header);
    }

    /// Refuses line directives: the line numbers and file names distinguish the submission from headers.
    void read_line_directives() {
        for (const auto& directive : context_.unit.line_directives)
            context_.refuse_for_cpu(directive,
                                    "#line, or a directive that begins with %:, cannot run on the CPU "
                                    "backend; remove it");
    }

    void read(const Stream& stream) {
        for (int i = 0; i < stream.size(); ++i) {
            if (stream.is_identifier(i)) add(patterns_.find(stream, i), stream.tokens[i]);
        }
    }

  private:
    /// Once for each reason: the first place is enough.
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
