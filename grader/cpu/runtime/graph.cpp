// Implements graphs: nodes, copies and launches.

#include "grader/cpu/runtime/graph.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "grader/cpu/runtime/error.h"
#include "grader/cpu/runtime/observer.h"
#include "grader/cpu/runtime/timeline.h"

using warplab_cpu::Action;
using warplab_cpu::GraphRun;
using warplab_cpu::set_error;

struct CUgraphExec_st {
    GraphRun run;
    unsigned long long flags;

    /// Return the copy of a node of the original graph; null for other nodes.
    CUgraphNode_st* copy_of(const CUgraphNode_st* node) {
        const auto& copies = run.graph().copies;
        const auto iterator = copies.find(node);
        return iterator == copies.end() ? nullptr : iterator->second;
    }
};

CUgraphNode_st* CUgraph_st::add(cudaGraphNodeType type, Action action, std::vector<CUgraphNode_st*> dependencies,
                                const void* kernel) {
    auto node = std::make_unique<CUgraphNode_st>();
    node->graph = this;
    node->type = type;
    node->action = std::move(action);
    node->kernel = kernel;
    node->dependencies = std::move(dependencies);
    nodes.push_back(std::move(node));
    return nodes.back().get();
}

std::unique_ptr<CUgraph_st> CUgraph_st::copy() const {
    auto duplicate = std::make_unique<CUgraph_st>();
    for (const auto& node : nodes) {
        duplicate->copies[node.get()] = duplicate->add(node->type, node->action, {}, node->kernel);
        duplicate->nodes.back()->enabled = node->enabled;
    }
    for (const auto& node : nodes)
        for (const auto* dependency : node->dependencies)
            duplicate->copies[node.get()]->dependencies.push_back(duplicate->copies[dependency]);
    return duplicate;
}

std::vector<CUgraphNode_st*> CUgraph_st::order() const {
    std::vector<CUgraphNode_st*> ordered;
    std::set<const CUgraphNode_st*> done;
    const auto is_ready = [&](const auto& node) {
        return !done.count(node.get()) && std::ranges::all_of(node->dependencies, [&](const auto* dependency) {
            return done.count(dependency) != 0;
        });
    };
    for (std::size_t before = nodes.size() + 1; before != ordered.size();) {
        before = ordered.size();
        for (const auto& node : nodes) {
            if (!is_ready(node)) continue;
            ordered.push_back(node.get());
            done.insert(node.get());
        }
    }
    return ordered.size() == nodes.size() ? ordered : std::vector<CUgraphNode_st*>{};
}

bool CUgraph_st::has(const CUgraphNode_st* node) const {
    return std::ranges::any_of(nodes, [&](const auto& candidate) { return candidate.get() == node; });
}

std::vector<CUgraphNode_st*> CUgraph_st::dependents_of(const CUgraphNode_st* node) const {
    std::vector<CUgraphNode_st*> dependents;
    for (const auto& candidate : nodes)
        if (std::ranges::count(candidate->dependencies, node)) dependents.push_back(candidate.get());
    return dependents;
}

namespace warplab_cpu {
namespace {

/// Return the streams that stand for nodes in the timeline, except those in use by a graph. Streams are reused and
/// never freed, because the timeline may still refer to them.
std::vector<cudaStream_t>& idle_streams() {
    static auto& streams = *new std::vector<cudaStream_t>;
    return streams;
}

cudaStream_t take_stream() {
    cudaStream_t stream = nullptr;
    if (idle_streams().empty()) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    } else {
        stream = idle_streams().back();
        idle_streams().pop_back();
    }
    return stream;
}

}  // namespace

GraphRun::GraphRun(std::unique_ptr<CUgraph_st> graph) : graph_(std::move(graph)), order_(graph_->order()) {}

GraphRun::~GraphRun() { idle_streams().insert(idle_streams().end(), streams_.begin(), streams_.end()); }

cudaError_t GraphRun::run(CUgraphNode_st& node, cudaStream_t stream) {
    return node.enabled && node.action ? node.action(stream) : cudaSuccess;
}

cudaError_t GraphRun::run_observed(std::size_t place, cudaStream_t stream) {
    CUgraphNode_st& node = *order_[place];
    timeline.wait(stream, &before_);
    for (const auto* dependency : node.dependencies) timeline.wait(stream, dependency);
    const void* const outer = timeline.enter_graph(this);
    const cudaError_t error = run(node, stream);
    timeline.enter_graph(outer);
    timeline.record(&node, stream);
    return error;
}

