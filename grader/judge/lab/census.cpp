#include "grader/judge/lab/census.h"

#include <algorithm>

namespace warplab {
namespace {

/// Return the end of the elements from `begin` on that are all used `times` times; nothing if no time is left.
std::optional<std::size_t> find_end(const Census& census, std::size_t begin, std::uint64_t times) {
    std::size_t right = begin + 1, wrong = census.n + 1, step = 1;
    while (right < census.n && wrong > census.n) {
        const std::size_t next = std::min(census.n, right + step);
        const std::optional<bool> is_right = census.is_right({begin, next, times});
        if (!is_right) return std::nullopt;
        (*is_right ? right : wrong) = next;
        step *= 4;
    }
    while (wrong <= census.n && wrong - right > 1) {
        const std::size_t middle = right + (wrong - right) / 2;
        const std::optional<bool> is_right = census.is_right({begin, middle, times});
        if (!is_right) return std::nullopt;
        (*is_right ? right : wrong) = middle;
    }
    return right;
}

std::string times_words(std::uint64_t times) {
    return times == 0 ? "not at all" : times == 1 ? "once" : format_count(times) + " times";
}

/// Return the number of elements after which the runs repeat; 0 if they do not.
std::size_t find_period(const std::vector<Used>& runs) {
    for (std::size_t k = 1; 2 * k < runs.size(); ++k) {
        const std::size_t period = runs[k].begin;
        const auto repeats = [&](std::size_t i) {
            const Used &first = runs[i], &second = runs[i + k];
            const bool same_end = i + k + 1 == runs.size() || second.end == first.end + period;
            return second.times == first.times && second.begin == first.begin + period && same_end;
        };
        bool all = true;
        for (std::size_t i = 0; i + k < runs.size(); ++i) all = all && repeats(i);
        if (all) return period;
    }
    return 0;
}

}  // namespace

std::vector<Used> take_census(const Census& census, std::size_t max_runs) {
    std::vector<Used> runs;
    for (std::size_t begin = 0; begin < census.n && runs.size() < max_runs;) {
        const std::optional<std::uint64_t> times = census.times(begin);
        if (!times) break;
        const std::optional<std::size_t> end = find_end(census, begin, *times);
        if (!end) break;
        runs.push_back({begin, *end, *times});
        begin = *end;
    }
    return runs;
}

std::string describe_census(const std::vector<Used>& runs, std::size_t n, const std::string& element,
                            const Nouns& nouns) {
    if (std::ranges::all_of(runs, [](const Used& run) { return run.times == 1; })) return "";
    const std::size_t period = find_period(runs);
    std::string text;
    bool plural = false;
    for (const Used& run : runs) {
        if (period && run.begin >= period) break;
        plural = run.end - run.begin > 1;
        const std::string numbers = !plural          ? sentence("{} {}", element, run.begin)
                                    : run.end == n   ? sentence("{} from {} on", nouns.elements, run.begin)
                                                     : sentence("{} {} to {}", nouns.elements, run.begin, run.end - 1);
        text += text.empty() ? sentence("{} {} {} ", numbers, std::string(plural ? "are" : "is"), nouns.done)
                             : sentence(", {} ", numbers);
        text += times_words(run.times);
    }
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    if (period) return text + sentence(". So it goes on in every {} {}.", period, nouns.elements);
    return text + (runs.back().end < n ? ", and so on." : ".");
}

}  // namespace warplab
