// `warplab show`: calls the student's code as a lab's show.cpp requests, checks the results, and lets the lab make
// pictures of them.

#include "grader/judge/lab/show.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "grader/judge/check/diagnose.h"
#include "grader/judge/cli/verbs.h"
#include "grader/judge/cli/work.h"
#include "grader/judge/judge.h"
#include "grader/judge/machine.h"
#include "grader/judge/present/console.h"
#include "grader/judge/present/render.h"
#include "grader/model/cause.h"

namespace warplab {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t shown_guard_bytes = 64 << 10;

struct ShownCall {
    std::optional<Failure> failure = std::nullopt;
    bool ended = true;  // whether the call ended, so that the outputs are its results
    bool judge_fault = false;
    double call_s = 0;
};

/// Makes calls in one runner; keeps the buffers while the problems have the same shape.
class Caller {
  public:
    explicit Caller(StageRun& run) : run_(run) {}

    /// Make one call and store its results in the problem's outputs.
    ShownCall call(Problem& problem) {
        if (ShownCall opened = open(problem); opened.failure) return opened;
        const std::vector<Array> before = contents_before(problem);
        // On a GPU, the first call also loads the kernels: make one call to warm up and one to measure.
        ShownCall outcome = ask(problem, before);
        if (!outcome.failure && run_.backend == Backend::cuda && !warm_) outcome = ask(problem, before);
        warm_ = true;
        if (!outcome.ended) return outcome;
        std::vector<Array> actual;
        for (std::size_t i = 0; i < before.size(); ++i)
            actual.push_back(is_input(i) ? before[i] : buffers_->read(i, 0));
        if (!outcome.failure) outcome.failure = judge_outputs(problem, before, actual);
        problem.arrays = actual;
        return outcome;
    }

  private:
    bool is_input(std::size_t buffer) const { return run_.lab.buffers[buffer].role == Role::input; }

    bool fits(const Problem& problem) const {
        const auto same_count = [](const Array& a, const Array& b) { return a.count() == b.count(); };
        return buffers_ && shape_.sizes == problem.sizes && shape_.reals == problem.reals &&
               std::equal(shape_.arrays.begin(), shape_.arrays.end(), problem.arrays.begin(), problem.arrays.end(),
                          same_count);
    }

    ShownCall open(const Problem& problem) {
        if (fits(problem)) return {};
        const Prepared prepared = prepare(run_, problem);
        if (prepared.failure) return {.failure = prepared.failure, .ended = false, .judge_fault = prepared.judge_fault};
        buffers_.emplace(run_.device, run_.lab, problem, prepared.scratch_bytes, 1, shown_guard_bytes, Poison::draw(0));
        shape_ = problem;
        if (auto failure = open_buffers(run_, problem, *buffers_)) return {.failure = failure, .ended = false};
        return {};
    }

    std::vector<Array> contents_before(const Problem& problem) const {
        std::vector<Array> before;
        for (std::size_t i = 0; i < problem.arrays.size(); ++i) {
            const Array& array = problem.arrays[i];
            before.push_back(run_.lab.buffers[i].role == Role::output
                                 ? poisoned(array.type(), array.count(), buffers_->poison().output)
                                 : array);
        }
        return before;
    }

    ShownCall ask(const Problem& problem, const std::vector<Array>& before) {
        buffers_->poison_all();
        for (std::size_t i = 0; i < before.size(); ++i) buffers_->write(i, 0, before[i]);
        run_.device.synchronise();
        protocol::Request request = make_request(protocol::Ask::run, problem.sizes, problem.reals);
        request.calls = 1;
        request.timed = 1;
        request.host_bytes_limit = host_bytes_allowed(run_, problem);
        const Session::Reply reply = run_.runner_session().ask(request, {}, time_limit_s(run_, problem));
        if (reply.failure) return {.failure = reply.failure, .ended = false, .judge_fault = reply.judge_fault};
        ShownCall outcome;
        outcome.call_s = run_.backend == Backend::cuda ? reply.answer.event_s : reply.answer.wall_s;
        if (const auto violation = buffers_->find_guard_violation(0))
            outcome.failure = explain_guard_violation(run_.lab, *violation);
        return outcome;
    }

