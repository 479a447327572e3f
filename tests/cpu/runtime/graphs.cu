// CUDA graphs: capture, graphs made node by node, their launches and updates, and the errors of calls that a capture
// forbids. Also launches by a function call, and three-dimensional memory.

#include "checks.h"

struct Scale {
    float factor, offset;
};

__global__ void scale_kernel(float* values, Scale scale, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = values[i] * scale.factor + scale.offset;
}
__global__ void add_kernel(const float* a, const float* b, float* sum, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) sum[i] = a[i] + b[i];
}
template <class T>
__global__ void fill_kernel(T* values, T value) {
    values[threadIdx.x] = value;
}

__constant__ float table[4];
__global__ void table_kernel(float* out) { out[threadIdx.x] = table[threadIdx.x]; }

constexpr int count = 100;

struct Buffers {
    float* a = on_device(std::vector<float>(count, 1.0f));
    float* b = on_device(std::vector<float>(count, 2.0f));
    float* sum = on_device(std::vector<float>(count, 0.0f));
    ~Buffers() {
        cudaFree(a);
        cudaFree(b);
        cudaFree(sum);
    }
};

cudaStream_t new_stream(unsigned flags = cudaStreamNonBlocking) {
    cudaStream_t stream = nullptr;
    CHECK(cudaStreamCreateWithFlags(&stream, flags) == cudaSuccess);
    return stream;
}

cudaGraphExec_t instantiate(cudaGraph_t graph) {
    cudaGraphExec_t exec = nullptr;
    CHECK(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    return exec;
}

void launch(cudaGraphExec_t exec, int times, cudaStream_t stream = nullptr) {
    for (int i = 0; i < times; ++i) CHECK(cudaGraphLaunch(exec, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
}

size_t nodes_of(cudaGraph_t graph) {
    size_t found = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &found) == cudaSuccess);
    return found;
}

void add_one(void* data) { ++*static_cast<int*>(data); }

void test_capture() {
    Buffers buffers;
    cudaStream_t stream = new_stream();
    float host = -1;
    int calls = 0;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusActive);
    Scale scale = {2.0f, 1.0f};
    scale_kernel<<<1, 128, 0, stream>>>(buffers.a, scale, count);
    scale.factor = 100;  // the parameters were copied
    CHECK(cudaMemsetAsync(buffers.sum, 0, sizeof(float), stream) == cudaSuccess);
    add_kernel<<<1, 128, 0, stream>>>(buffers.a, buffers.b, buffers.sum, count);
    CHECK(cudaMemcpyAsync(&host, buffers.sum + 5, sizeof(float), cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    CHECK(cudaLaunchHostFunc(stream, add_one, &calls) == cudaSuccess);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusNone);
    CHECK_EQUAL(nodes_of(graph), 5);
    CHECK(host == -1 && calls == 0);  // nothing has run
    CHECK_EQUAL(from_device(buffers.a), 1.0f);
    cudaGraphExec_t exec = instantiate(graph);
    launch(exec, 3, stream);
    CHECK_EQUAL(from_device(buffers.a), 15.0f);  // 1, 3, 7, 15
    CHECK_EQUAL(host, 17.0f);
    CHECK_EQUAL(calls, 3);
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

void test_capture_across_streams() {
    Buffers buffers;
    cudaStream_t first = new_stream(), second = new_stream();
    cudaEvent_t fork, join;
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    CHECK(cudaEventRecord(fork, first) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(second, fork, 0) == cudaSuccess);
    scale_kernel<<<1, 128, 0, first>>>(buffers.a, {3.0f, 0.0f}, count);
    scale_kernel<<<1, 128, 0, second>>>(buffers.b, {5.0f, 0.0f}, count);
    CHECK(cudaEventRecord(join, second) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(first, join) == cudaSuccess);
    add_kernel<<<1, 128, 0, first>>>(buffers.a, buffers.b, buffers.sum, count);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(first, &graph) == cudaSuccess);
    size_t edges = 0, roots = 0;
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots) == cudaSuccess && roots == 2);
    cudaGraphNode_t from[4], to[4];
    edges = 4;
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphGetEdges(graph, from, to, nullptr, &edges) == cudaSuccess && edges == 2);
#else
    CHECK(cudaGraphGetEdges(graph, from, to, &edges) == cudaSuccess && edges == 2);
#endif
    CHECK(to[0] == to[1] && from[0] != from[1]);
    cudaGraphExec_t exec = instantiate(graph);
    launch(exec, 2);
    CHECK_EQUAL(from_device(buffers.sum), 9.0f + 50.0f);
    cudaGraphExecDestroy(exec);
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
}

