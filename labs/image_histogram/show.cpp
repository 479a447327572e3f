// Counts a picture's channels, and writes histogram.csv and picture.png, which show.py reads.

#include "grader/judge/lab/show.h"

#include <fmt/format.h>

#include <array>
#include <fstream>

#include "grader/common/image.h"
#include "grader/common/text.h"

namespace warplab {
namespace {

enum Buffer { pixels, bins };

constexpr auto own_picture = "datasets/image_histogram/picture.png";
constexpr std::size_t bin_count = 256;

class HistogramShow : public Show {
  public:
    explicit HistogramShow(const ShowRequest& request) : request_(request) {
        request.require_only({});
        file_ = request.image.empty() ? own_picture : request.image.string();
        picture_ = read_image(file_);
    }

    std::optional<Problem> next_call() override {
        const auto channels = static_cast<std::size_t>(picture_.channels), channel = counts_.size();
        if (channel == channels) return std::nullopt;
        Problem problem{{static_cast<std::int64_t>(picture_.pixels())},
                        {},
                        {Array(ElementType::uint8, picture_.pixels()), Array(ElementType::uint32, bin_count)}};
        const auto to = problem.arrays[pixels].as<std::uint8_t>();
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = picture_.samples[i * channels + channel];
        return problem;
    }

    std::string take(const Problem& results, double call_s) override {
        const auto counted = results.arrays[bins].as<std::uint32_t>();
        const std::string name = column_name(counts_.size());
        counts_.push_back({});
        std::copy_n(counted.begin(), bin_count, counts_.back().begin());
        const auto most_frequent = std::max_element(counted.begin(), counted.end());
        return fmt::format("  {:<6} {} for {} pixels; the most frequent value is {}: {} pixels\n", name,
                           format_seconds(call_s), format_count(picture_.pixels()), most_frequent - counted.begin(),
                           format_count(*most_frequent));
    }

    std::string finish() override {
        write_png(request_.folder / "picture.png", picture_);
        const auto table = request_.folder / "histogram.csv";
        std::ofstream file(table);
        file << "value";
        for (std::size_t k = 0; k < counts_.size(); ++k) file << "," << column_name(k);
        file << "\n";
        for (std::size_t v = 0; v < bin_count; ++v) {
            file << v;
            for (const auto& channel : counts_) file << "," << channel[v];
            file << "\n";
        }
        file.close();
        if (!file) throw UsageError(fmt::format("Cannot write {}: is the disk full?", table.string()));
        return fmt::format("{}: {} x {} pixels, {}; {}\n", file_, picture_.width, picture_.height,
                           picture_.channels == 1 ? "grey" : "colour", table.filename().string());
    }

  private:
    std::string column_name(std::size_t channel) const {
        static const char* const colours[] = {"red", "green", "blue"};
        return picture_.channels == 1 ? "grey" : colours[channel];
    }

    ShowRequest request_;
    std::string file_;
    Image picture_;
    std::vector<std::array<std::uint32_t, bin_count>> counts_;  // one for each channel
};

}  // namespace

std::unique_ptr<Show> warplab_show(const ShowRequest& request) { return std::make_unique<HistogramShow>(request); }

}  // namespace warplab
