#pragma once
// Reads pictures with stb_image and writes them with stb_image_write.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace warplab {

/// A picture: its rows from top to bottom, the pixels of a row from left to right, and the channels of a pixel next to
/// each other. One channel is grey; three are red, green and blue.
struct Image {
    int width = 0, height = 0, channels = 1;
    std::vector<std::uint8_t> samples;  // width * height * channels

    std::size_t pixels() const { return static_cast<std::size_t>(width) * static_cast<std::size_t>(height); }
};

inline constexpr std::size_t max_pixels = 100'000'000;

/// Read a PNG, JPEG or binary PGM or PPM file. 16-bit samples become 8-bit ones; transparency is dropped. Throws
/// UsageError, with the defect and a suggestion, if the file does not exist, is a folder, is not a picture, is
/// truncated, or has more than `max_pixels_allowed` pixels.
Image read_image(const std::filesystem::path& file, std::size_t max_pixels_allowed = max_pixels);

/// Write a PNG file. Throws UsageError if the file cannot be written.
void write_png(const std::filesystem::path& file, const Image& image);

}  // namespace warplab