cudaError_t GraphRun::launch(cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    if (!observer) {
        for (std::size_t place = 0; place < order_.size() && error == cudaSuccess; ++place)
            error = run(*order_[place], stream);
        return error;
    }
    while (streams_.size() < order_.size()) streams_.push_back(take_stream());
    timeline.wait(stream, &after_);  // only one launch of an executable graph runs at a time
    timeline.record(&before_, stream);
    for (std::size_t place = 0; place < order_.size() && error == cudaSuccess; ++place)
        error = run_observed(place, streams_[place]);
    for (const auto* node : order_) timeline.wait(stream, node);
    timeline.record(&after_, stream);
    return error;
}

namespace {

/// The work of a node, or the error in its parameters.
struct Work {
    cudaError_t error = cudaSuccess;
    Action action = {};
    const void* kernel = nullptr;
};

Work work_of(const cudaKernelNodeParams* params, int line) {
    if (!params) return {cudaErrorInvalidValue};
    if (!params->func) return {cudaErrorInvalidDeviceFunction};
    Work work;
    work.action = kernel_action(*params, line, work.error);
    work.kernel = identity_of(params->func.address());
    return work;
}

Work work_of(const cudaMemcpy3DParms* params, int line) {
    if (!params || params->srcArray || params->dstArray) return {cudaErrorInvalidValue};
    return {cudaSuccess, [copy = *params, line](cudaStream_t stream) { return copy_in_stream(copy, line, stream); }};
}

Work work_of(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, int line) {
    if (!to || !from) return {cudaErrorInvalidValue};
    return {cudaSuccess, [=](cudaStream_t stream) { return copy_in_stream(to, from, bytes, kind, line, stream); }};
}

Work work_of(const cudaMemsetParams* params, int line) {
    if (!params || (params->elementSize != 1 && params->elementSize != 2 && params->elementSize != 4))
        return {cudaErrorInvalidValue};
    return {cudaSuccess, [fill = *params, line](cudaStream_t stream) { return fill_in_stream(fill, line, stream); }};
}

Work work_of(const cudaHostNodeParams* params) {
    if (!params || !params->fn) return {cudaErrorInvalidValue};
    return {cudaSuccess, [call = *params](cudaStream_t stream) { return call_host_function(stream, call); }};
}

cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count,
                cudaGraphNodeType type, const Work& work) {
    if (work.error != cudaSuccess) return set_error(work.error);
    if (!node || !graph || (count && !dependencies)) return set_error(cudaErrorInvalidValue);
    std::vector<CUgraphNode_st*> known(dependencies, dependencies + count);
    for (const auto* dependency : known)
        if (!graph->has(dependency)) return set_error(cudaErrorInvalidValue);
    *node = graph->add(type, work.action, std::move(known), work.kernel);
    return cudaSuccess;
}

cudaError_t set(CUgraphNode_st* node, cudaGraphNodeType type, const Work& work) {
    if (!node || node->type != type) return set_error(cudaErrorInvalidValue);
    if (work.error != cudaSuccess) return set_error(work.error);
    node->action = work.action;
    node->kernel = work.kernel;
    return cudaSuccess;
}

cudaError_t set(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeType type, const Work& work) {
    return set(exec ? exec->copy_of(node) : nullptr, type, work);
}

template <class List>
cudaError_t list_nodes(const List& found, cudaGraphNode_t* nodes, size_t* count) {
    if (!count) return set_error(cudaErrorInvalidValue);
    if (nodes) std::copy_n(found.begin(), std::min(*count, found.size()), nodes);
    *count = found.size();
    return cudaSuccess;
}

cudaError_t update(CUgraph_st& to, cudaGraphExecUpdateResultInfo& info, const std::vector<CUgraphNode_st*>& order,
                   const std::vector<CUgraphNode_st*>& other) {
    const auto refuse = [&](cudaGraphExecUpdateResult error, CUgraphNode_st* node) {
        info = {error, node, nullptr};
        return set_error(cudaErrorGraphExecUpdateFailure);
    };
    if (order.size() != other.size()) return refuse(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
    std::map<const CUgraphNode_st*, CUgraphNode_st*> pairs;
    for (std::size_t i = 0; i < order.size(); ++i) {
        pairs[other[i]] = order[i];
        if (order[i]->type != other[i]->type) return refuse(cudaGraphExecUpdateErrorNodeTypeChanged, other[i]);
        if (order[i]->kernel != other[i]->kernel) return refuse(cudaGraphExecUpdateErrorFunctionChanged, other[i]);
        std::vector<CUgraphNode_st*> dependencies;
        for (const auto* dependency : other[i]->dependencies) dependencies.push_back(pairs[dependency]);
        if (dependencies != order[i]->dependencies) return refuse(cudaGraphExecUpdateErrorTopologyChanged, other[i]);
    }
    to.copies.clear();
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i]->action = other[i]->action;
        to.copies[other[i]] = order[i];
    }
    info = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
    return cudaSuccess;
}

}  // namespace
}  // namespace warplab_cpu

