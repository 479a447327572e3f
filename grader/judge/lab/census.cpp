#include "grader/judge/lab/census.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "grader/model/recipe.h"

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
    constexpr const char* words[] = {"not at all", "once",      "twice",       "three times", "four times",
                                     "five times", "six times", "seven times", "eight times", "nine times"};
    return times < std::size(words) ? words[times] : format_count(times) + " times";
}

/// Return the number of elements after which the runs repeat; 0 if they do not.
std::size_t find_period(const std::vector<ElementRun>& runs) {
    for (std::size_t k = 1; 2 * k <= runs.size(); ++k) {
        const std::size_t period = runs[k].begin;
        const auto repeats = [&](std::size_t i) {
            const ElementRun &first = runs[i], &second = runs[i + k];
            const bool same_end = i + k + 1 == runs.size() || second.end == first.end + period;
            return second.times == first.times && second.begin == first.begin + period && same_end;
        };
        bool all = true;
        for (std::size_t i = 0; i + k < runs.size(); ++i) all = all && repeats(i);
        if (all) return period;
    }
    return 0;
}

std::uint32_t count_at(const Array& bins, std::size_t bin) {
    return bins.type() == ElementType::uint8 ? bins.as<std::uint8_t>()[bin] : bins.as<std::uint32_t>()[bin];
}

class CountExperiments {
  public:
    CountExperiments(const Histogram& histogram, const Problem& problem, const Experiment& call)
        : histogram_(histogram), problem_(problem), call_(call) {
        for (std::size_t k = 0; k < problem_.arrays.size(); ++k)
            problem_.arrays[k] = Array(problem_.arrays[k].type(), problem_.arrays[k].count());
        for (std::size_t i = 0; i < histogram.n; ++i) zeros_.insert(histogram.bin(i, 0));
    }

    std::string describe(const Nouns& nouns) {
        const auto bins = count({0, 0, 0});
        if (!bins) return "";
        for (std::size_t b = 0; b < bins->count(); ++b)
            if (count_at(*bins, b) != 0 && !zeros_.contains(b))
                return describe_equal().value_or(sentence("If every {} is 0, {} is {}, and not 0.", histogram_.element,
                                                          histogram_.name(b), std::to_string(count_at(*bins, b))));
        constexpr std::size_t max_runs = 9;
        const Census census{histogram_.n, [this](std::size_t i) { return times(i); },
                            [this](const ElementRun& run) { return is_right(run); }};
        const std::string text =
            describe_census(take_census(census, max_runs), histogram_.n, histogram_.element, nouns);
        return text.empty() || other_.empty() ? text + other_ : text + " " + other_;
    }

  private:
    std::uint32_t value_of(std::size_t i) const {
        return 1 + static_cast<std::uint32_t>(random_bits(1, 3, i) % (histogram_.values - 1));
    }

    std::optional<Array> count(const ElementRun& run) {
        for (std::size_t i = run.begin; i < run.end; ++i) histogram_.set(problem_, i, value_of(i));
        const auto outputs = call_(problem_);
        for (std::size_t i = run.begin; i < run.end; ++i) histogram_.set(problem_, i, 0);
        if (!outputs) return std::nullopt;
        return (*outputs)[histogram_.output];
    }

    /// Return in which two or three bins equal elements are counted; nothing if these are others, or if counts are
    /// capped.
    std::optional<std::string> describe_equal() {
        constexpr std::uint32_t value = 2;
        constexpr std::size_t max_bins = 3;
        if (histogram_.cap <= histogram_.n || histogram_.values <= value) return std::nullopt;
        for (std::size_t i = 0; i < histogram_.n; ++i) histogram_.set(problem_, i, value);
        const auto outputs = call_(problem_);
        for (std::size_t i = 0; i < histogram_.n; ++i) histogram_.set(problem_, i, 0);
        if (!outputs) return std::nullopt;
        const Array& bins = (*outputs)[histogram_.output];
        std::vector<std::string> counted;
        std::uint64_t total = 0;
        for (std::size_t b = 0; b < bins.count() && counted.size() <= max_bins; ++b) {
            const std::uint32_t count = count_at(bins, b);
            total += count;
            if (count != 0) counted.push_back(sentence("{} is {}", histogram_.name(b), count));
        }
        if (counted.size() < 2 || counted.size() > max_bins || total != histogram_.n) return std::nullopt;
        return sentence("If each of the {} {}s is {}, {}.", histogram_.n, histogram_.element, value,
                        fmt::format("{}", fmt::join(counted, " and ")));
    }

