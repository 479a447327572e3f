#include "grader/judge/run/source_lines.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>
#include <string_view>

namespace warplab {

std::string place_in(const std::string& line) {
    constexpr std::string_view ending = ".cu:";
    const std::size_t at = line.rfind(ending);
    if (at == std::string::npos) return "";
    const std::size_t end = line.find_first_not_of("0123456789", at + ending.size());
    return line.substr(0, end);
}

std::map<std::uint64_t, std::string> find_source_lines(const std::filesystem::path& runner, Policy policy,
                                                       const std::vector<std::uint64_t>& program_counters) {
    std::vector<std::string> command = {"addr2line", "-a", "-i", "-s", "-e", runner.string()};
    for (const std::uint64_t counter : program_counters) command.push_back(fmt::format("{:#x}", counter));
    policy.activity = Activity::compile;
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
        else if (const std::string place = place_in(line); !place.empty())
            places.try_emplace(counter, place);
    }
    return places;
}

}  // namespace warplab
