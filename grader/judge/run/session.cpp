#include "grader/judge/run/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "grader/io/channel.h"
#include "grader/judge/run/source_lines.h"
#include "grader/judge/sandbox/watchdog.h"

namespace warplab {
namespace {

constexpr double max_wait_s = 3600;  // longer than any limit
constexpr double cancellation_poll_s = 0.05;

struct Ends {
    Descriptor judge, runner;
};

/// Make a socket on which the runner cannot send, so that it cannot queue anything, such as descriptors, for the judge.
Ends make_request_socket() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        throw std::runtime_error(fmt::format("cannot create a socket pair: {}", std::strerror(errno)));
    Ends pair{Descriptor(ends[0]), Descriptor(ends[1])};
    const int room = 256 << 10;
    setsockopt(pair.judge.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (shutdown(pair.judge.get(), SHUT_RD) != 0)
        throw std::runtime_error(fmt::format("cannot close a socket for reading: {}", std::strerror(errno)));
    return pair;
}

Ends make_answer_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw std::runtime_error(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);  // the writer's end remains blocking
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Make the status page, which contains the orders for the runner.
Descriptor make_page_file(const protocol::Key& key, Sanitizer sanitizer, const trace::Order& trace) {
    const int file = memfd_create("warplab-status", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0 || ftruncate(file, sizeof(StatusPage)) != 0 ||
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        throw std::runtime_error(fmt::format("cannot create a memory file: {}", std::strerror(errno)));
    const Orders orders{{key.low, key.high}, sanitizer == Sanitizer::on, trace};
    if (pwrite(file, &orders, sizeof orders, 0) != sizeof orders)
        throw std::runtime_error(fmt::format("cannot write a memory file: {}", std::strerror(errno)));
    return Descriptor(file);
}

Process start_runner(const std::filesystem::path& runner, const Policy& policy, const std::vector<std::string>& prefix,
                     const std::vector<std::string>& environment, const std::vector<int>& descriptors) {
    std::vector<std::string> command = prefix;
    command.push_back(runner.string());
    return Process::start(command, policy, descriptors, environment);
}

}  // namespace

protocol::Key draw_key() {
    protocol::Key key{};
    if (getrandom(&key, sizeof key, 0) != sizeof key)
        throw std::runtime_error("cannot get random numbers from the system");
    return key;
}

protocol::Request make_request(protocol::Ask ask, const std::vector<std::int64_t>& sizes,
                               const std::vector<double>& reals) {
    protocol::Request request{};
    request.magic = protocol::magic;
    request.version = protocol::version;
    request.ask = ask;
    if (sizes.size() > protocol::max_sizes || reals.size() > protocol::max_reals)
        throw std::runtime_error("a lab may have at most 16 sizes and 256 parameters");
    std::copy(sizes.begin(), sizes.end(), request.sizes);
    std::copy(reals.begin(), reals.end(), request.reals);
    return request;
}

Session::Session(const std::filesystem::path& runner, const Policy& policy, const std::vector<std::string>& prefix,
                 const std::vector<std::string>& environment, Sanitizer sanitizer, const TraceFile& trace)
    : runner_(runner),
      policy_(policy),
      key_(draw_key()),
      page_file_(make_page_file(key_, sanitizer, trace.order)),
      process_([&] {
          Ends requests = make_request_socket(), answers = make_answer_pipe();
          requests_ = std::move(requests.judge);
          answers_ = std::move(answers.judge);
          std::vector<int> descriptors = {requests.runner.get(), page_file_.get(), answers.runner.get()};
          if (trace.descriptor >= 0) descriptors.push_back(trace.descriptor);
          return start_runner(runner, policy, prefix, environment, descriptors);
      }()) {
    page_ = static_cast<StatusPage*>(
        mmap(nullptr, sizeof(StatusPage), PROT_READ | PROT_WRITE, MAP_SHARED, page_file_.get(), 0));
    if (page_ == MAP_FAILED) throw std::runtime_error("cannot map the status page");
}

Session::~Session() {
    const Watchdog watchdog("closing a program's descriptors");
    requests_.reset();
    answers_.reset();
    if (page_) munmap(page_, sizeof(StatusPage));
}

StatusPage Session::status() const {
    StatusPage copy;
    std::memcpy(&copy, page_, sizeof copy);  // the runner may be writing: copy once, then inspect the copy
    return copy;
}

Session::Reply Session::ask(protocol::Request request, const std::vector<int>& descriptors, double limit_s,
                            const std::optional<Circumstances>& circumstances) {
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    // Progress is made within one grid: a host loop that launches kernels without end makes none.
    process_.restart_clock(limit_s, [this, last = grid_progress()]() mutable {
        const GridProgress before = std::exchange(last, grid_progress());
        return last.launches == before.launches && last.blocks != before.blocks;
    });
    if (request.ask == protocol::Ask::open) {
        buffer_bytes_ = 0;
        for (std::uint32_t i = 0; i < request.buffer_count; ++i) buffer_bytes_ += request.buffers[i].mapped_bytes;
    }
    const Inbox::Read before = inbox_.read(answers_.get(), request.ask);
    if (before == Inbox::Read::answer || before == Inbox::Read::violation)
        return violated(Violation::answered_before_asked);
    switch (
        protocol::send_request(requests_.get(), request, descriptors.data(), static_cast<int>(descriptors.size()))) {
        case protocol::SendResult::whole:
            break;
        case protocol::SendResult::refused:
            return violated(Violation::reads_no_requests);
        case protocol::SendResult::closed:
            return explain_ended_runner(limit_s, circumstances);
    }
    for (;;) {
        if (cancelled_ && *cancelled_) return explain_ended_runner(limit_s, circumstances);
        // The process's own clock ends the wait: it allows for time in which other processes starve the program.
        const Process::Event event = process_.wait_for(cancelled_ ? cancellation_poll_s : max_wait_s, answers_.get());
        if (event == Process::Event::readable) {
            const Inbox::Read read = inbox_.read(answers_.get(), request.ask);
            Reply reply{inbox_.answer(), std::nullopt, false, elapsed()};
            if (read == Inbox::Read::nothing) continue;
            if (read == Inbox::Read::closed) return explain_ended_runner(limit_s, circumstances);
            if (read == Inbox::Read::violation ||
                reply.answer.seal != protocol::seal_of(key_, ++answers_taken_, reply.answer))
                return violated(Violation::wrote_to_channel);
            if (!reply.answer.ok) reply.failure = explain_refusal(reply.answer, status(), circumstances);
            return reply;
        }
        if (event == Process::Event::ended) return explain_ended_runner(limit_s, circumstances);
    }
}

Session::GridProgress Session::grid_progress() const {
    const volatile StatusPage& page = *page_;
    return {page.launches, page.blocks_ended};
}

std::vector<RawFinding> Session::findings() {
    inbox_.read(answers_.get(), protocol::Ask::quit);
    return merge_findings(inbox_.findings(), status());
}

Session::Reply Session::violated(Violation violation) {
    kill();
    Reply reply;
    reply.failure = explain_violation(violation);
    return reply;
}

void Session::kill() {
    process_.kill();
    alive_ = false;
}

Session::Reply Session::explain_ended_runner(double limit_s, const std::optional<Circumstances>& circumstances) {
    alive_ = false;
    const bool timed_out = process_.running() && process_.wait_for(0.05) != Process::Event::ended;
    if (timed_out) process_.kill();
    Ended ended = process_.finish();
    if (timed_out) ended.how = End::timed_out;
    Reply reply;
    const StatusPage page = status();
    const std::string line = page.fault == 0 ? "" : source_line(page.program_counter);
    reply.failure = explain_end({ended, page, line, limit_s, policy_.limits, buffer_bytes_, circumstances});
    reply.judge_fault = may_be_judges_fault(*reply.failure);
    return reply;
}

Ended Session::finish() {
    if (alive_) {
        protocol::send_request(requests_.get(), make_request(protocol::Ask::quit));
        requests_.reset();
        alive_ = false;
    }
    return process_.finish();
}

std::string Session::source_line(std::uint64_t program_counter) const {
    if (program_counter == 0) return "";
    const auto places = find_source_lines(runner_, policy_, {program_counter});
    return places.empty() ? "" : places.begin()->second;
}

}  // namespace warplab
