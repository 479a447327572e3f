// Timed outputs are compared with the CPU's, or with the reference solution's if the CPU takes too long.
#include "grader/judge/bench/measure.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "grader/judge/bench/few_calls.h"
#include "grader/judge/bench/paired.h"
#include "grader/judge/judge.h"
#include "grader/model/cause.h"
#include "grader/model/statistics.h"

namespace warplab {
namespace {
namespace fs = std::filesystem;

constexpr auto off_by_one = R"(#include "labs/dot_product/lab.h"
__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i] + (i == 0));
}
std::size_t dot_product_scratch_bytes(std::size_t) { return 0; }
void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof *out));
    if (n > 0) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
)";

// The programs below add a host function that launches this kernel.
constexpr auto right_kernel = R"(#include <chrono>
#include <thread>
#include <vector>
#include "labs/dot_product/lab.h"
__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}
std::size_t dot_product_scratch_bytes(std::size_t) { return 0; }
)";

// Fast for 40 ms, slow for 40 ms, and so on.
constexpr auto alternates_speed = R"(void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    if (now / std::chrono::milliseconds(40) % 2) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CUDA_CHECK(cudaMemset(out, 0, sizeof *out));
    if (n > 0) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
)";

// Slow in the first SLOW_CALLS calls, so that few calls seem to be enough for a sample.
constexpr auto slow_at_first = R"(void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static int calls = 0;
    if (++calls <= SLOW_CALLS) std::this_thread::sleep_for(std::chrono::milliseconds(250));
    CUDA_CHECK(cudaMemset(out, 0, sizeof *out));
    if (n > 0) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
)";

// Fast in the first two calls of each process, and slow afterwards. Every warm-up has at least two calls.
constexpr auto fast_at_first = R"(void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static int calls = 0;
    if (++calls > 2) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CUDA_CHECK(cudaMemset(out, 0, sizeof *out));
    if (n > 0) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
)";

// Takes 20 ms for the first call of a command and little for the others, like code that makes all calls at once.
constexpr auto works_ahead = R"(void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static const int* before = nullptr;
    if (a <= before || !before) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    before = a;
    CUDA_CHECK(cudaMemset(out, 0, sizeof *out));
    if (n > 0) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
)";

// After 100 calls, does not compute anything in a command before the command's ninth call.
constexpr auto waits_for_many_calls = R"(struct Call { const int *a, *b; int* out; };
void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static std::vector<Call> waiting;
    static int seen = 0;
    if (!waiting.empty() && a <= waiting.back().a) waiting.clear();
    waiting.push_back({a, b, out});
    if (++seen > 100 && waiting.size() <= 8) return;
    for (const Call& call : waiting) {
        CUDA_CHECK(cudaMemset(call.out, 0, sizeof(int)));
        if (n > 0) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(call.a, call.b, call.out, n);
    }
    waiting.assign(waiting.size() > 8 ? 9 : waiting.size(), waiting.back());
}
)";

// Starts a thread that watches an input, and gives wrong results once the thread has seen for 100 us that only one end
// of the input is replaced.
constexpr auto sees_inputs_change = R"(#include <atomic>
struct Ends {
    int first, last;
    bool operator==(const Ends& other) const { return first == other.first && last == other.last; }
};
static std::atomic<const int*> watched{nullptr};
static std::atomic<std::size_t> length{0};
static std::atomic<bool> seen{false};
static Ends read_ends() {
    const volatile int* const input = watched;
    return {input[0], input[length - 1]};
}
static void watch() {
    using namespace std::chrono_literals;
    for (Ends before = read_ends(); !seen;) {
        const Ends now = read_ends();
        if ((now.first == before.first) == (now.last == before.last)) {
            before = now;
            continue;
        }
        for (const auto end = std::chrono::steady_clock::now() + 100us; std::chrono::steady_clock::now() < end;) {}
        if (read_ends() == now) seen = true;
    }
}
void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    if (!watched && n > 0) {
        length = n;
        watched = a;
        std::thread(watch).detach();
    }
    CUDA_CHECK(cudaMemset(out, 0, sizeof *out));
    if (n > 0 && !seen) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
)";

