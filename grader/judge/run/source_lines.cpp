#include "grader/judge/run/source_lines.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

namespace warplab {

std::map<std::uint64_t, std::string> find_source_lines(const std::filesystem::path& runner, Policy policy,
                                                       const std::vector<std::uint64_t>& program_counters) {
    std::vector<std::string> command = {"addr2line", "-a", "-i", "-s", "-e", runner.string()};
    for (const std::uint64_t counter : program_counters) command.push_back(fmt::format("{:#x}", counter));
    policy.gpu = false;
    policy.limits.wall_s = 10;
    const Ended ended = run_to_end(command, policy);
    std::map<std::uint64_t, std::string> places;
    if (ended.how != End::exited || ended.status != 0) return places;
    std::uint64_t counter = 0;
    std::stringstream stream(ended.output);
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with("0x"))
            counter = std::strtoull(line.c_str(), nullptr, 16);
        else if (line.find(".cu:") != std::string::npos)
            places.try_emplace(counter, line.substr(0, line.find(' ')));
    }
    return places;
}

}  // namespace warplab
