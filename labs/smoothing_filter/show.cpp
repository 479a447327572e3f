// Smooths a picture's channels, and writes before.png, after.png and a picture of both side by side.

#include "grader/judge/lab/show.h"

#include <fmt/format.h>

#include <cmath>

#include "grader/common/text.h"
#include "labs/smoothing_filter/filter.h"
#include "labs/smoothing_filter/picture.h"

namespace warplab {
namespace {

enum Buffer { image, out };

constexpr auto own_picture = "datasets/smoothing_filter/picture.png";
constexpr std::size_t size = 5;
constexpr int radius = 2, max_side = 200'000;

/// Round to the nearest sample from 0 to 255; NaN becomes black.
std::uint8_t to_sample(float value) {
    return std::isnan(value) ? 0 : static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.f, 255.f)));
}

Image side_by_side(const Image& left, const Image& right) {
    constexpr int gap = 4;
    Image both{left.width + gap + right.width, left.height, left.channels, {}};
    for (int y = 0; y < left.height; ++y) {
        const auto row = [&](const Image& picture) {
            const auto count = static_cast<std::ptrdiff_t>(picture.width) * picture.channels;
            both.samples.insert(both.samples.end(), picture.samples.begin() + y * count,
                                picture.samples.begin() + (y + 1) * count);
        };
        row(left);
        both.samples.insert(both.samples.end(), static_cast<std::size_t>(gap * left.channels), 255);
        row(right);
    }
    return both;
}

class SmoothingShow : public Show {
  public:
    explicit SmoothingShow(const ShowRequest& request) : request_(request) {
        request.require_only({"times"});
        times_ = static_cast<int>(request.number("times", 1, 1, 100));
        file_ = request.image.empty() ? own_picture : request.image.string();
        before_ = after_ = read_image(file_);
        if (before_.width > max_side || before_.height > max_side)
            throw UsageError(
                fmt::format("{}: the picture is {} x {} pixels; this lab allows at most {} in each direction.", file_,
                            before_.width, before_.height, format_count(max_side)));
    }

    std::optional<Problem> next_call() override {
        if (channel_ == before_.channels) {
            channel_ = 0;
            ++passes_;
        }
        if (passes_ == times_) return std::nullopt;
        return Problem{{before_.width, before_.height},
                       ring_filter(size),
                       {pad_channel(after_, channel_, radius), Array(ElementType::float32, before_.pixels())}};
    }

    std::string take(const Problem& results, double call_s) override {
        const auto pixels = results.arrays[out].as<float>();
        for (std::size_t i = 0; i < pixels.size(); ++i) {
            const auto sample = i * static_cast<std::size_t>(after_.channels) + static_cast<std::size_t>(channel_);
            after_.samples[sample] = to_sample(pixels[i]);
            nan_count_ += std::isnan(pixels[i]);
        }
        static const char* const colours[] = {"red", "green", "blue"};
        const std::string name = before_.channels == 1 ? "grey" : colours[channel_];
        ++channel_;
        return fmt::format("  {:<6} {} for {} pixels\n", name, format_seconds(call_s), format_count(before_.pixels()));
    }

    std::string finish() override {
        write_png(request_.folder / "before.png", before_);
        write_png(request_.folder / "after.png", after_);
        write_png(request_.folder / "before_after.png", side_by_side(before_, after_));
        std::string text = fmt::format("{}: {} x {} pixels, {}, smoothed {}\n", file_, before_.width, before_.height,
                                       before_.channels == 1 ? "grey" : "colour",
                                       times_ == 1 ? "once" : fmt::format("{} times", times_));
        if (nan_count_)
            text += fmt::format("NaN in {}: black in the picture\n", format_plural(nan_count_, "output value"));
        return text;
    }

  private:
    ShowRequest request_;
    std::string file_;
    Image before_, after_;
    int times_ = 1, passes_ = 0, channel_ = 0;
    std::uint64_t nan_count_ = 0;
};

}  // namespace

std::unique_ptr<Show> warplab_show(const ShowRequest& request) { return std::make_unique<SmoothingShow>(request); }

}  // namespace warplab