using namespace warplab_cpu;

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
    if (!graph || flags != 0) return set_error(cudaErrorInvalidValue);
    *graph = new CUgraph_st;
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    if (!graph) return set_error(cudaErrorInvalidValue);
    delete graph;
    return cudaSuccess;
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
    if (!clone || !graph) return set_error(cudaErrorInvalidValue);
    *clone = graph->copy().release();
    return cudaSuccess;
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
    const bool is_known = clone && clone->copies.count(original);
    return is_known ? store_result(node, clone->copies[original]) : set_error(cudaErrorInvalidValue);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                  size_t count) {
    return add(node, graph, dependencies, count, cudaGraphNodeTypeEmpty, {});
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaKernelNodeParams* params, Line line) {
    return add(node, graph, dependencies, count, cudaGraphNodeTypeKernel, work_of(params, line));
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaMemcpy3DParms* params, Line line) {
    return add(node, graph, dependencies, count, cudaGraphNodeTypeMemcpy, work_of(params, line));
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                     Line line) {
    return add(node, graph, dependencies, count, cudaGraphNodeTypeMemcpy, work_of(to, from, bytes, kind, line));
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaMemsetParams* params, Line line) {
    return add(node, graph, dependencies, count, cudaGraphNodeTypeMemset, work_of(params, line));
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                 size_t count, const cudaHostNodeParams* params) {
    return add(node, graph, dependencies, count, cudaGraphNodeTypeHost, work_of(params));
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                       size_t count, cudaGraph_t child) {
    if (!child) return set_error(cudaErrorInvalidValue);
    const auto run = std::make_shared<GraphRun>(child->copy());
    return add(node, graph, dependencies, count, cudaGraphNodeTypeGraph,
               {run->is_valid() ? cudaSuccess : cudaErrorInvalidValue,
                [run](cudaStream_t stream) { return run->launch(stream); }});
}
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                        size_t count, cudaEvent_t event) {
    return add(node, graph, dependencies, count, cudaGraphNodeTypeEventRecord,
               {event ? cudaSuccess : cudaErrorInvalidValue,
                [event](cudaStream_t stream) { return record_event(event, stream); }});
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                      size_t count, cudaEvent_t event) {
    return add(node, graph, dependencies, count, cudaGraphNodeTypeWaitEvent,
               {event ? cudaSuccess : cudaErrorInvalidValue,
                [event](cudaStream_t stream) { return wait_for_event(stream, event); }});
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    if (!node) return set_error(cudaErrorInvalidValue);
    CUgraph_st& graph = *node->graph;
    for (const auto& other : graph.nodes)
        other->dependencies.erase(std::remove(other->dependencies.begin(), other->dependencies.end(), node),
                                  other->dependencies.end());
    graph.nodes.erase(std::ranges::find_if(graph.nodes, [&](const auto& other) { return other.get() == node; }));
    return cudaSuccess;
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const bool is_known = graph && from && to && graph->has(from[i]) && graph->has(to[i]);
        if (!is_known || from[i] == to[i]) return set_error(cudaErrorInvalidValue);
        auto& dependencies = to[i]->dependencies;
        if (std::ranges::count(dependencies, from[i])) return set_error(cudaErrorInvalidValue);
        dependencies.push_back(from[i]);
    }
    return cudaSuccess;
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const bool is_known = graph && from && to && graph->has(from[i]) && graph->has(to[i]);
        if (!is_known) return set_error(cudaErrorInvalidValue);
        auto& dependencies = to[i]->dependencies;
        const auto iterator = std::ranges::find(dependencies, from[i]);
        if (iterator == dependencies.end()) return set_error(cudaErrorInvalidValue);
        dependencies.erase(iterator);
    }
    return cudaSuccess;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
    return node ? store_result(type, node->type) : set_error(cudaErrorInvalidValue);
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    if (!graph) return set_error(cudaErrorInvalidValue);
    std::vector<cudaGraphNode_t> nodes_found;
    for (const auto& node : graph->nodes) nodes_found.push_back(node.get());
    return list_nodes(nodes_found, nodes, count);
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    if (!graph) return set_error(cudaErrorInvalidValue);
    std::vector<cudaGraphNode_t> found;
    for (const auto& node : graph->nodes)
        if (node->dependencies.empty()) found.push_back(node.get());
    return list_nodes(found, nodes, count);
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
    if (!graph || !count || !from != !to) return set_error(cudaErrorInvalidValue);
    size_t all = 0;
    for (const auto& node : graph->nodes) {
        for (auto* dependency : node->dependencies) {
            if (from && all < *count) from[all] = dependency;
            if (to && all < *count) to[all] = node.get();
            ++all;
        }
    }
    *count = all;
    return cudaSuccess;
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies, size_t* count) {
    return node ? list_nodes(node->dependencies, dependencies, count) : set_error(cudaErrorInvalidValue);
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents, size_t* count) {
    return node ? list_nodes(node->graph->dependents_of(node), dependents, count) : set_error(cudaErrorInvalidValue);
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* params, Line line) {
    return set(node, cudaGraphNodeTypeKernel, work_of(params, line));
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* params, Line line) {
    return set(node, cudaGraphNodeTypeMemcpy, work_of(params, line));
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes,
                                           cudaMemcpyKind kind, Line line) {
    return set(node, cudaGraphNodeTypeMemcpy, work_of(to, from, bytes, kind, line));
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* params, Line line) {
    return set(node, cudaGraphNodeTypeMemset, work_of(params, line));
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* params) {
    return set(node, cudaGraphNodeTypeHost, work_of(params));
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params, Line line) {
    return set(exec, node, cudaGraphNodeTypeKernel, work_of(params, line));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* params, Line line) {
    return set(exec, node, cudaGraphNodeTypeMemcpy, work_of(params, line));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const void* from,
                                               size_t bytes, cudaMemcpyKind kind, Line line) {
    return set(exec, node, cudaGraphNodeTypeMemcpy, work_of(to, from, bytes, kind, line));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemsetParams* params,
                                             Line line) {
    return set(exec, node, cudaGraphNodeTypeMemset, work_of(params, line));
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* params) {
    return set(exec, node, cudaGraphNodeTypeHost, work_of(params));
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
    if (!exec || !graph) return set_error(cudaErrorInvalidValue);
    auto* const exec_graph = new CUgraphExec_st{GraphRun(graph->copy()), flags};
    if (!exec_graph->run.is_valid()) {
        delete exec_graph;
        return set_error(cudaErrorInvalidValue);
    }
    *exec = exec_graph;
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* params) {
    if (!params) return set_error(cudaErrorInvalidValue);
    const cudaError_t error = cudaGraphInstantiate(exec, graph, params->flags);
    params->errNode_out = nullptr;
    params->result_out = error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
    return error;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t) {
    return exec ? cudaSuccess : set_error(cudaErrorInvalidValue);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    if (!exec) return set_error(cudaErrorInvalidValue);
    if (running_captures) {
        const auto child = std::make_shared<GraphRun>(exec->run.graph().copy());
        const auto launch = [child](cudaStream_t where) { return child->launch(where); };
        if (const auto result = capture_work(stream, cudaGraphNodeTypeGraph, launch)) return *result;
    }
    return exec->run.launch(stream);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    if (!exec) return set_error(cudaErrorInvalidValue);
    delete exec;
    return cudaSuccess;
}
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
    return exec ? store_result(flags, exec->flags) : set_error(cudaErrorInvalidValue);
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
    if (!exec || !graph || !info) return set_error(cudaErrorInvalidValue);
    return update(exec->run.graph(), *info, exec->run.order(), graph->order());
}
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
    CUgraphNode_st* const copy = exec ? exec->copy_of(node) : nullptr;
    const bool can_be_disabled =
        copy && (copy->type == cudaGraphNodeTypeKernel || copy->type == cudaGraphNodeTypeMemcpy ||
                 copy->type == cudaGraphNodeTypeMemset);
    if (!can_be_disabled) return set_error(cudaErrorInvalidValue);
    copy->enabled = enabled != 0;
    return cudaSuccess;
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
    const CUgraphNode_st* const copy = exec ? exec->copy_of(node) : nullptr;
    return copy ? store_result(enabled, copy->enabled) : set_error(cudaErrorInvalidValue);
}
