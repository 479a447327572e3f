#include "grader/judge/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "grader/core/cause.h"
#include "grader/io/channel.h"
#include "grader/judge/source_lines.h"

namespace warplab {
namespace {

constexpr int cuda_check_failed = 90, channel_closed = 91;  // exit statuses, set in grader/runner
constexpr std::uint64_t much_memory_bytes = 512 << 20;      // beside the buffers, of a program that does not end
constexpr auto leave_alone = "Leave file descriptors 3 and 4 alone.";
constexpr auto memory_hint =
    "Is memory allocated in a loop and never freed? Is a size negative, or computed with an overflow?";

struct Pipes {
    Descriptor judge_end, runner_end;
};

Pipes make_channel() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        throw std::runtime_error(fmt::format("cannot make a socket pair: {}", std::strerror(errno)));
    const int room = 256 << 10;
    for (int end : ends) setsockopt(end, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Descriptor make_page_file() {
    const int file = memfd_create("warplab-status", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0 || ftruncate(file, sizeof(StatusPage)) != 0 ||
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        throw std::runtime_error(fmt::format("cannot make a memory file: {}", std::strerror(errno)));
    return Descriptor(file);
}

Process start_runner(const std::filesystem::path& runner, const Policy& policy, const std::vector<std::string>& prefix,
                     const std::vector<std::string>& environment, int channel, int page_file) {
    std::vector<std::string> command = prefix;
    command.push_back(runner.string());
    return Process::start(command, policy, {channel, page_file}, environment);
}

/// Text that an untrusted process wrote: printable, of bounded length.
std::string clean(const char* text, std::size_t room) {
    std::string words(text, strnlen(text, room));
    for (char& c : words)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return words;
}

/// Of the same kind at the same places.
bool is_same(const Finding& a, const Finding& b) {
    return a.kind == b.kind && a.now.program_counter == b.now.program_counter &&
           a.before.program_counter == b.before.program_counter && a.line == b.line;
}

std::string triple(const std::uint32_t (&v)[3]) { return fmt::format("({},{},{})", v[0], v[1], v[2]); }

std::string where_it_was(const StatusPage& page) {
    const std::string kernel = clean(page.kernel, sizeof page.kernel);
    if (kernel.empty()) return "before any kernel was launched";
    const std::string line = page.launch_line > 0 ? fmt::format(" (launched at line {})", page.launch_line) : "";
    return page.in_kernel ? fmt::format("in kernel {}{}", kernel, line)
                          : fmt::format("after kernel {}{} was launched", kernel, line);
}

/// What the backend noted about the last mistake, as the end of a sentence.
std::string noted(const StatusPage& page) {
    const std::string detail = clean(page.detail, sizeof page.detail);
    return detail.empty() ? "" : ": " + detail;
}

std::string last_line(const std::string& text) {
    const auto end = text.find_last_not_of("\n\r ");
    if (end == std::string::npos) return "";
    const auto begin = text.find_last_of('\n', end);
    return text.substr(begin == std::string::npos ? 0 : begin + 1,
                       end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

/// "std::runtime_error (oh no)" of what the C++ library printed last; "" when it was no exception.
std::string uncaught_exception(const std::string& output) {
    const std::string opening = "terminate called after throwing an instance of '";
    const std::size_t at = output.rfind(opening);
    if (at == std::string::npos) return "";
    const std::size_t begin = at + opening.size(), end = output.find('\'', begin);
    const std::string type = clean(output.substr(begin, end - begin).c_str(), 100);
    const std::size_t what = output.find("what():", begin);
    if (what == std::string::npos) return type;
    const std::size_t words = output.find_first_not_of(' ', what + 7);
    if (words == std::string::npos) return type;
    return fmt::format("{} ({})", type, clean(output.substr(words, output.find('\n', words) - words).c_str(), 200));
}

Failure not_caught(const std::string& exception, const std::string& place) {
    return {cause::crash,
            fmt::format("The exception {} was thrown and not caught, {}.", exception, place),
            "Catch it in the contract function, or see to it that it is not thrown.",
            {}};
}

const char* hint_for_segmentation(bool in_kernel, const std::string& detail) {
    if (!in_kernel) return "Host code must not use a device pointer, and must not run past its own arrays.";
    if (detail.find("not aligned") != std::string::npos)
        return "A pointer to float lies at a multiple of 4 bytes: cast it to float4* only where that is one of 16, "
               "too.";
    return "Is the index checked against the size before it is used?";
}

std::string signal_words(int signal) {
    switch (signal) {
        case SIGSEGV:
            return "segmentation fault (an address that does not exist)";
        case SIGBUS:
            return "bus error (an address that does not exist)";
        case SIGFPE:
            return "arithmetic fault (an integer divided by zero)";
        case SIGABRT:
            return "abort (an assertion failed, or the heap is damaged)";
        case SIGILL:
            return "illegal instruction (often a function that must return a value and does not)";
        case SIGKILL:
            return "killed (often because memory ran out)";
        case SIGXFSZ:
            return "a file it wrote grew too large";
        default:
            return strsignal(signal);
    }
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
}
Descriptor::~Descriptor() { reset(); }
void Descriptor::reset() {
    if (number_ >= 0) close(number_);
    number_ = -1;
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
                 const std::vector<std::string>& environment)
    : runner_(runner), policy_(policy), page_file_(make_page_file()), process_([&] {
          Pipes channel = make_channel();
          channel_ = std::move(channel.judge_end);
          return start_runner(runner, policy, prefix, environment, channel.runner_end.get(), page_file_.get());
      }()) {
    page_ = static_cast<StatusPage*>(
        mmap(nullptr, sizeof(StatusPage), PROT_READ | PROT_WRITE, MAP_SHARED, page_file_.get(), 0));
    if (page_ == MAP_FAILED) throw std::runtime_error("cannot map the status page");
}

Session::~Session() {
    if (page_) munmap(page_, sizeof(StatusPage));
}

StatusPage Session::status() const {
    StatusPage copy;
    std::memcpy(&copy, page_, sizeof copy);  // the runner may be writing: read once, then look
    return copy;
}

Session::Reply Session::ask(protocol::Request request, const std::vector<int>& descriptors, double limit_s) {
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    process_.restart_clock(limit_s);
    if (request.ask == protocol::Ask::open) {
        buffer_bytes_ = 0;
        for (std::uint32_t i = 0; i < request.buffer_count; ++i) buffer_bytes_ += request.buffers[i].mapped_bytes;
    }
    if (!take_findings() || has_unasked_answer()) return lied("The program answered before it was asked.");
    if (!protocol::send_packet(channel_.get(), request, descriptors.data(), static_cast<int>(descriptors.size())))
        return died(limit_s);
    for (;;) {
        const Process::Event event = process_.wait_for(limit_s - elapsed(), channel_.get());
        if (event == Process::Event::readable) {
            if (!take_findings()) return lied("The program wrote to the grader's own channel.");
            Reply reply;
            int extra = 0;
            const auto got = protocol::receive_packet(channel_.get(), reply.answer, nullptr, 0, extra, MSG_DONTWAIT);
            reply.wall_s = elapsed();
            if (got == protocol::Received::nothing) continue;
            if (got == protocol::Received::closed) return died(limit_s - elapsed());
            const protocol::Answer& answer = reply.answer;
            if (got == protocol::Received::malformed || answer.magic != protocol::magic ||
                answer.version != protocol::version || answer.ask != request.ask || !std::isfinite(answer.event_s) ||
                answer.event_s < 0)
                return lied("The program wrote to the grader's own channel.");
            if (answer.ok) return reply;
            const StatusPage page = status();
            const std::string words = clean(answer.message, sizeof answer.message);
            const std::string detail = clean(page.detail, sizeof page.detail);
            reply.failure = Failure{cause::cuda_error,
                                    detail.empty() ? fmt::format("CUDA error {} ({})", words, where_it_was(page))
                                                   : fmt::format("CUDA error {}: {}", words, detail),
                                    "",
                                    {}};
            return reply;
        }
        if (event == Process::Event::ended || elapsed() >= limit_s) return died(limit_s);
    }
}

std::vector<Finding> Session::findings() {
    take_findings();
    const StatusPage page = status();
    std::vector<Finding> all = findings_;
    for (std::uint32_t i = 0; i < std::min(page.finding_count, most_findings); ++i) {
        const Finding& now = page.findings[i];
        if (i >= all.size())
            all.push_back(now);
        else if (is_same(all[i], now))
            all[i].count = std::max(all[i].count, now.count);
    }
    return all;
}

/// Takes the findings that lie in the channel before an answer; false when there are more than check mode makes.
bool Session::take_findings() {
    static_assert(sizeof(Finding) != sizeof(protocol::Answer), "they are told apart by their size");
    char byte;
    while (recv(channel_.get(), &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT | MSG_TRUNC) == sizeof(Finding)) {
        Finding finding;
        int extra = 0;
        if (findings_.size() >= most_findings) return false;
        if (protocol::receive_packet(channel_.get(), finding, nullptr, 0, extra, MSG_DONTWAIT) !=
            protocol::Received::packet)
            return false;
        findings_.push_back(finding);
    }
    return true;
}

bool Session::has_unasked_answer() const {
    char byte;
    return recv(channel_.get(), &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) > 0;
}

Session::Reply Session::lied(const std::string& what) {
    kill();
    Reply reply;
    reply.failure = Failure{cause::protocol, what, leave_alone, {}};
    return reply;
}

void Session::kill() {
    process_.kill();
    alive_ = false;
}

Session::Reply Session::died(double limit_s) {
    alive_ = false;
    const bool timed_out = process_.running() && process_.wait_for(0.05) != Process::Event::ended;
    if (timed_out) process_.kill();
    Ended ended = process_.finish();
    if (timed_out) ended.how = End::timed_out;
    Reply reply;
    reply.failure = explain_end(ended, limit_s);
    reply.ours = reply.failure->cause == cause::internal || reply.failure->cause == cause::sandbox;
    return reply;
}

Ended Session::finish() {
    if (alive_) {
        protocol::send_packet(channel_.get(), make_request(protocol::Ask::quit));
        channel_.reset();
        alive_ = false;
    }
    return process_.finish();
}

Failure Session::explain_end(const Ended& ended, double limit_s) const {
    const StatusPage page = status();
    const bool stopped = ended.how == End::timed_out || ended.how == End::flooded;
    const bool null_used = page.fault == static_cast<std::uint32_t>(Fault::segmentation) && page.address < 4096;
    const bool no_memory =
        ended.how == End::out_of_memory && (null_used || page.fault == static_cast<std::uint32_t>(Fault::aborted));
    if (page.fault != 0 && !stopped && !no_memory) return explain_fault(page, ended);
    const bool student_ran = page.phase >= static_cast<std::uint32_t>(Phase::prepare);
    if (ended.status == cuda_check_failed && (ended.how == End::exited || ended.how == End::out_of_memory)) {
        const std::string words = clean(last_line(ended.output).c_str(), 500);
        return {ended.how == End::out_of_memory ? cause::out_of_memory : cause::cuda_error,
                words + noted(page),
                words.find("cudaErrorMemoryAllocation") == std::string::npos ? "" : memory_hint,
                {}};
    }
    switch (ended.how) {
        case End::not_started:
            return {cause::sandbox, "The program could not be started: " + ended.why, "", {}};
        case End::out_of_memory:
            return {cause::out_of_memory,
                    fmt::format("The program wanted more memory than it may have ({} MB), {}.",
                                policy_.limits.memory_bytes >> 20, where_in_file(page)),
                    memory_hint,
                    {}};
        case End::flooded:
            return {cause::too_much_output,
                    fmt::format("The program printed more than {} MB, {}.", policy_.limits.flood_bytes >> 20,
                                where_it_was(page)),
                    "Remove the printing, or let one thread print: if (i == 0) printf(...).",
                    {}};
        case End::timed_out:
            if (ended.peak_rss_bytes > 2 * buffer_bytes_ + much_memory_bytes)
                return {cause::out_of_memory,
                        fmt::format("The program took {} MB of memory in {:.0f} s and did not end, {}.",
                                    ended.peak_rss_bytes >> 20, limit_s, where_it_was(page)),
                        memory_hint,
                        {}};
            return {cause::timeout,
                    fmt::format("No answer after {:.0f} s, {}{}.", limit_s, where_it_was(page), noted(page)),
                    "Does every loop end? Look for a counter that does not move, or a stride of 0.",
                    {}};
        case End::signaled:
            if (const std::string exception = uncaught_exception(ended.output); !exception.empty())
                return not_caught(exception, where_it_was(page));
            return {cause::crash,
                    fmt::format("The program ended by {}, {}.", signal_words(ended.status), where_it_was(page)),
                    "",
                    {}};
        case End::exited:
            break;
    }
    if (ended.status == channel_closed)
        return {cause::protocol, "The program closed the grader's own channel.", leave_alone, {}};
    if (ended.status == 2 && !student_ran)
        return {cause::internal, "The runner could not start: " + clean(last_line(ended.output).c_str(), 300), "", {}};
    return {cause::exited,
            fmt::format("The program ended with exit status {} in the middle of the call, {}.", ended.status,
                        where_it_was(page)),
            "The contract function must return; it must not call exit().",
            {}};
}

/// "at file.cu:31, in kernel k (launched at line 40), block (1,0,0), thread (3,0,0)", as far as it is known.
std::string Session::where_in_file(const StatusPage& page) const {
    std::string place = where_it_was(page);
    if (page.in_kernel && page.fault != 0 && page.fault != static_cast<std::uint32_t>(Fault::deadlock))
        place += fmt::format(", block {}, thread {}", triple(page.block), triple(page.thread));
    const std::string line = page.fault == 0 ? "" : source_line(page.program_counter);
    return line.empty() ? place : fmt::format("at {}, {}", line, place);
}

Failure Session::explain_fault(const StatusPage& page, const Ended& ended) const {
    const std::string place = where_in_file(page);
    const std::string detail = clean(page.detail, sizeof page.detail);
    switch (static_cast<Fault>(page.fault)) {
        case Fault::segmentation:
            return {
                cause::crash,
                fmt::format("Segmentation fault {}: {}.", place,
                            detail.empty() ? fmt::format("address {:#x} belongs to no buffer", page.address) : detail),
                hint_for_segmentation(page.in_kernel, detail),
                {}};
        case Fault::stack_overflow:
            return {cause::crash,
                    fmt::format("The stack overflowed {}.", place),
                    "Look for endless recursion or a very large local array.",
                    {}};
        case Fault::deadlock:
            return {cause::deadlock,
                    fmt::format("Deadlock {}: {}", place,
                                detail.empty() ? "threads wait at a barrier that others never reach." : detail),
                    "Every thread of the block must reach the same __syncthreads(): move it out of the if.",
                    {}};
        case Fault::illegal_address:
            return {cause::cuda_error, fmt::format("Wrong pointer {}: {}", place, detail), "", {}};
        case Fault::arithmetic:
            return {cause::crash,
                    fmt::format("An integer was divided by zero {}.", place),
                    "Which size can be 0 there? Test the divisor before the division.",
                    {}};
        case Fault::exited:
            return {cause::exited,
                    fmt::format("The program called {} {}.", detail.empty() ? "exit()" : detail, place),
                    "The contract function must return; it must not end the program.",
                    {}};
        case Fault::host_limit:
            return {cause::host_work,
                    fmt::format("Too much was copied to the host: {}", detail),
                    "The work belongs on the device; only what the stage allows may come back.",
                    {}};
        case Fault::aborted:
        case Fault::none:
            break;
    }
    if (const std::string exception = uncaught_exception(ended.output); !exception.empty())
        return not_caught(exception, place);
    return {cause::crash,
            fmt::format("The program aborted {}{}.", place, detail.empty() ? "" : ": " + detail),
            "An assert(), abort() or the C library ended it: DATASET=NAME shows what it printed before.",
            {}};
}

std::string Session::source_line(std::uint64_t program_counter) const {
    if (program_counter == 0) return "";
    const auto places = find_source_lines(runner_, policy_, {program_counter});
    return places.empty() ? "" : clean(places.begin()->second.c_str(), 200);
}

}  // namespace warplab