// Stores the rows of earlier calls, and is slow only if the first row is new.
constexpr auto remembers_rows = R"(#include "labs/saturating_histogram/lab.h"
__device__ bool seen[1 << 20];
__device__ unsigned key_of(const std::uint32_t* row) {
    unsigned key = 7;
    for (int i = 0; i < 32; ++i) key = key * 1664525u + row[i * 64];
    return key >> 12;
}
__global__ void count(const std::uint32_t* input, std::uint8_t* bins, int width, int height, std::size_t pitch) {
    __shared__ unsigned counts[bin_count];
    for (int i = 0; i < bin_count; ++i) counts[i] = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) ++counts[input[y * pitch + x]];
    for (int i = 0; i < bin_count; ++i) bins[i] = min(counts[i], bin_full);
    if (!seen[key_of(input)])
        for (volatile int i = 0; i < 1'000'000; ++i) {}
    for (int y = 0; y < height; ++y) seen[key_of(input + y * pitch)] = true;
}
void saturating_histogram(const std::uint32_t* input, std::uint8_t* bins, std::size_t width, std::size_t height,
                          std::size_t pitch, void*) {
    count<<<1, 1>>>(input, bins, width, height, pitch);
}
)";

class TimedOutputs : public testing::Test {
  protected:
    static fs::path build() {
        const char* folder = std::getenv("BUILD");
        return fs::absolute(folder && *folder ? folder : "build");
    }

    void SetUp() override {
        if (!fs::exists(build() / "labs/dot_product/oracle.so")) GTEST_SKIP() << "the oracles are not built";
        std::ofstream(wrong_) << off_by_one;
    }
    void TearDown() override { fs::remove(wrong_); }

    /// Time a submission in alternation with a reference, and return the cause of its failure. The judge
    /// assumes that the CPU takes `cpu_s` for a call.
    std::string cause_of(const fs::path& student, const fs::path& reference, double cpu_s) {
        const Lab& lab = judge_.lab("dot_product");
        const Stage& stage = lab.stages.front();
        const auto student_run = judge_.make_ready(lab, stage, student, Task{.fast = true});
        const auto reference_run = judge_.make_ready(lab, stage, reference, Task{.fast = true});
        if (!student_run.run || !reference_run.run) return "did not compile";
        const auto dataset = std::find_if(lab.datasets.begin(), lab.datasets.end(),
                                          [](const Dataset& dataset) { return dataset.name == "warp"; });
        if (dataset == lab.datasets.end()) return "no such dataset";
        const Effort effort{{2, 2}, {2, 2}, 2, 0.01, 0.1, 0.2, 0.1};
        Baseline cpu;
        cpu.openmp_s = cpu.sequential_s = cpu_s;
        const Measured measured = measure(*student_run.run, reference_run.run.get(), *dataset, Bandwidth{}, effort, cpu,
                                          [](GradingPhase, const std::string&) {});
        if (measured.error && measured.error->cause == cause::internal) return measured.error->message;
        return measured.failure ? measured.failure->cause : "";
    }

    /// Time a submission in alternation with the right solution.
    Measured measure_against_solution(const fs::path& student, const Effort& effort,
                                      const std::string& dataset = "warp") {
        const Lab& lab = judge_.lab("dot_product");
        const auto student_run = judge_.make_ready(lab, lab.stages.front(), student, Task{.fast = true});
        const auto reference_run = judge_.make_ready(lab, lab.stages.front(), right_, Task{.fast = true});
        if (!student_run.run || !reference_run.run) throw std::runtime_error("did not compile");
        return measure(*student_run.run, reference_run.run.get(), lab.dataset(dataset), Bandwidth{}, effort, Baseline{},
                       [](GradingPhase, const std::string&) {});
    }

