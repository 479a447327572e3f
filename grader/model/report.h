#pragma once
// The results of grading. report.json contains them, schema 1 (report.schema.json). Every other output renders them and
// recomputes nothing.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/common/json.h"

namespace warplab {

/// error: the judge failed or cannot decide. It never costs points.
enum class Verdict { passed, failed, error };

/// The first wrong element of an output.
struct Place {
    std::string buffer;
    std::uint64_t index = 0;
    std::string expected, actual;  // as text, so that JSON preserves NaN and -0
};

/// The reason why something did not pass. `cause` is a snake_case id (cause.h has the generic ones; an oracle adds its
/// own).
struct Failure {
    std::string cause;
    std::string message;  // what happened and where, one or two sentences
    std::string hint;     // what to try; may be empty
    std::optional<Place> place;
    bool hangs = false;  // a deadlock whose proof takes a second or more; not part of the report
};

struct Check {
    std::string dataset;
    bool hidden = false;
    double points = 0;
    Verdict verdict = Verdict::error;
    bool skipped = false;  // cuda-only on the CPU backend, or too large for memory; not counted
    std::string skipped_why;
    std::optional<Failure> failure;
    double wall_s = 0;
    bool empty = false;           // no input or no output elements: correct without any work
    std::string blocked_by = {};  // the dataset whose failure counts for this one, which did not run
};

struct Interval {
    double median = 0, low = 0, high = 0;
};

struct SampleConditions {
    std::optional<int> sm_clock_mhz, temperature_c;
    std::string throttle;                                   // empty if there is none
    std::optional<double> copy_bytes_per_s = std::nullopt;  // of the calibration copy after this round
};

/// The times of one dataset. All times are seconds for `iterations` iterations on the GPU only, as the journals print
/// them.
struct Measurement {
    std::string dataset;
    int iterations = 1000;
    int calls_per_sample = 1000;  // fewer than `iterations` needs if the sample was cut; times are scaled up
    bool cut = false;
    std::vector<double> samples_s;
    std::vector<double> reference_samples_s;  // each taken alternately with its sample; empty without a reference
    std::vector<int> samples_of_rounds;       // the number in each round of new processes
    std::vector<SampleConditions> conditions;
    double median_s = 0;
    std::optional<double> reference_s;        // this stage's reference solution, timed alongside
    std::optional<Interval> reference_ratio;  // student / reference, paired
    bool ambiguous = false;                   // the interval remained wider than 1%
    bool scored = true;                       // counts towards the points
    double sequential_s = 0, openmp_s = 0;    // CPU baselines
    int openmp_threads = 1;
    double transfer_s = 0;  // copies of inputs and outputs, once each, times iterations
    double floor_s = 0;     // lower limit for any code that does the work
    double bound_s = 0;     // time for the bytes that a simple kernel must move, at the measured bandwidth
    double floor_bytes = 0, bound_bytes = 0, flops = 0;  // per call
    double bandwidth_bytes_per_s = 0;                    // of this device, while the samples were taken
    std::string limit;                                   // a phrase: what limits the speed
    std::vector<std::string> caveats;                    // cut, ambiguous, tree without solutions …
};

/// Return how many times faster than a CPU baseline it is; 0 if either time is missing.
double speedup(double baseline_s, const Measurement& measured);
/// Return bound_s divided by the measured time; 0 without a time.
double bound_fraction(const Measurement& measured);

struct Score {
    double correctness = 0, hygiene = 0, speed = 0;
    double correctness_max = 0, hygiene_max = 0, speed_max = 0;
    bool correctness_pending = false, hygiene_pending = false, speed_pending = false;
    std::string correctness_why;         // why it is pending, or 0 although datasets passed
    std::string hygiene_why, speed_why;  // why they are pending or lost, or given without an inspection
    double total() const { return correctness + hygiene + speed; }
    double max() const { return correctness_max + hygiene_max + speed_max; }
    /// Return the part of max() that is not decided yet.
    double pending() const;
};

/// nvcc's answer to whether the file compiles for a GPU.
struct NvccAnswer {
    enum class Kind { not_asked, compiles, refuses, not_found, no_answer };
    Kind kind = Kind::not_asked;
    std::string log;  // refuses: nvcc's messages; no_answer: the reason, which may not be the file's fault
};

/// The compilation, before any dataset runs.
struct Compilation {
    Verdict verdict = Verdict::error;
    std::optional<Failure> failure;
    std::string log;  // the compiler's messages about the student's file
    double wall_s = 0;
    bool cached = false;
    NvccAnswer nvcc;
};

/// A finding of the sanitizer at one line, in words, however often it occurred.
struct Discovery {
    std::string cause;  // "race"
    std::string message, hint;
    bool is_note = false;  // informative; costs no points
    int line = 0;          // of the student's file; 0 = unknown
    int other_line = 0;    // the line with which it races, or where others wait; 0 = none
    std::uint64_t count = 0;
    std::string kernel = {};
    std::string text = {}, other_text = {};  // of the two lines

