#include "grader/core/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

namespace warplab {
namespace {

constexpr int resamples = 2000;

double median_in_place(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

/// Linear between the two nearest ranks.
double quantile(const std::vector<double>& sorted, double share) {
    const double rank = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(rank);
    const auto above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double median(std::span<const double> values) {
    const auto is_nan = [](double value) { return std::isnan(value); };
    if (values.empty() || std::any_of(values.begin(), values.end(), is_nan))
        return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> copy(values.begin(), values.end());
    return median_in_place(copy);
}

Interval paired_ratio(std::span<const double> a, std::span<const double> b, std::uint64_t seed) {
    if (a.empty() || a.size() != b.size()) throw std::invalid_argument("paired_ratio needs pairs");
    std::vector<double> ratios(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) ratios[i] = a[i] / b[i];

    const double middle = median(ratios);
    if (std::isnan(middle)) return {middle, middle, middle};

    // The standard library's distributions differ between implementations; the engine does not.
    std::mt19937_64 engine(seed);
    std::vector<double> medians(resamples), drawn(ratios.size());
    for (auto& resampled : medians) {
        for (auto& ratio : drawn) ratio = ratios[engine() % ratios.size()];
        resampled = median_in_place(drawn);
    }
    std::sort(medians.begin(), medians.end());
    return {middle, quantile(medians, 0.025), quantile(medians, 0.975)};
}

double half_width(const Interval& interval) { return (interval.high - interval.low) / 2 / interval.median; }

}  // namespace warplab