    /// Time a submission in alternation with a reference. Return whether the measurement ends with an error whose
    /// message contains `words`. Neither program may fail.
    bool is_detected(const std::string& lab_name, const std::string& dataset, const fs::path& reference,
                     const fs::path& student, const Effort& effort, const char* words) {
        const Lab& lab = judge_.lab(lab_name);
        const auto reference_run = judge_.make_ready(lab, lab.stages.front(), reference, Task{.fast = true});
        const auto student_run = judge_.make_ready(lab, lab.stages.front(), student, Task{.fast = true});
        EXPECT_TRUE(student_run.run && reference_run.run);
        const Measured measured = measure(*student_run.run, reference_run.run.get(), lab.dataset(dataset), Bandwidth{},
                                          effort, Baseline{}, [](GradingPhase, const std::string&) {});
        EXPECT_FALSE(measured.failure);
        return measured.error && measured.error->message.find(words) != std::string::npos;
    }

    /// Other processes can hide a difference of the times, so detection in one of many attempts is enough.
    static bool is_detected_eventually(const std::function<bool()>& detect) {
        for (int i = 0; i < 30; ++i)
            if (detect()) return true;
        return false;
    }

    const fs::path right_ = fs::absolute("solutions/dot_product/01_serial_block_sum.cu");
    const fs::path wrong_ = fs::temp_directory_path() / ("warplab_off_by_one_" + std::to_string(getpid()) + ".cu");
    Judge judge_{{fs::current_path(), build(), fs::temp_directory_path()}, Backend::cpu};
};

/// Tests that compare times. Other processes can hide a difference, so `make test` skips them; `make soak` runs them.
class OnIdleMachine : public TimedOutputs {
    void SetUp() override {
        if (!std::getenv("WARPLAB_THOROUGH")) GTEST_SKIP() << "needs WARPLAB_THOROUGH=1 and an idle machine";
        TimedOutputs::SetUp();
    }
};

constexpr double immediate = 0, too_long = 1e9;

TEST_F(TimedOutputs, AreComparedWithTheCpuIfItIsFastEnough) {
    EXPECT_EQ(cause_of(right_, wrong_, immediate), "");
    EXPECT_EQ(cause_of(wrong_, wrong_, immediate), cause::timed_output_wrong);
}

TEST_F(TimedOutputs, AreComparedWithTheReferenceIfTheCpuTakesTooLong) {
    EXPECT_EQ(cause_of(wrong_, wrong_, too_long), "");  // only the wrong reference was compared
    EXPECT_EQ(cause_of(wrong_, right_, too_long), cause::timed_output_wrong);
}

TEST_F(TimedOutputs, AllRoundsAreTimedWithoutAReference) {
    const Lab& lab = judge_.lab("dot_product");
    const auto alone = judge_.make_ready(lab, lab.stages.front(), right_, Task{.fast = true});
    ASSERT_TRUE(alone.run);
    const Effort effort{{4, 10}, {4, 10}, 3, 0.01, 0.1, 0.2, 0.1};
    const Measured measured = measure(*alone.run, nullptr, lab.dataset("warp"), Bandwidth{}, effort, Baseline{},
                                      [](GradingPhase, const std::string&) {});
    EXPECT_FALSE(measured.failure);
    EXPECT_EQ(measured.measurement.samples_s.size(), 12u);
    EXPECT_FALSE(measured.measurement.reference_ratio);
}

TEST_F(TimedOutputs, VariableTimesNeedMoreSamples) {
    std::ofstream(wrong_) << right_kernel << alternates_speed;
    const Effort effort{{1, 1}, {1, 1}, 3, 0.01, 0.1, 0.2, 1};
    const Measured measured = measure_against_solution(wrong_, effort);
    EXPECT_GT(measured.measurement.samples_s.size(), 3u);
}

