#pragma once
// Pictures in files: read with stb_image, written with stb_image_write.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace warplab {

/// Rows from the top, pixels from the left, a pixel's channels side by side; 1 channel is grey, 3 are red, green, blue.
struct Image {
    int width = 0, height = 0, channels = 1;
    std::vector<std::uint8_t> samples;  // width * height * channels

    std::size_t pixels() const { return static_cast<std::size_t>(width) * static_cast<std::size_t>(height); }
};

inline constexpr std::size_t most_pixels = 100'000'000;

/// A PNG, JPEG or binary PGM or PPM file; 16 bits become 8, transparency is dropped. Throws UsageError that says what
/// is wrong with the file and what to try: not there, a folder, not a picture, cut short, more than `most` pixels.
Image read_image(const std::filesystem::path& file, std::size_t most = most_pixels);

/// Throws UsageError when the file cannot be written.
void write_png(const std::filesystem::path& file, const Image& image);

}  // namespace warplab
