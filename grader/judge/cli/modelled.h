#pragma once
// Modelled times of stages, for a machine without a GPU.

#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "generated/inspection.h"
#include "grader/judge/judge.h"
#include "grader/judge/options.h"
#include "grader/judge/predict/predict.h"

namespace warplab {

/// Return the GPU whose time is modelled. Throws UsageError if the model does not know the requested GPU.
predict::Machine modelled_gpu(const Options& options);

/// A stage's modelled time, and the data that it was computed from.
struct Modelled {
    ModelledTime time = {};
    predict::Prediction prediction = {};
    predict::Recording recording = {};
};

/// The modelled seconds of the solutions of a stage and of the previous stage; 0 if unknown.
struct SolutionTimes {
    double reference_s = 0, previous_s = 0;
};

/// Models the stages of a lab on one GPU, together with their reference solutions.
class Modeller {
  public:
    Modeller(Judge& judge, const Lab& lab, const Options& options, SandboxLevel sandbox);

    /// Add the modelled time to a stage's report, and score the stage with it.
    void add_score(StageReport& report);
    /// Add the modelled time to the report of a stage that passed, with the CPU baseline. print() describes it.
    void add_time(StageReport& report);
    /// Print the times that add_time() added.
    void print() const;
    /// Return the shares of the warps' time by line.
    ModelledLines lines(const Stage& stage, const Source& source);

  private:
    std::optional<Modelled> model(const StageReport& report);
    const Problem& problem(const Dataset& dataset);
    predict::Recording record(const Stage& stage, const Source& source, const Dataset& dataset);
    void compare(const Stage& stage, const Dataset& dataset, ModelledTime& time);
    double solution_s(const Stage& stage, const Dataset& dataset);
    SolutionTimes solution_times(const Stage& stage, const Dataset& dataset);

    Judge& judge_;
    const Lab& lab_;
    const Options& options_;
    SandboxLevel sandbox_;
    predict::Machine machine_;
    std::map<std::pair<std::string, std::string>, double> solutions_s_;  // by stage and dataset
    std::optional<std::pair<std::string, Problem>> problem_;  // of the last dataset: generating it may take long
    std::vector<std::pair<std::string, std::string>> texts_;  // by stage, for print()
};

}  // namespace warplab