    std::optional<bool> is_right(const ElementRun& run) {
        const auto bins = count(run);
        if (!bins) return std::nullopt;
        std::map<std::size_t, std::uint64_t> right;
        for (std::size_t i = run.begin; i < run.end; ++i) right[histogram_.bin(i, value_of(i))] += run.times;
        return std::ranges::all_of(right, [&](const auto& bin) {
            return std::min<std::uint64_t>(bin.second, histogram_.cap) ==
                   std::min(count_at(*bins, bin.first), histogram_.cap);
        });
    }

    /// Return how often an element is counted in its bin; nothing if it changes another bin.
    std::optional<std::uint64_t> times(std::size_t i) {
        const auto bins = count({i, i + 1, 1});
        if (!bins) return std::nullopt;
        const std::size_t own_bin = histogram_.bin(i, value_of(i));
        for (std::size_t b = 0; b < bins->count(); ++b)
            if (b != own_bin && count_at(*bins, b) != 0 && !zeros_.contains(b)) {
                other_ = sentence("If only {} {} is {} and all others are 0, {} is {}, and {} is {}.",
                                  histogram_.element, i, std::to_string(value_of(i)), histogram_.name(own_bin),
                                  std::to_string(count_at(*bins, own_bin)), histogram_.name(b),
                                  std::to_string(count_at(*bins, b)));
                return std::nullopt;
            }
        const std::uint32_t found = count_at(*bins, own_bin);
        if (found < histogram_.cap) return found;
        other_ = sentence("If only {} {} is {} and all others are 0, {} is {}, and not 1.", histogram_.element, i,
                          std::to_string(value_of(i)), histogram_.name(own_bin), std::to_string(found));
        return std::nullopt;
    }

    const Histogram& histogram_;
    Problem problem_;
    const Experiment& call_;
    std::set<std::size_t> zeros_;  // the bins of elements that are 0
    std::string other_;  // a sentence on an element that changes another bin, or is counted too often for the cap
};

}  // namespace

std::vector<ElementRun> take_census(const Census& census, std::size_t max_runs) {
    std::vector<ElementRun> runs;
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

std::string describe_census(const std::vector<ElementRun>& runs, std::size_t n, const std::string& element,
                            const Nouns& nouns) {
    if (std::ranges::all_of(runs, [](const ElementRun& run) { return run.times == 1; })) return "";
    const std::size_t period = find_period(runs);
    constexpr std::size_t max_named = 6;
    std::string text;
    std::size_t named = 0;
    for (const ElementRun& run : runs) {
        if ((period && run.begin >= period) || named == max_named) break;
        ++named;
        const bool plural = run.end - run.begin > 1;
        const std::string numbers = !plural        ? sentence("{} {}", element, run.begin)
                                    : run.end == n ? sentence("{} from {} on", nouns.elements, run.begin)
                                                   : sentence("{} {} to {}", nouns.elements, run.begin, run.end - 1);
        text += text.empty() ? sentence("{} {} {} ", numbers, std::string(plural ? "are" : "is"), nouns.done)
                             : sentence(", {} ", numbers);
        text += times_words(run.times);
    }
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    if (period) return text + sentence("; likewise in each group of {} {}.", period, nouns.elements);
    return text + (runs[named - 1].end < n ? ", and so on." : ".");
}

std::string investigate_counts(const Histogram& histogram, const Nouns& nouns, const Problem& problem,
                               const Experiment& call) {
    return histogram.n == 0 ? "" : CountExperiments(histogram, problem, call).describe(nouns);
}

}  // namespace warplab