    std::optional<Failure> judge_outputs(const Problem& problem, const std::vector<Array>& before,
                                         const std::vector<Array>& actual) const {
        Problem right = problem;
        for (std::size_t i = 0; i < before.size(); ++i)
            if (!is_input(i)) right.arrays[i] = before[i].clone();
        run_.oracle.reference(right, Execution::openmp);
        for (std::size_t i = 0; i < before.size(); ++i) {
            if (is_input(i)) continue;
            const auto difference = compare(run_.oracle, right, i, right.arrays[i], actual[i]);
            if (!difference) continue;
            const Situation situation{right, before, actual, nullptr, buffers_->poison().beyond, run_.stage.id};
            return explain_difference(run_.lab, run_.oracle, situation, *difference, buffers_->poison().output,
                                      run_.searching_s);
        }
        return std::nullopt;
    }

    StageRun& run_;
    Problem shape_;
    std::optional<Buffers> buffers_;
    bool warm_ = false;
};

std::map<std::string, std::string> read_settings(const std::vector<std::string>& words) {
    std::map<std::string, std::string> settings;
    for (const std::string& word : words) {
        const auto equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            throw UsageError(
                fmt::format("\"{}\" is not a setting. Write settings as NAME=VALUE, separated by spaces.", word));
        settings[word.substr(0, equals)] = word.substr(equals + 1);
    }
    return settings;
}

struct ChosenStage {
    const Stage* stage;
    fs::path source;
    std::string tree;
    std::string note;  // why the requested stage is not shown
};

/// Return the requested stage or, by default, the last one that the student started; in other trees, the last stage. If
/// the student has not started the stage yet, return its reference solution; throw UsageError if there is none.
ChosenStage choose_stage(const Judge& judge, const Lab& lab, const Options& options) {
    const Stage* requested = options.stage.empty() ? nullptr : &lab.stage(options.stage);
    if (!options.source.empty()) return {requested, options.source, options.source.string(), ""};
    if (!options.tree.empty() && options.tree != "work") {
        const Stage* stage = requested ? requested : &lab.stages.back();
        return {stage, judge.source_of(lab, *stage, options.tree), options.tree, ""};
    }
    const auto started = started_stages(lab, judge.folders());
    if (!requested && !started.empty()) requested = started.back();
    if (requested && std::ranges::find(started, requested) != started.end())
        return {requested, judge.source_of(lab, *requested, "work"), "work", ""};
    const Stage* stage = requested ? requested : &lab.stages.back();
    const fs::path solution = judge.source_of(lab, *stage, "solutions");
    const std::string own_file = (options.folders.work / lab.name / (stage->id + ".cu")).string();
    if (!fs::exists(solution))
        throw UsageError(
            fmt::format("{} is not started yet, so there is nothing to show. Edit it first; `make check "
                        "LAB={} STAGE={}` says when it is right.",
                        own_file, lab.name, stage->id.substr(0, 2)));
    return {stage, solution, "solutions",
            fmt::format("{} is not started yet, so this shows the reference solution.", own_file)};
}

/// A folder for new pictures. They replace the earlier ones only when all of them are written.
class Pictures {
  public:
    Pictures(const Options& options, const Lab& lab)
        : folder_(options.folders.build / "show" / lab.name), fresh_(folder_.string() + ".new") {
        std::error_code error;
        fs::remove_all(fresh_, error);
        fs::create_directories(fresh_, error);
        if (error) throw UsageError(fmt::format("Cannot write to {}: {}.", fresh_.string(), error.message()));
    }
    ~Pictures() {
        std::error_code ignored;
        fs::remove_all(fresh_, ignored);
    }
    Pictures(const Pictures&) = delete;
    Pictures& operator=(const Pictures&) = delete;