void test_nodes() {
    Buffers buffers;
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0) == cudaSuccess);
    cudaGraphNode_t fill, copy, scale, add, read, host, done;
    cudaMemsetParams zero = {};
    zero.dst = buffers.sum;
    zero.value = 0x3f800000;  // 1.0f
    zero.elementSize = 4;
    zero.width = count;
    zero.height = 1;
    CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero) == cudaSuccess);
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &fill, 1, buffers.b, buffers.sum, count * sizeof(float),
                                   cudaMemcpyDeviceToDevice) == cudaSuccess);
    Scale by = {2.0f, 3.0f};
    int elements = count;
    void* scale_arguments[] = {&buffers.a, &by, &elements};
    cudaKernelNodeParams params = {0};
    params.func = (void*)scale_kernel;
    params.gridDim = dim3(1);
    params.blockDim = dim3(128);
    params.kernelParams = scale_arguments;
    CHECK(cudaGraphAddKernelNode(&scale, graph, nullptr, 0, &params) == cudaSuccess);
    by.factor = 50;  // the parameters were copied
    void* add_arguments[] = {&buffers.a, &buffers.b, &buffers.sum, &elements};
    cudaKernelNodeParams add_params = {(void*)add_kernel, dim3(1), dim3(128), 0, add_arguments, nullptr};
    CHECK(cudaGraphAddKernelNode(&add, graph, nullptr, 0, &add_params) == cudaSuccess);
    cudaGraphNode_t before_add[] = {copy, scale}, twice_add[] = {add, add};
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphAddDependencies(graph, before_add, twice_add, nullptr, 2) == cudaSuccess);
#else
    CHECK(cudaGraphAddDependencies(graph, before_add, twice_add, 2) == cudaSuccess);
#endif
    float result = 0;
    cudaMemcpy3DParms to_host = {};
    to_host.srcPtr = make_cudaPitchedPtr(buffers.sum, count * sizeof(float), count, 1);
    to_host.dstPtr = make_cudaPitchedPtr(&result, sizeof(float), 1, 1);
    to_host.extent = make_cudaExtent(sizeof(float), 1, 1);
    to_host.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaGraphAddMemcpyNode(&read, graph, &add, 1, &to_host) == cudaSuccess);
    int calls = 0;
    cudaHostNodeParams call = {add_one, &calls};
    CHECK(cudaGraphAddHostNode(&host, graph, &read, 1, &call) == cudaSuccess);
    CHECK(cudaGraphAddEmptyNode(&done, graph, &host, 1) == cudaSuccess);
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(read, &type) == cudaSuccess && type == cudaGraphNodeTypeMemcpy);
    CHECK_EQUAL(nodes_of(graph), 7);

    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0) == cudaSuccess);
    launch(exec, 1);
    CHECK_EQUAL(result, 5.0f + 1.0f);
    CHECK_EQUAL(calls, 1);
    by = {0.0f, 10.0f};
    CHECK(cudaGraphExecKernelNodeSetParams(exec, scale, &params) == cudaSuccess);
    launch(exec, 1);
    CHECK_EQUAL(result, 11.0f);
    CHECK(cudaGraphNodeSetEnabled(exec, scale, 0) == cudaSuccess);
    fill_kernel<<<1, count>>>(buffers.a, 7.0f);
    launch(exec, 1);
    CHECK_EQUAL(result, 8.0f);
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
    CHECK(cudaGraphDestroyNode(done) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

void test_cycle() {
    cudaGraph_t graph;
    cudaGraphNode_t first, second;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddEmptyNode(&first, graph, nullptr, 0);
    cudaGraphAddEmptyNode(&second, graph, &first, 1);
#if CUDART_VERSION >= 13000
    cudaGraphAddDependencies(graph, &second, &first, nullptr, 1);
#else
    cudaGraphAddDependencies(graph, &second, &first, 1);
#endif
    cudaGraphExec_t exec = nullptr;
    CHECK(cudaGraphInstantiate(&exec, graph, 0) == cudaErrorInvalidValue);
    CHECK(exec == nullptr);
    cudaGraphDestroy(graph);
}

cudaGraph_t capture_scaling(cudaStream_t stream, float* values, float factor, bool twice = false) {
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    scale_kernel<<<1, 128, 0, stream>>>(values, {factor, 0.0f}, count);
    if (twice) scale_kernel<<<1, 128, 0, stream>>>(values, {factor, 0.0f}, count);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    return graph;
}

void test_updates() {
    Buffers buffers;
    cudaStream_t stream = new_stream();
    cudaGraphExec_t exec = instantiate(capture_scaling(stream, buffers.a, 2.0f));
    launch(exec, 1, stream);
    cudaGraph_t other = capture_scaling(stream, buffers.a, 10.0f);
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(exec, other, &info) == cudaSuccess && info.result == cudaGraphExecUpdateSuccess);
    cudaGraphDestroy(other);
    launch(exec, 2, stream);
    CHECK_EQUAL(from_device(buffers.a), 200.0f);
    other = capture_scaling(stream, buffers.a, 10.0f, true);
    cudaGraphNode_t wrong;
    cudaGraphExecUpdateResult result;
    CHECK(cudaGraphExecUpdate(exec, other, &wrong, &result) == cudaErrorGraphExecUpdateFailure);
    CHECK(result == cudaGraphExecUpdateErrorTopologyChanged);
    CHECK(cudaGetLastError() == cudaErrorGraphExecUpdateFailure);
    launch(exec, 1, stream);
    CHECK_EQUAL(from_device(buffers.a), 2000.0f);

    // A graph as a node of others: by its launch in a capture, and by cudaGraphAddChildGraphNode
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, stream) == cudaSuccess);
    scale_kernel<<<1, 128, 0, stream>>>(buffers.a, {1.0f, 5.0f}, count);
    cudaGraph_t outer;
    CHECK(cudaStreamEndCapture(stream, &outer) == cudaSuccess);
    cudaGraphNode_t child, nodes[2];
    size_t found = 2;
    CHECK(cudaGraphGetNodes(outer, nodes, &found) == cudaSuccess && found == 2);
    CHECK(cudaGraphAddChildGraphNode(&child, outer, &nodes[1], 1, other) == cudaSuccess);
    cudaGraphExecDestroy(exec);
    exec = instantiate(outer);
    fill_kernel<<<1, count, 0, stream>>>(buffers.a, 1.0f);
    launch(exec, 1, stream);
    CHECK_EQUAL(from_device(buffers.a), 1500.0f);  // times 10, plus 5, twice times 10
    cudaGraphDestroy(other);
    cudaGraphExecDestroy(exec);
    cudaStreamDestroy(stream);
}

