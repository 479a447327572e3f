#include "grader/judge/measure.h"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <random>

#include "grader/core/cause.h"
#include "grader/core/statistics.h"
#include "grader/core/text.h"
#include "grader/judge/compilation/cache.h"
#include "grader/judge/cuda_device.h"
#include "grader/judge/diagnose.h"

namespace warplab {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

constexpr std::size_t timed_guard_bytes = 4096;
constexpr std::size_t part_bytes = 64 << 10;         // of a slot's output that is read back
constexpr std::size_t whole_bytes = 64 << 20;        // of the slot that is read back whole, once a sample …
constexpr std::size_t most_kept_bytes = 2ull << 30;  // … until so much is kept
constexpr int parts_per_command = 4;
// How much longer than the events' time the judge's clock may be, beside what an empty command or the reference's own
// commands take longer.
constexpr double wall_allowance_s = 50e-6, wall_allowance_share = 0.02;
constexpr double untrusted_gap_s = 300e-6;  // where there is no reference to learn it from
constexpr double calibration_share = 0.05;  // of the samples' time

/// Elements that a pool is longer than one call's input: thousands of places to begin at, or, where steps are large, as
/// many as fit into a quarter of a gigabyte.
std::size_t pool_extra(std::size_t step) {
    constexpr std::size_t fewest = 4 << 20, most = 64 << 20;
    return step ? std::clamp(step * 4096, fewest, most) / step * step : 0;
}

/// What the runner left in part of one output, and the inputs it had.
struct Sighting {
    std::vector<std::size_t> window;  // per buffer, first element in the pool
    std::size_t buffer, first;
    Array found;
    int sample;
};

/// The inputs of all calls: on the host for the oracle, on the device for the copies.
struct Pool {
    Problem problem;  // inputs longer than a call's by `extra`
    std::size_t step = 0, extra = 0;
    std::vector<std::unique_ptr<Region>> regions;  // per buffer; null for outputs

    /// The call whose inputs start at the given elements; outputs are left to be filled by the reference.
    Problem call_at(const std::vector<std::size_t>& window, const Lab& lab) const {
        Problem call = problem;
        for (std::size_t i = 0; i < lab.buffers.size(); ++i) {
            if (lab.buffers[i].role == Role::output)
                call.arrays[i] = Array(problem.arrays[i].type(), problem.arrays[i].count());
            else
                call.arrays[i] = problem.arrays[i].part(window[i], problem.arrays[i].count() - extra);
            if (lab.buffers[i].role == Role::inout) call.arrays[i] = call.arrays[i].clone();
        }
        return call;
    }
    Problem shape(const Lab& lab) const { return call_at(std::vector<std::size_t>(lab.buffers.size(), 0), lab); }
};

Pool make_pool(const StageRun& run, const Dataset& dataset) {
    Pool pool;
    pool.step = run.oracle.window_step();
    pool.extra = pool_extra(pool.step);
    pool.problem = run.oracle.generate(dataset, dataset.seed, pool.extra);
    for (std::size_t i = 0; i < run.lab.buffers.size(); ++i) {
        pool.regions.push_back(nullptr);
        if (run.lab.buffers[i].role == Role::output || pool.problem.arrays[i].bytes() == 0) continue;
        pool.regions[i] = run.device.allocate(pool.problem.arrays[i].bytes());
        pool.regions[i]->write(0, pool.problem.arrays[i].data(), pool.problem.arrays[i].bytes());
    }
    return pool;
}

/// One solution being timed: its process, its slots, what was seen of its outputs.
class Contestant {
  public:
    Contestant(StageRun& run, const Pool& pool, std::uint32_t slots, std::uint64_t seed)
        : run_(run),
          pool_(pool),
          shape_(pool.shape(run.lab)),
          random_(seed),
          poison_(Poison::draw(seed)),
          windows_(slots, std::vector<std::size_t>(run.lab.buffers.size(), 0)) {}

    /// Starts the process. It ends with the thread that does this.
    void start() {
        if (!failure) run_.runner_session();
    }

    /// Waits until it has got at the device or has failed, as open() finds.
    void wait() {
        if (!failure) run_.runner_session().ask(make_request(protocol::Ask::hello), {}, 30);
    }

    /// Gives a process just started its memory, which is allocated the first time.
    void open() {
        if (failure || open_) return;
        failure = run_.greet().failure;
        if (!failure && !buffers_) allocate();
        if (!failure) failure = open_buffers(run_, shape_, *buffers_, false);
        if (!failure && empty_s_ == 0) measure_empty_command();
        open_ = true;
    }

