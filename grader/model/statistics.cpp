#include "grader/model/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace warplab {
namespace {

/// Return the two-sided 95% bound of Student's t, by degrees of freedom; above 10, the bound of 10.
double student_t(std::size_t freedom) {
    constexpr std::array within = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
    return within[std::min(freedom, within.size()) - 1];
}

std::vector<double> ratios_of(const Round& round) {
    if (round.a.empty() || round.a.size() != round.b.size()) throw std::invalid_argument("a ratio needs pairs");
    std::vector<double> ratios(round.a.size());
    for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = round.a[i] / round.b[i];
    return ratios;
}

/// Return the median, and the two values between which it lies with 95% probability for any distribution.
Interval interval_of_one(std::vector<double> values) {
    std::ranges::sort(values);
    const auto count = static_cast<double>(values.size());
    const auto rank = static_cast<std::size_t>(std::max(0.0, (count - 1.96 * std::sqrt(count)) / 2));
    return {median(values), values[rank], values[values.size() - 1 - rank]};
}

/// Return the sum of the squared differences from the mean, for every `step`-th value from `first` on.
double sum_of_squares(std::span<const double> values, std::size_t first, std::size_t step) {
    double sum = 0, squares = 0, count = 0;
    for (std::size_t i = first; i < values.size(); i += step) sum += values[i], ++count;
    for (std::size_t i = first; i < values.size(); i += step) squares += std::pow(values[i] - sum / count, 2);
    return squares;
}

std::vector<double> medians_of(std::span<const Round> rounds) {
    if (rounds.empty()) throw std::invalid_argument("a ratio needs rounds");
    std::vector<double> medians;
    for (const Round& round : rounds) medians.push_back(median(ratios_of(round)));
    return medians;
}

/// Return the standard error of the median of a round's logarithms, or 0 for a single sample. Of five or more samples,
/// the one that differs most is ignored.
double error_of_median(const Round& round) {
    std::vector<double> logs = ratios_of(round);
    for (double& value : logs) value = std::log(value);
    const double middle = median(logs);
    if (!std::isfinite(middle)) return 0;
    std::sort(logs.begin(), logs.end(),
              [&](double x, double y) { return std::abs(x - middle) < std::abs(y - middle); });
    if (logs.size() >= 5) logs.pop_back();
    const auto count = static_cast<double>(logs.size());
    if (count < 2) return 0;
    constexpr double median_factor = 1.25;  // the median's error for a normal distribution, relative to the mean's
    return median_factor * std::sqrt(sum_of_squares(logs, 0, 1) / (count - 1) / count);
}

bool has_nan(std::span<const double> values) {
    return std::ranges::any_of(values, [](double value) { return std::isnan(value); });
}

constexpr Interval unknown_ratio{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::quiet_NaN()};

/// Return the geometric mean and its interval. A condition that favours one program in a round may favour the other in
/// the next round, so odd and even rounds are compared separately if there are enough.
Interval interval_of_rounds(std::span<const double> medians) {
    std::vector<double> logs;
    for (const double value : medians) logs.push_back(std::log(value));
    const std::size_t count = logs.size(), groups = count >= 4 ? 2 : 1, freedom = count - groups;
    double sum = 0, squares = 0;
    for (const double value : logs) sum += value;
    for (std::size_t group = 0; group < groups; ++group) squares += sum_of_squares(logs, group, groups);
    const double mean = sum / static_cast<double>(count);
    const double half = student_t(freedom) * std::sqrt(squares / static_cast<double>(freedom * count));
    return {std::exp(mean), std::exp(mean - half), std::exp(mean + half)};
}

}  // namespace

double median(std::span<const double> values) {
    if (values.empty() || has_nan(values)) return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> copy(values.begin(), values.end());
    const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
    std::nth_element(copy.begin(), middle, copy.end());
    if (copy.size() % 2 == 1) return *middle;
    return (*std::max_element(copy.begin(), middle) + *middle) / 2;
}

Interval paired_ratio(std::span<const Round> rounds) {
    const std::vector<double> medians = medians_of(rounds);
    if (has_nan(medians)) return unknown_ratio;
    return rounds.size() == 1 ? interval_of_one(ratios_of(rounds[0])) : interval_of_rounds(medians);
}

Interval sequential_ratio(std::span<const Round> rounds, double deviation) {
    constexpr double prior_freedom = 30;  // assumed degrees of freedom of `deviation`
    constexpr double bound = 3.9;  // Student's t with 30 degrees of freedom: 1%, two-sided, divided by 16 interim tests
    std::vector<double> logs = medians_of(rounds);
    if (has_nan(logs)) return unknown_ratio;
    for (double& value : logs) value = std::log(value);
    const auto count = static_cast<double>(logs.size());
    const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / count;
    for (const Round& round : rounds) deviation = std::hypot(deviation, error_of_median(round) / std::sqrt(count));
    const double variance =
        (prior_freedom * deviation * deviation + sum_of_squares(logs, 0, 1)) / (prior_freedom + count - 1);
    const double half = bound * std::sqrt(variance / count);
    return {std::exp(mean), std::exp(mean - half), std::exp(mean + half)};
}

double half_width(const Interval& interval) { return (interval.high - interval.low) / 2 / interval.median; }

}  // namespace warplab
