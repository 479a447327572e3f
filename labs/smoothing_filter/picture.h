#pragma once
// Pictures as inputs: channels of an image as floats, with their border repeated outwards.

#include <algorithm>

#include "grader/common/image.h"
#include "grader/judge/lab/oracle.h"

namespace warplab {

/// Return (width + 2 radius) x (height + 2 radius) floats from 0 to 255: one channel or, for -1, the mean of all
/// channels. Pixels outside the picture repeat the nearest one.
inline Array pad_channel(const Image& picture, int channel, int radius) {
    const int pitch = picture.width + 2 * radius, rows = picture.height + 2 * radius;
    Array padded(ElementType::float32, static_cast<std::size_t>(pitch) * static_cast<std::size_t>(rows));
    const auto to = padded.as<float>();
#pragma omp parallel for
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < pitch; ++x) {
            const auto from = static_cast<std::size_t>(std::clamp(y - radius, 0, picture.height - 1)) *
                                  static_cast<std::size_t>(picture.width) +
                              static_cast<std::size_t>(std::clamp(x - radius, 0, picture.width - 1));
            const std::uint8_t* pixel = &picture.samples[from * static_cast<std::size_t>(picture.channels)];
            float value = 0;
            if (channel >= 0)
                value = pixel[channel];
            else
                for (int k = 0; k < picture.channels; ++k) value += static_cast<float>(pixel[k]) / picture.channels;
            to[static_cast<std::size_t>(y) * static_cast<std::size_t>(pitch) + static_cast<std::size_t>(x)] = value;
        }
    return padded;
}

}  // namespace warplab