    void end() {
        run_.end_session();
        open_ = false;
    }

    /// Between one process and the next: the memory's place makes a difference of up to some percent.
    void exchange_memory(Contestant& other) { buffers_->exchange_memory(*other.buffers_); }

    /// Seconds of `calls` calls, made in commands of at most as many as there are slots; 0 after a failure.
    double time_calls(int calls, int sample) {
        event_s_ = 0;
        double total_s = 0;
        for (int left = calls; left > 0 && !failure;) {
            const auto now = static_cast<std::uint32_t>(std::min<int>(left, static_cast<int>(buffers_->slots())));
            total_s += time_command(now);
            left -= static_cast<int>(now);
            if (!failure && sample >= 0) look(now, sample, left <= 0);
        }
        if (!failure && sample >= 0) check_guards();
        return total_s;
    }

    /// Of the last time_calls(), what the events alone say: the time on the GPU, whatever the CPU was busy with.
    double event_s() const { return event_s_; }

    /// What this solution makes of the inputs of a sighting; sets `failure` where it makes nothing.
    Array outputs_for(const Sighting& seen) {
        windows_[0] = seen.window;
        copy_inputs(0);
        run_.device.synchronize();
        failure = command(1).failure;
        return buffers_->read_part(seen.buffer, 0, seen.first, seen.found.count());
    }

    void poison_scratch() { buffers_->poison_all(); }
    std::vector<Sighting>& sightings() { return sightings_; }

    /// How much longer than the events' time whole commands took: nearly the most that was seen.
    double usual_gap() const {
        std::vector<double> sorted = gaps_;
        std::sort(sorted.begin(), sorted.end());
        return sorted.empty() ? untrusted_gap_s : sorted[sorted.size() * 9 / 10];
    }

    void forget_gaps() { gaps_.clear(); }

    std::optional<Failure> failure;
    double gap_s = untrusted_gap_s;

  private:
    void allocate() {
        const Prepared prepared = prepare(run_, shape_, false);
        failure = prepared.failure;
        if (failure) return;
        const auto slots = static_cast<std::uint32_t>(windows_.size());
        buffers_.emplace(run_.device, run_.lab, shape_, prepared.scratch_bytes, slots, timed_guard_bytes, poison_);
    }

    Session::Reply command(std::uint32_t calls) {
        protocol::Request request = make_request(protocol::Ask::run, shape_.sizes, shape_.reals);
        request.calls = calls;
        request.timed = 1;
        request.host_bytes_limit = host_bytes_allowed(run_, shape_);
        return run_.runner_session().ask(request, {}, time_limit_s(run_, shape_) + 60);
    }

    /// What a command costs beside its calls: the conversation, and the GPU's turn from the judge to the runner.
    void measure_empty_command() {
        std::vector<double> waits;
        for (int i = 0; i < 20 && !failure; ++i) {
            move_inputs(1);
            const Session::Reply reply = command(0);
            failure = reply.failure;
            waits.push_back(reply.wall_s);
        }
        empty_s_ = median(waits);
    }

    /// New inputs for the first `calls` slots, at offsets nobody could foresee.
    void move_inputs(std::uint32_t calls) {
        for (std::uint32_t slot = 0; slot < calls; ++slot) {
            for (std::size_t i = 0; i < pool_.regions.size(); ++i) {
                if (!pool_.regions[i]) continue;
                const std::size_t places = pool_.step ? pool_.extra / pool_.step : 0;
                const std::size_t first = places ? random_() % (places + 1) * pool_.step : 0;
                windows_[slot][i] = first;
            }
            copy_inputs(slot);
        }
        run_.device.synchronize();
    }

    void copy_inputs(std::uint32_t slot) {
        for (std::size_t i = 0; i < pool_.regions.size(); ++i)
            if (pool_.regions[i])
                buffers_->copy_into(i, slot, *pool_.regions[i],
                                    windows_[slot][i] * element_bytes(pool_.problem.arrays[i].type()));
    }

    double time_command(std::uint32_t calls) {
        move_inputs(calls);
        const Session::Reply reply = command(calls);
        failure = reply.failure;
        if (failure) return 0;
        if (reply.answer.host_bytes > host_bytes_allowed(run_, shape_) * calls)
            failure =
                Failure{cause::host_work, "While timed, more was copied to the host than the stage allows.", "", {}};
        if (calls == buffers_->slots()) gaps_.push_back(reply.wall_s - reply.answer.event_s);
        event_s_ += reply.answer.event_s;
        const double wall_s = reply.wall_s * (1 - wall_allowance_share) - std::max(empty_s_, gap_s) - wall_allowance_s;
        return std::max(reply.answer.event_s, wall_s);
    }