    /// Return whether it may explain a wrong answer, but is irrelevant if the answer is right.
    bool matters_if_wrong() const { return cause == "absent_lane" || cause == "unset_constant"; }
};

/// The result of the sanitizer: small datasets run once more on the CPU backend with every access inspected, whichever
/// backend judged the outputs.
struct CheckMode {
    /// failed: at least one finding is not a note. error: the judge failed. unconfirmed: there are no findings, but the
    /// program's account of the run is inconsistent, or the program did not run to its end.
    enum class Verdict { passed, failed, error, unconfirmed };
    Verdict verdict = Verdict::error;
    std::string remark;  // why it is an error or unconfirmed, or why it passed without a run
    int datasets = 0;    // the number of datasets that ran
    double wall_s = 0;   // includes the wait for its compilation
    std::vector<Discovery> findings;
};

struct StageReport {
    std::string stage;
    std::string title;
    std::string source;       // path as typed
    std::string source_hash;  // sha256
    Verdict verdict = Verdict::error;
    Compilation compilation;
    std::vector<Check> checks;
    std::optional<CheckMode> check_mode;  // empty if it was omitted
    std::vector<Measurement> measurements;
    std::optional<Failure> error;  // an error of the judge, or a benchmark that cannot be trusted
    std::optional<Score> score;    // empty if the judge failed
    std::string output;            // output of the student's own printf, limited in size
    std::vector<std::string> notes;
};

struct Machine {
    std::string host, cpu, gpu, driver, cuda, compiler, os;
    int cpu_cores = 0;
    Json to_json() const;
};

struct Report {
    int schema = 1;
    std::string verb;  // check, bench, grade
    std::string lab;
    std::string backend;         // cuda or cpu
    std::string sandbox;         // namespace, uid, none
    std::string sandbox_remark;  // why it is not stronger, and what is weaker without control groups; or empty
    std::string tree;            // work, solutions, … or a path
    std::string time;            // ISO 8601, UTC
    std::string warplab;         // version and git revision
    Machine machine;
    std::vector<StageReport> stages;
};

/// Points over all stages that have a score. `pending` is the part of `max` that is not decided yet.
struct Total {
    double points = 0, max = 0, pending = 0;
    int without_score = 0;  // stages
};
Total total(const Report& report);

/// Return whether the file did not compile or a dataset's outputs are wrong.
bool outputs_failed(const StageReport& stage);
/// Return whether nvcc also compiled the file, and refused it.
bool refused_by_nvcc(const Compilation& compilation);
/// Return whether the file uses a feature that the CPU backend refuses and a GPU may support.
bool needs_gpu(const Compilation& compilation);
/// Return the finding because of which the sanitizer fails the stage; null if there is none.
const Discovery* first_finding(const StageReport& stage);

/// Write the report. Values that follow from the measurements (speedups, totals) are written for the journals; reading
/// skips them. Bytes that are not UTF-8 (a compiler that quotes a Latin-1 file) become U+FFFD.
Json to_json(const Report& report);
/// Read a report and skip unknown keys. Throws std::runtime_error with the place of an invalid value.
Report report_from_json(const Json& json);

/// Write and read the text of report.json. Reading throws like report_from_json, and for text that is not JSON.
std::string format_report(const Report& report);
Report parse_report(std::string_view text);

std::string_view verdict_name(Verdict verdict);
std::string_view verdict_name(CheckMode::Verdict verdict);
/// Return error if a dataset could not be judged, because the stage then has no score; otherwise failed if one failed.
/// Skipped datasets do not count.
Verdict verdict_of(const std::vector<Check>& checks);
/// Return failed if anything failed; otherwise error if anything is an error or nothing ran; otherwise passed.
Verdict overall(const Report& report);

}  // namespace warplab