void test_symbols_and_events() {
    float* out = on_device(std::vector<float>(4));
    cudaStream_t stream = new_stream();
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float values[4] = {1, 2, 3, 4}, milliseconds = -1;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    CHECK(cudaEventRecordWithFlags(begin, stream, cudaEventRecordExternal) == cudaSuccess);
    CHECK(cudaMemcpyToSymbolAsync(table, values, sizeof(values), 0, cudaMemcpyHostToDevice, stream) == cudaSuccess);
    table_kernel<<<1, 4, 0, stream>>>(out);
    CHECK(cudaEventRecordWithFlags(end, stream, cudaEventRecordExternal) == cudaSuccess);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    cudaGraphExec_t exec = instantiate(graph);
    values[2] = 30;  // memory is read when the graph runs
    launch(exec, 1, stream);
    CHECK_EQUAL(from_device(out, 4)[2], 30.0f);
    CHECK(cudaEventSynchronize(end) == cudaSuccess);
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess && milliseconds >= 0);
    cudaGraphExecDestroy(exec);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaStreamDestroy(stream);
    cudaFree(out);
}

/// Return the error at the end of a capture that contains this call.
template <class Call>
cudaError_t end_after(cudaStream_t stream, Call call, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamBeginCapture(stream, mode) == cudaSuccess);
    call();
    const cudaError_t error = cudaStreamEndCapture(stream, &graph);
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError();
    return error;
}