    /// Keeps parts of outputs drawn at random, and one slot's (nearly) whole output at the end of a sample.
    void look(std::uint32_t calls, int sample, bool last) {
        for (std::size_t i = 0; i < run_.lab.buffers.size(); ++i) {
            if (run_.lab.buffers[i].role == Role::input) continue;
            for (int k = 0; k < parts_per_command; ++k)
                sight(i, static_cast<std::uint32_t>(random_() % calls), part_bytes, sample);
            if (last && kept_bytes_ < most_kept_bytes)
                sight(i, static_cast<std::uint32_t>(random_() % calls), whole_bytes, sample);
        }
    }

    void sight(std::size_t buffer, std::uint32_t slot, std::size_t bytes, int sample) {
        const Array& shape = shape_.arrays[buffer];
        const std::size_t count = std::min(shape.count(), bytes / element_bytes(shape.type()));
        const std::size_t first = random_() % (shape.count() - count + 1);
        sightings_.push_back({windows_[slot], buffer, first, buffers_->read_part(buffer, slot, first, count), sample});
        kept_bytes_ += count * element_bytes(shape.type());
    }

    void check_guards() {
        const auto damage = buffers_->find_damage(static_cast<std::uint32_t>(random_() % buffers_->slots()));
        if (damage) failure = explain_damage(run_.lab, *damage);
    }

    StageRun& run_;
    const Pool& pool_;
    Problem shape_;
    std::mt19937_64 random_;
    Poison poison_;
    std::optional<Buffers> buffers_;
    std::vector<std::vector<std::size_t>> windows_;  // per slot and buffer, the first element in the pool
    std::vector<Sighting> sightings_;
    std::vector<double> gaps_;
    std::size_t kept_bytes_ = 0;
    double empty_s_ = 0, event_s_ = 0;
    bool open_ = false;
};

/// Stands in for the CPU: the reference solution, in its own process, and what a call takes on the CPU.
struct Substitute {
    Contestant* reference = nullptr;
    double cpu_s = 0;
};

/// What of a sighting is wrong, and in `expected` the right answer. The reference solution is asked where the CPU would
/// take longer than `left_s`, but the CPU alone accuses.
std::optional<Difference> find_difference(const StageRun& run, const Pool& pool, const Sighting& seen,
                                          const Substitute& substitute, double left_s, Array& expected) {
    const Problem call = pool.call_at(seen.window, run.lab);
    const std::size_t count = seen.found.count();
    const auto compare_now = [&] { return compare(run.oracle, call, seen.buffer, expected, seen.found, seen.first); };
    expected = Array(seen.found.type(), count);
    if (run.oracle.reference_part(call, seen.buffer, seen.first, count, expected)) return compare_now();
    Contestant* const reference = substitute.reference;
    if (reference && !reference->failure && substitute.cpu_s > left_s) {
        expected = reference->outputs_for(seen);
        if (!reference->failure && !compare_now()) return std::nullopt;
    }
    Problem solved = pool.call_at(seen.window, run.lab);
    run.oracle.reference(solved, Execution::openmp);
    expected = solved.arrays[seen.buffer].part(seen.first, count);
    return compare_now();
}

/// Checks sightings in random order until the time is up, at least one of every sample.
std::optional<Failure> verify(const StageRun& run, const Pool& pool, std::vector<Sighting>& sightings, double budget_s,
                              const Substitute& substitute, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::shuffle(sightings.begin(), sightings.end(), random);
    std::vector<bool> seen_sample(1000, false);
    std::stable_partition(sightings.begin(), sightings.end(), [&](const Sighting& s) {
        const bool first = !seen_sample[static_cast<std::size_t>(s.sample) % 1000];
        seen_sample[static_cast<std::size_t>(s.sample) % 1000] = true;
        return first;
    });
    const auto samples = static_cast<std::size_t>(std::count(seen_sample.begin(), seen_sample.end(), true));
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < sightings.size(); ++i) {
        const double left_s = budget_s - seconds_since(begin);
        if (i >= samples && left_s < 0) break;
        const Sighting& s = sightings[i];
        Array expected;
        const auto difference = find_difference(run, pool, s, substitute, left_s, expected);
        if (!difference) continue;
        const std::string name = run.lab.buffers[s.buffer].name;
        return Failure{
            cause::timed_output_wrong,
            fmt::format("While timed, an output was wrong: {}[{}] is {}, expected {} (sample {}).", name,
                        format_count(s.first + difference->first), element_text(s.found, difference->first),
                        element_text(expected, difference->first), s.sample + 1),
            "Every call gets new inputs and an output of its own: nothing may be kept from an earlier call, and "
            "all work must be done before the next call begins.",
            Place{name, s.first + difference->first, element_text(expected, difference->first),
                  element_text(s.found, difference->first)}};
    }
    return std::nullopt;
}

