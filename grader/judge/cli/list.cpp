// `warplab list`: a line for each lab, the stages of the current lab, and the next step.

#include <fmt/format.h>

#include <algorithm>

#include "grader/common/text.h"
#include "grader/judge/cli/next.h"
#include "grader/judge/cli/verbs.h"
#include "grader/judge/cli/work.h"

namespace warplab {
namespace fs = std::filesystem;
namespace {

/// The student's progress in a lab.
struct LabProgress {
    const Lab* lab;
    std::vector<Standing> standings = {};  // one per stage
    std::vector<double> points = {};       // the points in the stages' last reports
    fs::file_time_type edited = fs::file_time_type::min();
    std::string next = "";  // the step of the stage that was edited last or, if it is done, of the first unfinished one

    double total() const {
        double sum = 0;
        for (const double earned : points) sum += earned;
        return sum;
    }
};

LabProgress progress_of(const Lab& lab, const Folders& folders) {
    LabProgress progress{&lab};
    std::string first;
    for (const Stage& stage : lab.stages) {
        progress.standings.push_back(standing_of(lab, stage, folders));
        progress.points.push_back(points_of(lab, stage, folders));
        const std::string step = next_step(lab, stage, progress.standings.back(), folders);
        if (first.empty()) first = step;
        if (const auto edited = last_edited(lab, stage, folders); edited > progress.edited) {
            progress.edited = edited;
            progress.next = step;
        }
    }
    if (progress.next.empty()) progress.next = first;
    return progress;
}

std::string bar(double points, double max) {
    constexpr std::size_t width = 10;
    const double share = max > 0 ? points / max : 0;
    // The bar is full only if everything is done, and empty only if nothing is done.
    auto filled = static_cast<std::size_t>(share * width);
    if (filled == 0 && points > 0) filled = 1;
    return fmt::format("[{}{}]", std::string(filled, '#'), std::string(width - filled, '.'));
}

std::string describe_age(fs::file_time_type time) {
    if (time == fs::file_time_type::min()) return "";
    using namespace std::chrono;
    const auto passed = fs::file_time_type::clock::now() - time;
    const auto minutes_ago = duration_cast<minutes>(passed).count();
    if (minutes_ago < 60) return fmt::format("  {} min ago", std::max<long>(0, minutes_ago));
    if (minutes_ago < 48 * 60) return fmt::format("  {} h ago", minutes_ago / 60);
    return fmt::format("  {} days ago", minutes_ago / (24 * 60));
}

double max_points(const Lab& lab) {
    double sum = 0;
    for (const Stage& stage : lab.stages) sum += stage.points.total();
    return sum;
}

void print_lab(const LabProgress& progress) {
    const double max = max_points(*progress.lab);
    fmt::print("{:<22} {} {:>5} of {} points{}\n", progress.lab->name, bar(progress.total(), max),
               format_points(progress.total()), format_points(max), describe_age(progress.edited));
}

void print_stages(const LabProgress& progress) {
    for (std::size_t k = 0; k < progress.standings.size(); ++k) {
        const Stage& stage = progress.lab->stages[k];
        const std::string points =
            fmt::format("{}/{}", format_points(progress.points[k]), format_points(stage.points.total()));
        fmt::print("  {:<26} {:<13} {:>6}  {}\n", stage.id, standing_words(progress.standings[k]), points, stage.title);
    }
}

}  // namespace

int list_labs(const Options& options) {
    Judge judge(options.folders, Backend::cpu);
    std::vector<LabProgress> labs;
    for (const std::string& name : requested_labs(options))
        labs.push_back(progress_of(judge.lab(name), judge.folders()));
    if (labs.empty()) return 0;
    const auto has_step = [](const LabProgress& progress) { return !progress.next.empty(); };
    const auto current = std::ranges::max_element(labs, {}, &LabProgress::edited);  // the first if none was edited
    for (const LabProgress& progress : labs) {
        print_lab(progress);
        if (&progress == &*current) print_stages(progress);
    }
    const auto next = has_step(*current) ? current : std::ranges::find_if(labs, has_step);
    if (next != labs.end()) fmt::print("\nNext: {}\n", next->next);
    return 0;
}

}  // namespace warplab