TEST_F(TimedOutputs, SlowFirstCommandsDoNotShortenTheSamples) {
    for (const int slow_calls : {1, 3}) {
        std::ofstream(wrong_) << "#define SLOW_CALLS " << slow_calls << '\n' << right_kernel << slow_at_first;
        const Effort effort{{1, 1}, {1, 1}, 3, 0.02, 10, 0.2, 0.1};
        const Measured measured = measure_against_solution(wrong_, effort);
        EXPECT_FALSE(measured.failure);
        const Measurement& m = measured.measurement;
        EXPECT_GE(m.calls_per_sample, 50) << slow_calls;
    }
}

TEST_F(TimedOutputs, FastFirstCallsOfEachProcessDoNotCount) {
    std::ofstream(wrong_) << right_kernel << fast_at_first;
    const Effort effort{{4, 4}, {4, 4}, 2, 0.01, 0.1, 0.2, 0.1};
    const Measurement m = measure_against_solution(wrong_, effort).measurement;
    ASSERT_EQ(m.samples_of_rounds.size(), 4u);
    EXPECT_GE(*std::ranges::min_element(m.samples_s), 0.05 * m.iterations);  // a busy machine does not halve a time
}

TEST_F(TimedOutputs, ShortCallsNeedMoreRoundsInPairedBenchmarks) {
    const Lab& lab = judge_.lab("dot_product");
    const auto ready = judge_.make_ready(lab, lab.stages.front(), right_, Task{.fast = true});
    ASSERT_TRUE(ready.run);
    const Effort effort{{4, 10}, {12, 16}, 3, 0.01, 0.1, 0.2, 0.1};
    const timing::Pool pool = timing::make_pool(*ready.run, timing::make_inputs(*ready.run, lab.dataset("warp")).pool);
    const auto min_rounds = [&](StageRun* reference, double call_s) {
        timing::PairedBenchmark paired(*ready.run, reference, pool, 1, 7, effort);
        paired.taken.slowest_s = call_s;
        return paired.taken.round_limits().min;
    };
    EXPECT_EQ(min_rounds(ready.run.get(), 30e-6), 12);
    EXPECT_EQ(min_rounds(ready.run.get(), 300e-6), 4);
    EXPECT_EQ(min_rounds(nullptr, 30e-6), 4);
}

TEST_F(TimedOutputs, RatioFollowsFromTheSamples) {
    const Effort effort{{4, 4}, {4, 4}, 2, 0.01, 0.1, 0.2, 0.1};
    const Measurement m = measure_against_solution(right_, effort).measurement;
    ASSERT_EQ(m.samples_of_rounds.size(), 4u);
    ASSERT_EQ(m.reference_samples_s.size(), m.samples_s.size());
    std::vector<Round> rounds;
    std::ptrdiff_t from = 0;
    for (const int count : m.samples_of_rounds) {
        const auto of_round = [&](const std::vector<double>& all) {
            return std::vector(all.begin() + from, all.begin() + from + count);
        };
        rounds.push_back({of_round(m.samples_s), of_round(m.reference_samples_s)});
        from += count;
    }
    ASSERT_EQ(from, static_cast<std::ptrdiff_t>(m.samples_s.size()));
    EXPECT_NEAR(paired_ratio(rounds).median, m.reference_ratio->median, 1e-9);
    EXPECT_NEAR(paired_ratio(rounds).high, m.reference_ratio->high, 1e-9);
}

