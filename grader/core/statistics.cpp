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

std::vector<double> ratios_of(const Round& round) {
    if (round.a.empty() || round.a.size() != round.b.size()) throw std::invalid_argument("paired_ratio needs pairs");
    std::vector<double> ratios(round.a.size());
    for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = round.a[i] / round.b[i];
    return ratios;
}

double geometric_mean(std::span<const double> values) {
    if (values.size() == 1) return values[0];
    double sum = 0;
    for (const double value : values) sum += std::log(value);
    return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace

double median(std::span<const double> values) {
    const auto is_nan = [](double value) { return std::isnan(value); };
    if (values.empty() || std::any_of(values.begin(), values.end(), is_nan))
        return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> copy(values.begin(), values.end());
    return median_in_place(copy);
}

Interval paired_ratio(std::span<const Round> rounds, std::uint64_t seed) {
    std::vector<std::vector<double>> ratios;
    for (const Round& round : rounds) ratios.push_back(ratios_of(round));
    if (ratios.empty()) throw std::invalid_argument("paired_ratio needs rounds");
    std::vector<double> medians;
    for (const std::vector<double>& of_round : ratios) medians.push_back(median(of_round));
    const double middle = geometric_mean(medians);
    if (std::isnan(middle)) return {middle, middle, middle};

    // The standard library's distributions differ between implementations; the engine does not.
    std::mt19937_64 engine(seed);
    const std::size_t together = rounds.size() % 2 == 0 ? 2 : 1;
    std::vector<double> means(resamples), drawn;
    for (auto& mean : means) {
        for (std::size_t i = 0; i < medians.size(); i += together) {
            const std::size_t first = engine() % (medians.size() / together) * together;
            for (std::size_t k = 0; k < together; ++k) {
                const std::vector<double>& of_round = ratios[first + k];
                drawn.resize(of_round.size());
                for (auto& ratio : drawn) ratio = of_round[engine() % of_round.size()];
                medians[i + k] = median_in_place(drawn);
            }
        }
        mean = geometric_mean(medians);
    }
    std::sort(means.begin(), means.end());
    return {middle, quantile(means, 0.025), quantile(means, 0.975)};
}

double half_width(const Interval& interval) { return (interval.high - interval.low) / 2 / interval.median; }

}  // namespace warplab