    const fs::path& fresh() const { return fresh_; }

    /// Replace the earlier pictures and return their folder.
    const fs::path& keep() const {
        std::error_code error;
        fs::remove_all(folder_, error);
        fs::rename(fresh_, folder_, error);
        if (error) throw UsageError(fmt::format("Cannot write to {}: {}.", folder_.string(), error.message()));
        return folder_;
    }

  private:
    fs::path folder_, fresh_;
};

/// Print a failure as `check` does, and return the exit status.
int print_failure(const Stage& stage, const ShownCall& outcome) {
    StageReport report;
    report.stage = stage.id;
    report.verdict = outcome.judge_fault ? Verdict::error : Verdict::failed;
    report.error = outcome.failure;
    print(render_stage(report, text_style(STDOUT_FILENO)));
    return outcome.judge_fault ? 2 : 1;
}

int print_compilation(const Stage& stage, const Compilation& compilation) {
    StageReport report;
    report.stage = stage.id;
    report.verdict = compilation.verdict;
    report.compilation = compilation;
    print(render_stage(report, text_style(STDOUT_FILENO)));
    return compilation.verdict == Verdict::failed ? 1 : 2;
}

/// Make calls until the lab needs no more or a call does not end. Return the first failure. If a call ends with wrong
/// outputs, continue, because the pictures are still useful.
ShownCall make_calls(StageRun& run, Show& show, const Listener& listener) {
    Caller caller(run);
    ShownCall all;
    for (int number = 1; std::optional<Problem> problem = show.next_call(); ++number) {
        listener.doing(fmt::format("call {}", number));
        ShownCall outcome = caller.call(*problem);
        if (outcome.failure && !all.failure) all = outcome;
        if (!outcome.ended) return all;
        listener.doing("");
        print(show.take(*problem, outcome.call_s));
    }
    return all;
}

void list_pictures(const fs::path& folder) {
    std::vector<std::string> pictures;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".png") pictures.push_back(entry.path().string());
    std::ranges::sort(pictures);
    for (const std::string& picture : pictures) fmt::print("  {}\n", picture);
}

}  // namespace

int show(const Options& options) {
    Judge judge(options.folders, choose_backend(options.backend));
    const Lab& lab = judge.lab(options.lab);
    check_names(lab, options, judge.backend());
    const auto make_show = judge.show_maker(lab);
    if (!make_show) throw UsageError(fmt::format("This lab, {}, has no pictures to show.", lab.name));
    const Pictures pictures(options, lab);
    const ShowRequest request{options.image, read_settings(options.settings), pictures.fresh()};
    const std::unique_ptr<Show> lab_show = make_show(request);
    const ChosenStage choice = choose_stage(judge, lab, options);
    const TextStyle style = text_style(STDOUT_FILENO);
    if (!choice.note.empty()) print(wrap(choice.note, 0, style.width));
    print(render_heading(judge.begin_report("show", lab, {}, choice.tree), style));
    Console console;
    Listener listener;
    listener.doing = [&](const std::string& what) {
        what.empty() ? console.clear() : console.show(fmt::format("{}/{}: {} …", lab.name, choice.stage->id, what));
    };
    listener.doing("compiling");
    Judge::Ready ready = judge.make_ready(lab, *choice.stage, choice.source, {});
    console.clear();
    if (!ready.run) return print_compilation(*choice.stage, ready.compilation);
    const ShownCall outcome = make_calls(*ready.run, *lab_show, listener);
    console.clear();
    ready.run->end_session();
    if (outcome.ended) {
        print(lab_show->finish());
        list_pictures(pictures.keep());
    }
    if (outcome.failure) return print_failure(*choice.stage, outcome);
    fmt::print("{}: the outputs agree with the CPU's.\n", choice.stage->id);
    return 0;
}

}  // namespace warplab
