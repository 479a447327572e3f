#include "grader/judge/lab/taps.h"

#include <algorithm>
#include <cmath>

#include "grader/judge/lab/explain.h"
#include "grader/model/recipe.h"

namespace warplab {
namespace {

double real_at(const Array& array, std::size_t i) {
    return array.type() == ElementType::float32 ? static_cast<double>(array.as<float>()[i]) : array.as<double>()[i];
}

void set_real(Array& array, std::size_t i, double value) {
    if (array.type() == ElementType::float32)
        array.as<float>()[i] = static_cast<float>(value);
    else
        array.as<double>()[i] = value;
}

/// Return the value of a term in experiments: from 1 to 2, and a multiple of 2^-8, which a float represents exactly.
double value_of(std::size_t term) { return 1 + static_cast<double>(random_bits(1, 3, term) % 256) / 256; }

struct Terms {
    std::size_t begin, end;
};

class TapExperiments {
  public:
    TapExperiments(WeightedSum& sum, const Experiment& call) : sum_(sum), call_(call) {
        for (const std::size_t buffer : sum.inputs) {
            Array& array = sum_.problem.arrays[buffer];
            array = Array(array.type(), array.count());
            count_ += array.count();
        }
        for (std::size_t i = 0; i < sum.problem.arrays.size(); ++i)
            if (i >= sum.output) sum_.problem.arrays[i] = sum_.problem.arrays[i].clone();
    }

    std::optional<Taps> find(std::size_t max_wrong) {
        Taps taps;
        const std::optional<double> constant = actual({0, 0});
        if (!constant) return std::nullopt;
        taps.constant = constant_ = *constant;
        if (!std::isfinite(constant_)) return taps;
        std::vector<Terms> left{{0, count_}};
        while (!left.empty() && taps.wrong.size() < max_wrong) {
            const Terms terms = left.back();
            left.pop_back();
            const std::optional<double> output = actual(terms);
            if (!output) return taps;
            const double right = expected(terms), error = *output - constant_ - right;
            constexpr double rounding = 2e-5;
            if (std::abs(error) <= rounding * std::max(1.0, std::abs(right))) continue;
            if (terms.end - terms.begin == 1) {
                const auto [buffer, index] = place_of(terms.begin);
                taps.wrong.push_back(
                    {buffer, index, (*output - constant_) / value_of(terms.begin), right / value_of(terms.begin)});
                continue;
            }
            const std::size_t middle = terms.begin + (terms.end - terms.begin) / 2;
            left.push_back({middle, terms.end});
            left.push_back({terms.begin, middle});
        }
        taps.complete = left.empty();
        return taps;
    }

  private:
    std::pair<std::size_t, std::size_t> place_of(std::size_t term) const {
        for (const std::size_t buffer : sum_.inputs) {
            const std::size_t count = sum_.problem.arrays[buffer].count();
            if (term < count) return {buffer, term};
            term -= count;
        }
        return {};
    }

    void set(const Terms& terms, bool to_zero) {
        for (std::size_t i = terms.begin; i < terms.end; ++i) {
            const auto [buffer, index] = place_of(i);
            set_real(sum_.problem.arrays[buffer], index, to_zero ? 0 : value_of(i));
        }
    }

    std::optional<double> actual(const Terms& terms) {
        set(terms, false);
        const auto outputs = call_(sum_.problem);
        set(terms, true);
        if (!outputs) return std::nullopt;
        return real_at((*outputs)[sum_.output], sum_.index);
    }

    double expected(const Terms& terms) {
        set(terms, false);
        sum_.oracle.reference(sum_.problem, Execution::sequential);
        set(terms, true);
        return real_at(sum_.problem.arrays[sum_.output], sum_.index);
    }