std::uint32_t choose_slots(const StageRun& run, const Pool& pool, int calls, int contestants) {
    const double per_slot = static_cast<double>(Buffers::bytes_per_slot(pool.shape(run.lab), 0, timed_guard_bytes));
    const double share = static_cast<double>(run.device.free_bytes()) / 4 / contestants;
    const auto fit = static_cast<int>(std::min(1000.0, share / per_slot));
    return static_cast<std::uint32_t>(std::clamp(std::min(fit, calls), 1, 1000));
}

bool mostly_reads(const Lab& lab, const Problem& shape) {
    double in = 0, out = 0;
    for (std::size_t i = 0; i < lab.buffers.size(); ++i)
        (lab.buffers[i].role == Role::input ? in : out) += static_cast<double>(shape.arrays[i].bytes());
    return out < 0.05 * in;
}

struct Sample {
    double student_s = 0, reference_s = 0, reference_event_s = 0;
    SampleConditions conditions;
};

/// Copies and reads while the samples were taken. A copy was timed after each round: clocks and heat since the
/// process began change what a kernel can reach, and reads change as copies do.
Bandwidth bandwidth_during(const std::vector<Sample>& samples, Bandwidth bandwidth) {
    std::vector<double> copies;
    for (const Sample& sample : samples)
        if (sample.conditions.copy_bytes_per_s) copies.push_back(*sample.conditions.copy_bytes_per_s);
    if (copies.empty() || bandwidth.copy_bytes_per_s <= 0) return bandwidth;
    const double drift = median(copies) / bandwidth.copy_bytes_per_s;
    bandwidth.copy_bytes_per_s *= drift;
    bandwidth.read_bytes_per_s *= drift;
    return bandwidth;
}

/// `at_start` and `during` the samples: the bound is what these samples could reach; the floor takes the faster of
/// both, for the student, and because code that slows the calibration copy must not lower what is plausible.
void set_bounds(Measurement& m, const StageRun& run, const Problem& shape, const Bandwidth& at_start,
                const Bandwidth& during, double set_bytes) {
    const Cost cost = run.oracle.cost(shape);
    const double scale = m.iterations / cost.iterations;
    const double fastest = std::max(
        {at_start.copy_bytes_per_s, at_start.read_bytes_per_s, during.copy_bytes_per_s, during.read_bytes_per_s});
    m.bandwidth_bytes_per_s = mostly_reads(run.lab, shape) ? during.read_bytes_per_s : during.copy_bytes_per_s;
    m.floor_bytes = cost.floor_bytes;
    const double of_a_call = run.lab.benchmark.iterations_per_call / cost.iterations;  // this one's may be shorter
    m.bound_bytes = cost.bound_bytes * of_a_call;
    m.flops = cost.flops * of_a_call;
    if (m.bandwidth_bytes_per_s <= 0) return;
    const double floor_rate =
        set_bytes < static_cast<double>(at_start.l2_bytes) ? std::max(fastest, at_start.l2_bytes_per_s) : fastest;
    m.floor_s = 0.9 * cost.floor_bytes / floor_rate * scale;
    m.bound_s = cost.bound_bytes / m.bandwidth_bytes_per_s * scale;
}

std::string limit_phrase(const Measurement& m) {
    if (m.bound_s <= 0) return "";
    const double fraction = m.bound_s / m.median_s;
    if (fraction >= 1.1) return "not memory: a cache or blocking saves passes over it";
    if (fraction >= 0.9) return "memory bandwidth";
    if (fraction >= 0.6) return "near memory bandwidth";
    return fmt::format("not memory: {:.0f}% of its bandwidth used", 100 * fraction);
}