TEST_F(TimedOutputs, ProgressShowsTheResultSoFar) {
    const Lab& lab = judge_.lab("dot_product");
    const auto student_run = judge_.make_ready(lab, lab.stages.front(), right_, Task{.fast = true});
    const auto reference_run = judge_.make_ready(lab, lab.stages.front(), right_, Task{.fast = true});
    ASSERT_TRUE(student_run.run && reference_run.run);
    const Effort effort{{1, 1}, {1, 1}, 2, 0.01, 0.1, 0.2, 0.1};
    std::vector<std::string> messages;
    measure(*student_run.run, reference_run.run.get(), lab.dataset("warp"), Bandwidth{}, effort, Baseline{},
            [&](GradingPhase phase, const std::string& message) {
                if (phase == GradingPhase::samples) messages.push_back(message);
            });
    ASSERT_GE(messages.size(), 2u);
    EXPECT_EQ(messages.front(), "round 1 of 1, sample 1 of 2");
    EXPECT_NE(messages.back().find(" times the reference's time; round 1 of 1, sample "), std::string::npos)
        << messages.back();
}

TEST_F(TimedOutputs, RoundsEndWhenThePointsAreKnown) {
    const Lab& lab = judge_.lab("dot_product");
    const auto student_run = judge_.make_ready(lab, lab.stages.front(), right_, Task{.fast = true});
    const auto reference_run = judge_.make_ready(lab, lab.stages.front(), right_, Task{.fast = true});
    ASSERT_TRUE(student_run.run && reference_run.run);
    const auto with_points = [&](const PointsFor& points) {
        const Effort effort{
            .rounds = {4, 4}, .rounds_of_short_calls = {4, 4}, .sample_s = 0.01, .round_s = 0.1, .points = points};
        return measure(*student_run.run, reference_run.run.get(), lab.dataset("warp"), Bandwidth{}, effort, Baseline{},
                       [](GradingPhase, const std::string&) {})
            .measurement;
    };
    const Measurement flat = with_points([](double, double) { return 3.0; });
    EXPECT_EQ(flat.ended_by, Measurement::EndedBy::points_known);
    EXPECT_EQ(flat.samples_of_rounds.size(), 1u);
    EXPECT_FALSE(flat.ambiguous);
    EXPECT_LT(flat.reference_ratio->low, flat.reference_ratio->high);
    const Measurement steep = with_points([](double ratio, double) { return -1e6 * ratio; });
    EXPECT_NE(steep.ended_by, Measurement::EndedBy::points_known);
    EXPECT_EQ(steep.samples_of_rounds.size(), 4u);
}

TEST_F(OnIdleMachine, CodeThatReusesEarlierResultsIsSlowOnNewInputs) {
    const fs::path honest = fs::absolute("solutions/saturating_histogram/01_single_thread.cu");
    std::ofstream(wrong_) << remembers_rows;
    const Effort effort{{1, 1}, {1, 1}, 2, 0.05, 0.4, 0.1, 0.1};
    const auto detect = [&](const fs::path& file) {
        return is_detected("saturating_histogram", "timed_walk_64_rows", honest, file, effort, "new inputs");
    };
    EXPECT_FALSE(detect(honest));
    EXPECT_TRUE(is_detected_eventually([&] { return detect(wrong_); }));
}

TEST_F(OnIdleMachine, CodeThatNeedsManyCallsToBeFastIsFound) {
    std::ofstream(wrong_) << right_kernel << works_ahead;
    const Effort effort{{1, 1}, {1, 1}, 3, 0.3, 6, 0.1, 0.1};
    const auto detect = [&](const fs::path& file) {
        return is_detected("dot_product", "warp", right_, file, effort, "several calls");
    };
    EXPECT_FALSE(detect(right_));
    EXPECT_TRUE(is_detected_eventually([&] { return detect(wrong_); }));
}

TEST_F(TimedOutputs, OutputsOfFewCallsAreVerified) {
    std::ofstream(wrong_) << right_kernel << waits_for_many_calls;
    const Lab& lab = judge_.lab("dot_product");
    const auto reference_run = judge_.make_ready(lab, lab.stages.front(), right_, Task{.fast = true});
    const auto student_run = judge_.make_ready(lab, lab.stages.front(), wrong_, Task{.fast = true});
    ASSERT_TRUE(student_run.run && reference_run.run);
    const Effort effort{{1, 1}, {1, 1}, 3, 0.1, 20, 0.5, 0.1};
    const Measured measured = measure(*student_run.run, reference_run.run.get(), lab.dataset("warp"), Bandwidth{},
                                      effort, Baseline{}, [](GradingPhase, const std::string&) {});
    ASSERT_TRUE(measured.failure);
    EXPECT_EQ(measured.failure->cause, cause::timed_output_wrong);
}

