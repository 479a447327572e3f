#pragma once
// The results of grading. report.json contains them, schema 1 (report.schema.json); every other output renders it and
// recomputes nothing.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/common/json.h"

namespace warplab {

/// error = the judge's side failed or cannot decide; it never costs points.
enum class Verdict { passed, failed, error };

/// The first wrong place of an output.
struct Place {
    std::string buffer;
    std::uint64_t index = 0;
    std::string expected, actual;  // as text: NaN and -0 survive JSON
};

/// Why something did not pass. `cause` is a snake_case id (the generic ones are in cause.h; an oracle adds its own).
struct Failure {
    std::string cause;
    std::string message;  // what happened and where, one or two sentences
    std::string hint;     // what to try; may be empty
    std::optional<Place> place;
    bool hangs = false;  // a deadlock that takes a second or more to prove; not part of the report
};

struct Check {
    std::string dataset;
    bool hidden = false;
    double points = 0;
    Verdict verdict = Verdict::error;
    bool skipped = false;  // cuda-only on the CPU backend, or does not fit in memory; counts for nothing
    std::string skipped_why;
    std::optional<Failure> failure;
    double wall_s = 0;
    bool empty = false;           // no input or no output elements: right without any work
    std::string blocked_by = {};  // the dataset whose failure is counted for this one, which did not run
};

struct Interval {
    double median = 0, low = 0, high = 0;
};

struct SampleConditions {
    std::optional<int> sm_clock_mhz, temperature_c;
    std::string throttle;                                   // empty = none
    std::optional<double> copy_bytes_per_s = std::nullopt;  // of the calibration copy after this round
};

/// One dataset timed. All times are seconds for `iterations` iterations, GPU only, as the journals print them.
struct Measurement {
    std::string dataset;
    int iterations = 1000;
    int calls_per_sample = 1000;  // below what `iterations` needs when the sample was cut; times are scaled up
    bool cut = false;
    std::vector<double> samples_s;
    std::vector<double> reference_samples_s;  // each taken beside the sample of its place; empty without a reference
    std::vector<int> samples_of_rounds;       // how many each round of fresh processes took
    std::vector<SampleConditions> conditions;
    double median_s = 0;
    std::optional<double> reference_s;        // this stage's reference solution, timed alongside
    std::optional<Interval> reference_ratio;  // student / reference, paired
    bool ambiguous = false;                   // the interval stayed wider than 1%
    bool scored = true;                       // counts for the points
    double sequential_s = 0, openmp_s = 0;    // CPU baselines
    int openmp_threads = 1;
    double transfer_s = 0;  // inputs in and outputs out, once each, times iterations
    double floor_s = 0;     // nothing that does the work can be faster
    double bound_s = 0;     // what a straightforward kernel must move, at the measured bandwidth
    double floor_bytes = 0, bound_bytes = 0, flops = 0;  // per call
    double bandwidth_bytes_per_s = 0;                    // of this device, while the samples were taken
    std::string limit;                                   // one phrase: what limits it
    std::vector<std::string> caveats;                    // cut, ambiguous, tree without solutions …
};

/// How many times faster than a CPU baseline; 0 where either time is missing.
double speedup(double baseline_s, const Measurement& measured);
/// bound_s over the time it took; 0 without a time.
double bound_fraction(const Measurement& measured);

struct Score {
    double correctness = 0, hygiene = 0, speed = 0;
    double correctness_max = 0, hygiene_max = 0, speed_max = 0;
    bool correctness_pending = false, hygiene_pending = false, speed_pending = false;
    std::string correctness_why;         // why pending, or 0 although datasets passed
    std::string hygiene_why, speed_why;  // why pending or lost, or given unseen
    double total() const { return correctness + hygiene + speed; }
    double max() const { return correctness_max + hygiene_max + speed_max; }
    /// The part of max() that is not decided yet.
    double pending() const;
};

/// Whether nvcc compiles the file for a GPU.
struct NvccAnswer {
    enum class Kind { not_asked, compiles, refuses, not_found, no_answer };
    Kind kind = Kind::not_asked;
    std::string log;  // refuses: nvcc's messages; no_answer: the reason, which is not known to be the file's
};

/// Compiling, before any dataset runs.
struct Compilation {
    Verdict verdict = Verdict::error;
    std::optional<Failure> failure;
    std::string log;  // the compiler's own words about the student's file
    double wall_s = 0;
    bool cached = false;
    NvccAnswer nvcc;
};

/// Check mode's observation at one line, in words; however often it occurred.
struct Discovery {
    std::string cause;  // "race"
    std::string message, hint;
    bool is_note = false;  // worth knowing; costs nothing
    int line = 0;          // of the student's file; 0 = unknown
    int other_line = 0;    // what it races with, or where others wait; 0 = there is none
    std::uint64_t count = 0;
    std::string kernel = {};
    std::string text = {}, other_text = {};  // of the two lines

    /// Whether it may explain a wrong answer, and says nothing beside a right one.
    bool matters_if_wrong() const { return cause == "absent_lane" || cause == "unset_constant"; }
};

/// Small datasets run once more on the CPU backend with every access watched, whatever backend judged the outputs.
struct CheckMode {
    /// failed: at least one finding is not a note. error: our side broke. unconfirmed: it found nothing, but the
    /// program's account of the run is inconsistent, or it could not run the program to its end.
    enum class Verdict { passed, failed, error, unconfirmed };
    Verdict verdict = Verdict::error;
    std::string remark;  // why it is an error or unconfirmed, or why it passed without having run
    int datasets = 0;    // that ran
    double wall_s = 0;   // the wait for its compilation included
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
    std::optional<CheckMode> check_mode;  // none: left out
    std::vector<Measurement> measurements;
    std::optional<Failure> error;  // our side, or a benchmark that cannot be trusted
    std::optional<Score> score;    // null when our side broke
    std::string output;            // the student's own printf, capped
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
    std::string sandbox_remark;  // why no stronger one, and what is weaker without control groups; or empty
    std::string tree;            // work, solutions, … or a path
    std::string time;            // ISO 8601, UTC
    std::string warplab;         // version and git revision
    Machine machine;
    std::vector<StageReport> stages;
};

/// Points over all stages that have a score. `pending` is the part of `max` that nobody could decide yet.
struct Total {
    double points = 0, max = 0, pending = 0;
    int without_score = 0;  // stages
};
Total total(const Report& report);

/// Whether the file did not compile or a dataset's outputs are wrong.
bool outputs_failed(const StageReport& stage);
/// Whether nvcc compiled the file as well, and refused it.
bool refused_by_nvcc(const Compilation& compilation);
/// Whether the file uses a feature that the CPU backend refuses and a GPU may support.
bool needs_gpu(const Compilation& compilation);
/// Return the finding that makes check mode fail the stage; null if there is none.
const Discovery* first_finding(const StageReport& stage);

/// For the journals' sake what follows from the measurements is written too (speedups, totals); reading skips it.
/// Bytes that are not UTF-8 (a compiler quoting a Latin-1 file) become U+FFFD.
Json to_json(const Report& report);
/// Throws std::runtime_error with the place of what it cannot read. Keys that it does not know are skipped.
Report report_from_json(const Json& json);

/// report.json as it is written, and read back. Reading throws as report_from_json does, and for text that is not JSON.
std::string format_report(const Report& report);
Report parse_report(std::string_view text);

std::string_view verdict_name(Verdict verdict);
std::string_view verdict_name(CheckMode::Verdict verdict);
/// failed if anything failed, else error if anything is an error or nothing ran, else passed.
Verdict overall(const Report& report);

}  // namespace warplab
