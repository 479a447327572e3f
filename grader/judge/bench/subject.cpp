#include "grader/judge/bench/subject.h"

#include <algorithm>

#include "grader/judge/check/diagnose.h"
#include "grader/model/cause.h"
#include "grader/model/statistics.h"

namespace warplab::timing {

namespace {

constexpr std::size_t part_bytes = 64 << 10;        // the part of a slot's output that is read back at a time
constexpr std::size_t whole_bytes = 64 << 20;       // outputs up to this size are read back as a whole, once per sample
constexpr std::size_t max_kept_bytes = 2ull << 30;  // if output samples take more, no whole output is read back
constexpr int parts_per_command = 32;               // enough to detect an output that is wrong in one of ten calls

}  // namespace

Subject::Subject(StageRun& run, const Pool& pool, std::uint32_t slots, std::uint64_t seed)
    : run_(run),
      pool_(pool),
      shape_(pool.shape(run.lab)),
      random_(seed),
      poison_(Poison::draw(seed)),
      windows_(slots, std::vector<std::size_t>(run.lab.buffers.size(), 0)) {}

void Subject::start() {
    if (!failure) run_.runner_session();
}

void Subject::wait() {
    if (!failure) run_.runner_session().ask(make_request(protocol::Ask::hello), {}, 30);
}

void Subject::open() {
    if (failure || open_) return;
    failure = run_.wait_for_device().failure;
    if (!failure && !buffers_) allocate();
    if (!failure) failure = open_buffers(run_, shape_, *buffers_);
    open_ = true;
}

void Subject::end() {
    run_.end_session();
    open_ = false;
}

double Subject::time_calls(int calls, int sample) {
    event_s_ = wall_s_ = 0;
    double total_s = 0;
    for (int remaining = calls; remaining > 0 && !failure;) {
        const auto count = static_cast<std::uint32_t>(std::min<int>(remaining, static_cast<int>(buffers_->slots())));
        total_s += time_command(count);
        remaining -= static_cast<int>(count);
        if (!failure && sample >= 0) keep_parts(count, sample, remaining <= 0);
    }
    if (!failure && sample >= 0) check_guards();
    return total_s;
}

double Subject::time_calls_on(const std::vector<Problem>& calls) {
    if (failure) return 0;
    const auto count = static_cast<std::uint32_t>(calls.size());
    const auto staged = stage_inputs(calls);
    fill_slots([&] {
        buffers_->poison_all();
        for (std::uint32_t slot = 0; slot < count; ++slot)
            for (std::size_t i = 0; i < pool_.regions.size(); ++i)
                if (pool_.regions[i]) buffers_->copy_into(i, slot, *staged[slot][i], 0);
    });
    return time_filled_slots(count) / count;
}

Array Subject::outputs_for(const OutputSample& output_sample) {
    windows_[0] = output_sample.window;
    copy_inputs(0);
    run_.device.synchronise();
    failure = command(1).failure;
    return buffers_->read_part(output_sample.buffer, 0, output_sample.first, output_sample.found.count());
}

double Subject::median_gap_s() const { return gaps_.empty() ? 0 : median(gaps_); }

void Subject::allocate() {
    const Prepared prepared = prepare(run_, shape_);
    failure = prepared.failure;
    if (failure) return;
    const auto slots = static_cast<std::uint32_t>(windows_.size());
    buffers_.emplace(run_.device, run_.lab, shape_, prepared.scratch_bytes, slots, timed_guard_bytes, poison_);
}

Session::Reply Subject::command(std::uint32_t calls) {
    protocol::Request request = make_request(protocol::Ask::run, shape_.sizes, shape_.reals);
    request.calls = calls;
    request.timed = 1;
    request.host_bytes_limit = host_bytes_allowed(run_, shape_);
    return run_.runner_session().ask(request, {}, time_limit_s(run_, shape_) + 60);
}

double Subject::time_empty_commands() {
    std::vector<double> waits;
    for (int i = 0; i < 20 && !failure; ++i) {
        fill_slots([&] { move_inputs(1); });
        const Session::Reply reply = command(0);
        failure = reply.failure;
        waits.push_back(reply.wall_s);
    }
    return failure ? 0 : median(waits);
}

void Subject::move_inputs(std::uint32_t calls) {
    for (std::uint32_t slot = 0; slot < calls; ++slot) {
        for (std::size_t i = 0; i < pool_.regions.size(); ++i) {
            if (!pool_.regions[i]) continue;
            const std::size_t places = pool_.step ? pool_.extra / pool_.step : 0;
            const std::size_t first = places ? random_() % (places + 1) * pool_.step : 0;
            windows_[slot][i] = first;
        }
        copy_inputs(slot);
    }
}

void Subject::copy_inputs(std::uint32_t slot) {
    for (std::size_t i = 0; i < pool_.regions.size(); ++i)
        if (pool_.regions[i])
            buffers_->copy_into(i, slot, *pool_.regions[i],
                                windows_[slot][i] * element_bytes(pool_.problem.arrays[i].type()));
}

std::vector<std::vector<std::unique_ptr<Region>>> Subject::stage_inputs(const std::vector<Problem>& calls) const {
    std::vector<std::vector<std::unique_ptr<Region>>> staged(calls.size());
    for (std::size_t slot = 0; slot < calls.size(); ++slot) {
        staged[slot].resize(pool_.regions.size());
        for (std::size_t i = 0; i < pool_.regions.size(); ++i) {
            if (!pool_.regions[i]) continue;
            const Array& input = calls[slot].arrays[i];
            staged[slot][i] = run_.device.allocate(input.bytes());
            staged[slot][i]->write(0, input.data(), input.bytes());
        }
    }
    run_.device.synchronise();
    return staged;
}

void Subject::fill_slots(const std::function<void()>& fill) {
    pause();
    fill();
    resume();  // while the GPU copies, so that waking up takes none of the command's time
    run_.device.synchronise();
}

double Subject::time_command(std::uint32_t calls) {
    fill_slots([&] { move_inputs(calls); });
    return time_filled_slots(calls);
}

double Subject::time_filled_slots(std::uint32_t calls) {
    const Session::Reply reply = command(calls);
    failure = reply.failure;
    if (failure) return 0;
    if (reply.answer.host_bytes > host_bytes_allowed(run_, shape_) * calls)
        failure =
            Failure{cause::host_work, "During timing, the code copied more to the host than the stage allows.", "", {}};
    gaps_.push_back(reply.wall_s - reply.answer.event_s);
    event_s_ += reply.answer.event_s;
    wall_s_ += reply.wall_s;
    return std::max(reply.wall_s - gap_s, shortest_s);
}

void Subject::keep_parts(std::uint32_t calls, int sample, bool last) {
    for (std::size_t i = 0; i < run_.lab.buffers.size(); ++i) {
        if (run_.lab.buffers[i].role == Role::input) continue;
        // Start with the last call's outputs: work that continues after the reply is most likely still writing them.
        for (int k = 0; k < parts_per_command; ++k)
            keep_part(i, k == 0 ? calls - 1 : static_cast<std::uint32_t>(random_() % calls), part_bytes, sample);
        if (last && kept_bytes_ < max_kept_bytes)
            keep_part(i, static_cast<std::uint32_t>(random_() % calls), whole_bytes, sample);
    }
}

void Subject::keep_part(std::size_t buffer, std::uint32_t slot, std::size_t bytes, int sample) {
    const Array& shape = shape_.arrays[buffer];
    const std::size_t count = std::min(shape.count(), bytes / element_bytes(shape.type()));
    const std::size_t first = random_() % (shape.count() - count + 1);
    output_samples_.push_back({windows_[slot], buffer, first, buffers_->read_part(buffer, slot, first, count), sample});
    kept_bytes_ += count * element_bytes(shape.type());
}

void Subject::check_guards() {
    const auto violation = buffers_->find_guard_violation(static_cast<std::uint32_t>(random_() % buffers_->slots()));
    if (violation) failure = explain_guard_violation(run_.lab, *violation);
}

}  // namespace warplab::timing
