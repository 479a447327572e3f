#include "grader/common/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace warplab {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[a.size()][b.size()];
}

std::string nearest(std::string_view typed, std::span<const std::string> choices) {
    std::string best;
    std::size_t best_distance = 1 + std::max<std::size_t>(1, typed.size() / 3);
    for (const auto& choice : choices) {
        if (choice.size() > typed.size() + best_distance) continue;  // each extra letter is an edit
        const std::size_t distance = edit_distance(typed, choice);
        if (distance < best_distance && distance < choice.size()) {
            best_distance = distance;
            best = choice;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string> choices) {
    const auto meant = nearest(typed, choices);
    return meant.empty() ? "" : fmt::format(" Did you mean \"{}\"?", meant);
}

}  // namespace warplab