    WeightedSum& sum_;
    const Experiment& call_;
    std::size_t count_ = 0;
    double constant_ = 0;
};

/// Lines [begin, end), all of them wrong.
struct Run {
    std::size_t begin, end;
    std::size_t count() const { return end - begin; }
};

std::vector<Run> find_runs(const std::vector<bool>& wrong) {
    std::vector<Run> runs;
    for (std::size_t i = 0; i < wrong.size(); ++i) {
        if (!wrong[i]) continue;
        if (i == 0 || !wrong[i - 1]) runs.push_back({i, i});
        runs.back().end = i + 1;
    }
    return runs;
}

bool repeats(const std::vector<bool>& wrong, std::size_t period) {
    for (std::size_t i = period; i < wrong.size(); ++i)
        if (wrong[i] != wrong[i - period]) return false;
    return true;
}

/// Return "the first and the last", or "the first 3 and the last 3".
std::string name_edges(std::size_t count) {
    return count == 1 ? "the first and the last" : sentence("the first {} and the last {}", count, count);
}

/// Return a text such as "the second of every 4 rows" for runs that repeat; empty if they do not.
std::string describe_repeated(const std::vector<bool>& wrong, const std::vector<Run>& runs, const std::string& line) {
    const Run first = runs[0], second = runs[1];
    const std::size_t period = second.begin - first.begin;
    if (repeats(wrong, period))
        return sentence("{} of every {} {}s", name_numbers(first.begin, first.count()), period, line);
    // Tiles whose edges are wrong: the last lines of a tile and the first ones of the next are one run.
    const std::size_t tile = second.begin + first.end;
    if (first.begin > 0 || second.count() != 2 * first.end || !repeats(wrong, tile)) return "";
    return sentence("{} of every {} {}s", name_edges(first.end), tile, line);
}

/// Return the numbers of the lines: "0, 7 and 9".
std::string list_lines(const std::vector<Run>& runs, std::size_t count) {
    std::string text;
    std::size_t named = 0;
    for (const Run& run : runs)
        for (std::size_t i = run.begin; i < run.end; ++i)
            text += (named++ == 0 ? "" : named == count ? " and " : ", ") + format_count(i);
    return text;
}

/// Return which rows (or columns) contain wrong elements, such as "the second of every 4 rows"; empty if all do, or if
/// they are many and show no pattern.
std::string describe_lines(const std::vector<bool>& wrong, const std::string& line) {
    constexpr std::size_t max_listed = 4;
    const std::size_t n = wrong.size();
    const auto count = static_cast<std::size_t>(std::ranges::count(wrong, true));
    if (count == n || count == 0) return "";
    const std::vector<Run> runs = find_runs(wrong);
    const Run first = runs.front(), last = runs.back();
    if (runs.size() == 1)
        return count == 1 ? sentence("{} {} of {}", line, first.begin, n)
                          : sentence("{}s {} to {} of {}", line, first.begin, first.end - 1, n);
    const bool are_edges = runs.size() == 2 && first.begin == 0 && last.end == n && first.count() == last.count();
    if (are_edges)
        return sentence("{} {}{}", name_edges(first.count()), line, std::string(first.count() > 1 ? "s" : ""));
    const std::string pattern = describe_repeated(wrong, runs, line);
    const bool may_be_chance = runs.size() == 2 || pattern.empty();
    if (may_be_chance && count <= max_listed) return sentence("{}s {} of {}", line, list_lines(runs, count), n);
    return pattern;
}

}  // namespace

std::optional<Taps> find_taps(WeightedSum sum, const Experiment& call, std::size_t max_wrong) {
    return TapExperiments(sum, call).find(max_wrong);
}

std::string describe_places(std::size_t rows, std::size_t columns, const std::function<bool(std::size_t i)>& is_wrong) {
    std::vector<bool> wrong_rows(rows), wrong_columns(columns);
    for (std::size_t i = 0; i < rows * columns; ++i)
        if (is_wrong(i)) wrong_rows[i / columns] = wrong_columns[i % columns] = true;
    const std::string by_row = describe_lines(wrong_rows, "row"), by_column = describe_lines(wrong_columns, "column");
    return by_row + (by_row.empty() || by_column.empty() ? "" : ", and ") + by_column;
}

}  // namespace warplab