double measure_transfer(const StageRun& run, const Pool& pool) {
    const Problem shape = pool.shape(run.lab);
    Buffers buffers(run.device, run.lab, shape, 0, 1, 0, Poison::draw(1));
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < run.lab.buffers.size(); ++i)
        if (run.lab.buffers[i].role != Role::output) buffers.write(i, 0, shape.arrays[i]);
    for (std::size_t i = 0; i < run.lab.buffers.size(); ++i)
        if (run.lab.buffers[i].role != Role::input) buffers.read(i, 0);
    return seconds_since(begin);
}

/// Calls in a sample. A solver's dataset says how many iterations a call of it does.
int count_calls(const StageRun& run, const Problem& shape) {
    return std::max(1, static_cast<int>(run.lab.benchmark.iterations / run.oracle.cost(shape).iterations));
}

SampleConditions conditions_now(const StageRun& run) {
    return run.backend == Backend::cuda ? CudaDevice::get().conditions() : SampleConditions{};
}

constexpr double alone_sample_s = 0.5;  // of each sample of the reference alone, where calls take long
constexpr double settle_s = 0.02;       // of calls in a process just started, beside the first
constexpr double short_round_s = 1.5;   // up to which more samples cost less than another round's processes

// Half the width of the ratio's interval: what is aimed at, and beyond what the ratio is ambiguous.
constexpr double wanted_half_width = 0.005, most_half_width = 0.01;

/// Keeps this thread, and what it starts, on one core while it lives.
class Pinned {
  public:
    explicit Pinned(int core) {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    ~Pinned() { sched_setaffinity(0, sizeof before_, &before_); }

  private:
    cpu_set_t before_;
};

/// The samples of student and reference, taken in turns and, on a GPU, a calibration copy after each round.
class Race {
  public:
    Race(StageRun& student_run, StageRun* reference_run, const Pool& pool, std::uint32_t slots, std::uint64_t seed,
         const Effort& effort)
        : run_(student_run), effort_(effort), student(student_run, pool, slots, seed) {
        if (reference_run) reference.emplace(*reference_run, pool, slots, seed + 1);
        if (run_.backend == Backend::cuda) calibration_.emplace();
    }

    bool broken() const { return student.failure || (reference && reference->failure); }

    /// Seconds of a call of the reference, by events, before the student's process exists, and from then on how much
    /// longer than the events' time a command may take.
    double time_reference_alone(int slots) {
        start_processes(false);
        reference->open();
        raise_clocks();
        reference->time_calls(1, -1);  // loads the code
        reference->forget_gaps();
        const double once_s = std::max(reference->time_calls(1, -1), 1e-9);
        const int calls = std::max(1, static_cast<int>(std::min<double>(slots, alone_sample_s / once_s)));
        std::vector<double> times;
        for (int i = 0; i < 5 && !reference->failure; ++i) {
            reference->time_calls(calls, -1);
            times.push_back(reference->event_s() / calls);
        }
        if (reference->failure) return 0;
        reference->gap_s = student.gap_s = reference->usual_gap();
        return median(times);
    }

    /// Fresh processes, which exchange the memory that the last ones had. In the first round, the reference's is that
    /// which ran alone.
    void begin_round() {
        if (!rounds.empty()) {
            end_processes();
            if (reference) student.exchange_memory(*reference);
        }
        rounds.emplace_back();
        start_processes(true);
        student.open();
        if (reference && !student.failure) reference->open();
        if (rounds.size() > 1) settle();
    }

    /// Runs until clocks settle and finds how long a call takes, everything around it included.
    void warm_up(int calls_wanted) {
        if (!reference) raise_clocks();  // else it has just run alone
        int calls = 1;
        for (int round = 0; round < 12 && !broken(); ++round) {
            const auto begin = Clock::now();
            const double student_s = student.time_calls(calls, -1);
            double both_s = student_s;
            if (reference) both_s += reference->time_calls(calls, -1);
            const double wall_s = seconds_since(begin);
            around_s = wall_s / calls;
            slowest_s = std::max(student_s, both_s - student_s) / calls;
            if (wall_s > 0.2 || calls >= calls_wanted) break;
            calls = std::min(calls_wanted, calls * 4);
        }
    }

    int affordable_calls(int wanted) const {
        const double by_sample = effort_.sample_s / std::max(slowest_s, 1e-9);
        const double by_total = effort_.total_s / (effort_.rounds * effort_.samples) / std::max(around_s, 1e-9);
        return std::clamp(static_cast<int>(std::min({by_sample, by_total, 1e9})), 1, wanted);
    }