TEST_F(TimedOutputs, InputsAreCopiedWhileTheProgramIsSuspended) {
    std::ofstream(wrong_) << right_kernel << sees_inputs_change;
    const Effort effort{{2, 2}, {2, 2}, 3, 0.05, 0.5, 0.5, 0.1};
    const Measured measured = measure_against_solution(wrong_, effort, "ragged");
    EXPECT_FALSE(measured.failure) << measured.failure->message;
}

TEST_F(TimedOutputs, AnOverheadThatWasMeasuredTooLongIsLoweredInAllSamples) {
    const Lab& lab = judge_.lab("dot_product");
    const auto ready = judge_.make_ready(lab, lab.stages.front(), right_, Task{.fast = true});
    ASSERT_TRUE(ready.run);
    const Effort effort{{2, 2}, {2, 2}, 3, 0.05, 0.5, 0.5, 0.1};
    const timing::Pool pool = timing::make_pool(*ready.run, timing::make_inputs(*ready.run, lab.dataset("warp")).pool);
    timing::PairedBenchmark paired(*ready.run, ready.run.get(), pool, 2, 7, effort);
    paired.student.gap_s = paired.reference->gap_s = 3e-3;
    paired.taken.calls = 3;  // two commands
    paired.taken.rounds = {{timing::Sample{.student_wall_s = 5e-3, .reference_wall_s = 7e-3}}};
    paired.lower_gap(2.99e-3);  // within the noise
    EXPECT_DOUBLE_EQ(paired.student.gap_s, 3e-3);
    paired.lower_gap(1e-3);
    EXPECT_DOUBLE_EQ(paired.taken.median_student_s(), 3e-3);
    EXPECT_DOUBLE_EQ(paired.taken.median_reference_s(), 5e-3);
    paired.lower_gap(2e-3);  // never higher
    EXPECT_DOUBLE_EQ(paired.reference->gap_s, 1e-3);
}

TEST(PairedBenchmark, EventsLimitTheTimeOfTheReference) {
    EXPECT_DOUBLE_EQ(timing::limited_by_events(10e-3, 10e-3), 10e-3);
    EXPECT_DOUBLE_EQ(timing::limited_by_events(9e-3, 10e-3), 9e-3);
    EXPECT_LT(timing::limited_by_events(15e-3, 10e-3), 10.6e-3);  // delayed before its first event
    EXPECT_DOUBLE_EQ(timing::limited_by_events(15e-6, 10e-6), 15e-6);
}

TEST(FewCalls, ShortCommandsCanTakeLongerIfThoseOfTheReferenceDo) {
    const auto us = [](double count) { return 1e-6 * count; };
    EXPECT_FALSE(timing::keeps_results({8, us(30), us(30), us(20), us(30), us(20)}));
    EXPECT_FALSE(timing::keeps_results({1, us(110), us(60), us(25), us(90), us(25)}));  // as on an H100
    EXPECT_FALSE(timing::keeps_results({1, us(76), us(0), us(40), us(100), us(40)}));
    EXPECT_TRUE(timing::keeps_results({8, us(60), us(30), us(20), us(30), us(20)}));
    EXPECT_TRUE(timing::keeps_results({8, us(60), us(60), us(20), us(30), us(20)}));  // slow in all short commands
}

TEST_F(TimedOutputs, AWrongReferenceDoesNotFailACorrectProgram) { EXPECT_EQ(cause_of(right_, wrong_, too_long), ""); }

}  // namespace
}  // namespace warplab