void test_forbidden_calls() {
    Buffers buffers;
    cudaStream_t stream = new_stream(), blocking = new_stream(cudaStreamDefault), other = new_stream();
    cudaEvent_t event;
    cudaEventCreate(&event);
    cudaGraph_t graph;
    float host = 0;
    void* memory = nullptr;
    CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState);
    CHECK(end_after(stream, [&] {
              CHECK(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
              CHECK(cudaMemsetAsync(buffers.a, 0, 4, stream) == cudaErrorStreamCaptureInvalidated);
          }) == cudaErrorStreamCaptureInvalidated);
    CHECK(end_after(stream, [&] { CHECK(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported); }) ==
          cudaErrorStreamCaptureInvalidated);
    CHECK(end_after(stream, [&] { CHECK(cudaMalloc(&memory, 4) == cudaErrorStreamCaptureUnsupported); }) ==
          cudaErrorStreamCaptureInvalidated);
    CHECK(end_after(
              stream, [&] { CHECK(cudaMalloc(&memory, 4) == cudaSuccess); }, cudaStreamCaptureModeRelaxed) ==
          cudaSuccess);
    CHECK(end_after(stream, [&] {
              CHECK(cudaMemcpy(&host, buffers.a, 4, cudaMemcpyDeviceToHost) == cudaErrorStreamCaptureUnsupported);
          }) == cudaErrorStreamCaptureInvalidated);
    CHECK(end_after(blocking, [&] {
              fill_kernel<<<1, 1>>>(buffers.a, 9.0f);
              CHECK(cudaGetLastError() == cudaErrorStreamCaptureImplicit);
          }) == cudaErrorStreamCaptureInvalidated);
    CHECK(end_after(stream, [&] { fill_kernel<<<1, 1>>>(buffers.b, 9.0f); }) == cudaSuccess);
    CHECK_EQUAL(from_device(buffers.a), 1.0f);
    CHECK_EQUAL(from_device(buffers.b), 9.0f);  // the legacy stream does not wait for a non-blocking one
    CHECK(end_after(stream, [&] {
              cudaEventRecord(event, stream);
              cudaStreamWaitEvent(other, event, 0);
              fill_kernel<<<1, 1, 0, other>>>(buffers.a, 9.0f);
          }) == cudaErrorStreamCaptureUnjoined);
    cudaEventRecord(event, other);
    CHECK(end_after(stream, [&] { CHECK(cudaStreamWaitEvent(stream, event, 0) == cudaErrorStreamCaptureIsolation); }) ==
          cudaErrorStreamCaptureInvalidated);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaEventRecord(event, stream);
    cudaStreamWaitEvent(other, event, 0);
    CHECK(cudaStreamEndCapture(other, &graph) == cudaErrorStreamCaptureUnmatched);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaErrorIllegalState);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    CHECK(strcmp(cudaGetErrorName(cudaGetLastError()), "cudaErrorStreamCaptureInvalidated") == 0);
    cudaFree(memory);
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
    cudaStreamDestroy(blocking);
    cudaStreamDestroy(other);
}

void test_launches_by_call() {
    Buffers buffers;
    Scale by = {4.0f, 0.0f};
    int elements = count;
    void* arguments[] = {&buffers.a, &by, &elements};
    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = 128;
    CHECK(cudaLaunchKernelExC(&config, (void*)scale_kernel, arguments) == cudaSuccess);
    CHECK(cudaLaunchKernelExC(&config, (const void*)scale_kernel, arguments) == cudaSuccess);
    CHECK(cudaLaunchKernel((void*)scale_kernel, dim3(1), dim3(128), arguments, 0, nullptr) == cudaSuccess);
    CHECK(cudaLaunchKernelEx(&config, scale_kernel, buffers.a, by, elements) == cudaSuccess);
    CHECK_EQUAL(from_device(buffers.a), 256.0f);
}

void test_three_dimensions() {
    constexpr size_t width = 10, height = 4, depth = 3;
    cudaPitchedPtr device;
    const cudaExtent extent = make_cudaExtent(width * sizeof(int), height, depth);
    CHECK(cudaMalloc3D(&device, extent) == cudaSuccess);
    CHECK(cudaMemset3D(device, 0, extent) == cudaSuccess);
    std::vector<int> in(width * height * depth), out(in.size(), -1);
    for (size_t i = 0; i < in.size(); ++i) in[i] = int(i);
    cudaMemcpy3DParms params = {0};
    params.srcPtr = make_cudaPitchedPtr(in.data(), width * sizeof(int), width, height);
    params.dstPtr = device;
    params.srcPos = make_cudaPos(2 * sizeof(int), 1, 1);
    params.dstPos = make_cudaPos(2 * sizeof(int), 1, 1);
    params.extent = make_cudaExtent(3 * sizeof(int), 2, 2);
    params.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&params) == cudaSuccess);
    cudaMemcpy3DParms back = {0};
    back.srcPtr = device;
    back.dstPtr = make_cudaPitchedPtr(out.data(), width * sizeof(int), width, height);
    back.extent = extent;
    back.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3DAsync(&back, 0) == cudaSuccess);
    cudaDeviceSynchronize();
    for (size_t i = 0; i < out.size(); ++i) {
        const size_t x = i % width, y = i / width % height, z = i / (width * height);
        const bool copied = x >= 2 && x < 5 && y >= 1 && y < 3 && z >= 1;
        CHECK_EQUAL(out[i], copied ? int(i) : 0);
    }
    cudaFree(device.ptr);
}

int main(int argument_count, char** arguments) {
    use_arguments(argument_count, arguments);
    test_capture();
    test_capture_across_streams();
    test_nodes();
    test_cycle();
    test_updates();
    test_symbols_and_events();
    test_forbidden_calls();
    test_launches_by_call();
    test_three_dimensions();
    return wrong_checks != 0;
}