    /// All of a round's samples. Those taken at a clock more than 5% below the median of all are taken again. Where
    /// samples are short and differ, there are more of them.
    void take_round(int calls, const Progress& progress) {
        const auto begin = Clock::now();
        const auto has_all = [&] {
            return static_cast<int>(rounds.back().size()) >= effort_.samples &&
                   (!reference || seconds_since(begin) > short_round_s || is_known(rounds.size() - 1));
        };
        for (int attempt = 0; attempt < 2; ++attempt) {
            drop_slow_clocks();
            while (!broken() && !has_all()) {
                const std::size_t sample = rounds.back().size() + 1;
                progress(fmt::format("round {} of {}, sample {} of {}", rounds.size(),
                                     std::max<std::size_t>(rounds.size(), effort_.rounds), sample,
                                     std::max<std::size_t>(sample, effort_.samples)));
                take_sample(calls);
            }
        }
        if (calibration_ && !broken()) calibrate();
    }

    /// The student's time over the reference's.
    Interval ratio() const { return ratio_since(0); }

    /// Whether the ratio is known as well as is wanted, by the rounds since the given one.
    bool is_known(std::size_t since = 0) const { return half_width(ratio_since(since)) <= wanted_half_width; }

    std::vector<Sample> samples() const {
        std::vector<Sample> all;
        for (const std::vector<Sample>& round : rounds) all.insert(all.end(), round.begin(), round.end());
        return all;
    }

    double median_reference_s() const { return median_of(samples(), &Sample::reference_s); }

    /// By events, as all that suspicion rests on: a CPU that is busy accuses nobody.
    double median_reference_event_s() const { return median_of(samples(), &Sample::reference_event_s); }

    /// The median of the round that took the reference longest.
    double slowest_reference_event_s() const {
        double slowest = 0;
        for (const std::vector<Sample>& round : rounds)
            slowest = std::max(slowest, median_of(round, &Sample::reference_event_s));
        return slowest;
    }

  private:
    Interval ratio_since(std::size_t first) const {
        std::vector<Round> of_both;
        for (std::size_t i = first; i < rounds.size(); ++i) {
            of_both.emplace_back();
            for (const Sample& sample : rounds[i]) {
                of_both.back().a.push_back(sample.student_s);
                of_both.back().b.push_back(sample.reference_s);
            }
        }
        return paired_ratio(of_both);
    }

    static double median_of(const std::vector<Sample>& samples, double Sample::*what) {
        std::vector<double> values;
        for (const Sample& sample : samples) values.push_back(sample.*what);
        return median(values);
    }

    void raise_clocks() {
        if (run_.backend == Backend::cuda) CudaDevice::get().warm_up(0.3);
    }

    /// Both at once, as a process takes long to get at the GPU; and on one core, which they take turns on: what a
    /// launch takes differs between cores.
    void start_processes(bool with_student) {
        {
            std::optional<Pinned> pinned;
            if (run_.backend == Backend::cuda) pinned.emplace(core_);
            if (with_student) student.start();
            if (reference) reference->start();
        }
        std::future<void> other;
        if (reference) other = std::async(std::launch::async, [this] { reference->wait(); });
        if (with_student) student.wait();
    }

    void end_processes() {
        std::future<void> other;
        if (reference) other = std::async(std::launch::async, [this] { reference->end(); });
        student.end();
        core_ = sched_getcpu();
    }

    void settle() {
        const int calls = static_cast<int>(settle_s / std::max(slowest_s, 1e-9));
        for (const int count : {1, calls}) {
            student.time_calls(count, -1);
            if (reference) reference->time_calls(count, -1);
        }
    }

    /// Who is first changes, because the GPU has rested before a round's first sample.
    void take_sample(int calls) {
        Sample sample;
        const bool student_first = (rounds.size() + rounds.back().size()) % 2 == 1;
        if (!student_first) time_reference(sample, calls);
        sample.student_s = time_one(student, calls);
        sample.conditions = conditions_now(run_);
        if (student_first) time_reference(sample, calls);
        ++taken_;
        if (broken()) return;
        if (reference) reference->sightings().clear();  // it looked because the GPU rests meanwhile
        rounds.back().push_back(sample);
    }

    /// Not between samples: where power is short, whoever runs after a copy runs at a lower clock.
    void calibrate() {
        double student_s = 0;
        for (const Sample& sample : rounds.back()) student_s += sample.student_s;
        const double rate = calibration_->measure(calibration_share * student_s);
        for (Sample& sample : rounds.back()) sample.conditions.copy_bytes_per_s = rate;
    }

    void time_reference(Sample& sample, int calls) {
        if (!reference) return;
        sample.reference_s = time_one(*reference, calls);
        sample.reference_event_s = reference->event_s();
    }

