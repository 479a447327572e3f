#pragma once
// The nodes of graphs, their order, and launches.

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "grader/cpu/runtime/capture.h"

struct CUgraphNode_st {
    CUgraph_st* graph = nullptr;
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    warplab_cpu::Action action;
    const void* kernel = nullptr;
    std::vector<CUgraphNode_st*> dependencies;
    bool enabled = true;
};

struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
    std::map<const CUgraphNode_st*, CUgraphNode_st*> copies;  // keys: nodes of the original graph

    CUgraphNode_st* add(cudaGraphNodeType type, warplab_cpu::Action action,
                        std::vector<CUgraphNode_st*> dependencies = {}, const void* kernel = nullptr);
    std::unique_ptr<CUgraph_st> copy() const;
    /// Return the nodes, each after those on which it depends; empty if the dependencies form a cycle.
    std::vector<CUgraphNode_st*> order() const;
    bool has(const CUgraphNode_st* node) const;
    std::vector<CUgraphNode_st*> dependents_of(const CUgraphNode_st* node) const;
};

namespace warplab_cpu {

/// Executes a graph. In the sanitizer's timeline, each node has its own stream, which waits for the streams of the
/// nodes on which it depends.
class GraphRun {
  public:
    explicit GraphRun(std::unique_ptr<CUgraph_st> graph);
    ~GraphRun();
    GraphRun(const GraphRun&) = delete;
    GraphRun& operator=(const GraphRun&) = delete;

    CUgraph_st& graph() { return *graph_; }
    bool is_valid() const { return order_.size() == graph_->nodes.size(); }
    const std::vector<CUgraphNode_st*>& order() const { return order_; }
    /// Run all nodes. If a node fails, return its error and skip the nodes after it.
    cudaError_t launch(cudaStream_t stream);

  private:
    cudaError_t run(CUgraphNode_st& node, cudaStream_t stream);
    cudaError_t run_observed(std::size_t place, cudaStream_t stream);

    std::unique_ptr<CUgraph_st> graph_;
    std::vector<CUgraphNode_st*> order_;
    std::vector<cudaStream_t> streams_;  // by place in the order; filled when the sanitizer needs them
    char before_ = 0, after_ = 0;        // their addresses identify events
};

}  // namespace warplab_cpu