    double time_one(Contestant& contestant, int calls) {
        if (run_.backend == Backend::cuda) CudaDevice::get().reset_persisting_l2();
        contestant.poison_scratch();
        return contestant.time_calls(calls, taken_);
    }

    void drop_slow_clocks() {
        std::vector<double> clocks;
        for (const Sample& sample : samples())
            if (sample.conditions.sm_clock_mhz) clocks.push_back(*sample.conditions.sm_clock_mhz);
        if (clocks.empty()) return;
        const double least = 0.95 * median(clocks);
        std::erase_if(rounds.back(), [&](const Sample& sample) { return sample.conditions.sm_clock_mhz < least; });
    }

    StageRun& run_;
    const Effort& effort_;
    std::optional<CalibrationCopy> calibration_;
    int taken_ = 0;
    int core_ = sched_getcpu();  // of this round's processes

  public:
    Contestant student;
    std::optional<Contestant> reference;
    std::vector<std::vector<Sample>> rounds;
    double around_s = 0, slowest_s = 0;
};

void take_samples(Race& race, int calls, const Effort& effort, const Progress& progress) {
    race.take_round(calls, progress);
    const auto begun = [&] { return static_cast<int>(race.rounds.size()); };
    const auto is_vague = [&] { return begun() % 2 == 1 || !race.is_known(); };
    while (!race.broken() && begun() < effort.most_rounds &&
           (begun() < effort.rounds || (race.reference && is_vague()))) {
        race.begin_round();
        race.take_round(calls, progress);
    }
}

void fill_in(Measurement& m, const Race& race, int calls, int calls_wanted) {
    const double scale = static_cast<double>(calls_wanted) / calls;
    m.calls_per_sample = calls;
    m.cut = calls < calls_wanted;
    if (m.cut) m.caveats.push_back(fmt::format("samples were cut to {} of {} calls and scaled", calls, calls_wanted));
    for (const Sample& sample : race.samples()) {
        m.samples_s.push_back(sample.student_s * scale);
        m.conditions.push_back(sample.conditions);
    }
    m.median_s = median(m.samples_s);
    if (!race.reference) return;
    m.reference_s = race.median_reference_s() * scale;
    m.reference_ratio = race.ratio();
    m.ambiguous = half_width(*m.reference_ratio) > most_half_width;
    if (m.ambiguous) m.caveats.push_back("ambiguous: the ratio to the reference is known only within its interval");
}

constexpr double suspicious_slowdown = 1.1;

std::optional<Failure> find_implausible(const Measurement& m, double usual_s, double alongside_s) {
    if (m.median_s < m.floor_s)
        return Failure{
            cause::implausible_timing,
            fmt::format("{} for {} iterations is faster than memory allows: reading each input and writing each output "
                        "once takes {}.",
                        format_seconds(m.median_s), m.iterations, format_seconds(m.floor_s)),
            "An instructor should look at this submission.",
            {}};
    if (usual_s > 0 && alongside_s > suspicious_slowdown * usual_s)
        return Failure{
            cause::implausible_timing,
            fmt::format("The reference took {:.0f}% longer beside this submission than beside itself: something keeps "
                        "running between its calls, or another program used the GPU meanwhile.",
                        100 * (alongside_s / usual_s - 1)),
            "Every call must have finished its work when the device is synchronised. Grade again when the GPU is free: "
            "`nvidia-smi` shows who uses it.",
            {}};
    return std::nullopt;
}

/// Seconds of a call of the reference that takes turns with another process of its own, as it did with the student's:
/// in the slowest round, because a process may be slow by chance.
double time_reference_beside_itself(StageRun& reference, const Pool& pool, std::uint32_t slots, int calls,
                                    const Effort& effort) {
    StageRun twin{reference.lab,    reference.stage,  reference.oracle, reference.backend,
                  reference.runner, reference.policy, reference.device, reference.host};
    const Progress quietly = [](const std::string&) {};
    Race race(twin, &reference, pool, slots, 77, effort);
    race.begin_round();
    race.warm_up(calls);
    take_samples(race, calls, effort, quietly);
    return race.broken() ? 0 : race.slowest_reference_event_s() / calls;
}

}  // namespace

Measured measure(StageRun& student, StageRun* reference, const Dataset& dataset, const Bandwidth& bandwidth,
                 const Effort& effort, const Baseline& cpu, const Progress& progress) {
    Measured measured;
    Measurement& m = measured.measurement;
    m.dataset = dataset.name;
    m.iterations = student.lab.benchmark.iterations;
    progress("making inputs");
    const Pool pool = make_pool(student, dataset);
    const int calls_wanted = count_calls(student, pool.shape(student.lab));
    const std::uint32_t slots = choose_slots(student, pool, calls_wanted, reference ? 2 : 1);
    const Problem shape = pool.shape(student.lab);
    m.transfer_s = measure_transfer(student, pool) * m.iterations / student.lab.benchmark.iterations_per_call;

    progress("warming up");
    std::random_device entropy;
    Race race(student, reference, pool, slots, (std::uint64_t{entropy()} << 32) | entropy(), effort);
    const double alone_s = reference ? race.time_reference_alone(static_cast<int>(slots)) : 0;
    race.begin_round();
    race.warm_up(calls_wanted);
    const int calls = race.affordable_calls(calls_wanted);
    take_samples(race, calls, effort, progress);
    set_bounds(m, student, shape, bandwidth, bandwidth_during(race.samples(), bandwidth),
               slots * static_cast<double>(Buffers::bytes_per_slot(shape, 0, 0)));
    if (race.reference && race.reference->failure) {
        measured.error = race.reference->failure;
        measured.error->message = "The reference solution failed while timed: " + measured.error->message;
        measured.error->cause = cause::internal;
        return measured;
    }
    measured.failure = race.student.failure;
    if (measured.failure) return measured;
    progress("checking timed outputs");
    const Substitute substitute{race.reference ? &*race.reference : nullptr,
                                cpu.openmp_s * student.oracle.cost(shape).iterations};
    if (effort.verify_s > 0)
        measured.failure = verify(student, pool, race.student.sightings(), effort.verify_s, substitute, entropy());
    if (measured.failure) return measured;
    fill_in(m, race, calls, calls_wanted);
    m.limit = limit_phrase(m);
    const double alongside_s = reference ? race.median_reference_event_s() / calls : 0;
    double usual_s = alone_s;
    if (alongside_s > suspicious_slowdown * usual_s) {  // or do two processes slow each other down, or the machine?
        student.end_session();
        reference->end_session();
        usual_s = std::max(usual_s, time_reference_beside_itself(*reference, pool, slots, calls, effort));
    }
    measured.error = find_implausible(m, usual_s, alongside_s);
    return measured;
}

namespace {

/// Median seconds of at least five runs within three seconds.
double time_on_cpu(const Oracle& oracle, Problem& problem, Execution how) {
    std::vector<double> times;
    const auto begin = Clock::now();
    oracle.reference(problem, how);  // touches memory, starts threads
    while (times.size() < 5 || (seconds_since(begin) < 1 && times.size() < 100)) {
        const auto start = Clock::now();
        oracle.reference(problem, how);
        times.push_back(seconds_since(start));
        if (seconds_since(begin) > 3 && times.size() >= 1) break;
    }
    return median(times);
}

Json read_cache(const std::filesystem::path& file) {
    std::ifstream stream(file);
    Json cache = stream ? Json::parse(stream, nullptr, false) : Json::object();
    return cache.is_object() ? cache : Json::object();
}

}  // namespace

Baseline measure_baseline(const Oracle& oracle, const Lab& lab, const Dataset& dataset,
                          const std::filesystem::path& cache, const std::string& key) {
    const std::string name = lab.name + "/" + dataset.name + "/" + key;
    const compilation::CacheLock alone(cache.parent_path());  // judges of other GPUs wait, and find it measured
    Json known = read_cache(cache);
    if (known.contains(name) && known[name].is_array() && known[name].size() == 3)
        return {known[name][0].get<double>(), known[name][1].get<double>(), known[name][2].get<int>()};
    Problem problem = oracle.generate(dataset, dataset.seed, 0);
    oracle.shorten(problem);
    const double iterations = oracle.cost(problem).iterations;
    Baseline baseline;
    baseline.openmp_s = time_on_cpu(oracle, problem, Execution::openmp) / iterations;
    baseline.threads = omp_get_max_threads();
    {
        const Pinned pinned(sched_getcpu());
        baseline.sequential_s = time_on_cpu(oracle, problem, Execution::sequential) / iterations;
    }
    known[name] = {baseline.sequential_s, baseline.openmp_s, baseline.threads};
    const std::filesystem::path fresh = cache.string() + ".new";
    std::ofstream(fresh) << known.dump(1) << "\n";
    std::filesystem::rename(fresh, cache);
    return baseline;
}

}  // namespace warplab
