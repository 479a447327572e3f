#include "grader/io/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>

#include "grader/core/manifest.h"
#include "grader/core/text.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNM
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace warplab {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t most_file_bytes = 1 << 30;

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
    throw UsageError(fmt::format("{}: {}", file.string(), what));
}

std::string read_bytes(const fs::path& file) {
    std::error_code error;
    if (!fs::exists(file, error)) fail(file, "there is no such file. Give a picture's path, from this folder.");
    if (fs::is_directory(file, error)) fail(file, "this is a folder. Give the path of one picture in it.");
    if (!fs::is_regular_file(file, error)) fail(file, "this is not a plain file.");
    if (fs::file_size(file, error) > most_file_bytes)
        fail(file, fmt::format("the file has {}; at most {} are read. Make the picture smaller.",
                               format_bytes(static_cast<double>(fs::file_size(file))),
                               format_bytes(static_cast<double>(most_file_bytes))));
    std::ifstream stream(file, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    if (!stream) fail(file, fmt::format("the file cannot be read: {}.", std::strerror(errno)));
    if (bytes.empty()) fail(file, "the file is empty. Was it saved, or copied as a whole?");
    return bytes;
}

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }
bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }
bool is_binary_pnm(std::string_view bytes) { return bytes.starts_with("P5") || bytes.starts_with("P6"); }

/// Markers cannot occur in a JPEG's compressed data, so an end after the last begin of data is the picture's.
bool has_jpeg_end(std::string_view bytes) {
    const auto data = bytes.rfind("\xff\xda"), end = bytes.rfind("\xff\xd9");
    return data != std::string_view::npos && end != std::string_view::npos && end > data;
}

/// Where the samples of a PGM or PPM begin: after the format and three numbers, with comments between them, and a
/// blank.
std::size_t pnm_samples_begin(std::string_view bytes) {
    std::size_t at = 2;
    for (int numbers = 0; numbers < 3; ++numbers) {
        while (at < bytes.size() && (bytes[at] < '0' || bytes[at] > '9'))
            at = bytes[at] == '#' ? std::min(bytes.find('\n', at), bytes.size()) : at + 1;
        while (at < bytes.size() && bytes[at] >= '0' && bytes[at] <= '9') ++at;
    }
    return at + 1;
}

/// What the first bytes say about a file that is no picture we read.
std::string explain_format(std::string_view bytes) {
    const std::pair<std::string_view, const char*> known[] = {
        {"BM", "a BMP"},   {"GIF8", "a GIF"},        {"RIFF", "a WebP"},       {"II*", "a TIFF"}, {"MM\0*", "a TIFF"},
        {"%PDF", "a PDF"}, {"P2", "a PGM in ASCII"}, {"P3", "a PPM in ASCII"}, {"<svg", "an SVG"}};
    for (const auto& [begin, name] : known)
        if (bytes.starts_with(begin))
            return fmt::format("this is {}, which is not read here. Convert it to PNG.", name);
    return "this is not a picture. PNG, JPEG and binary PGM and PPM are read, by their content and not by their name.";
}

[[noreturn]] void fail_broken(const fs::path& file, std::size_t bytes) {
    fail(file, fmt::format("the picture is cut short or damaged (the file has {}). Copy or export it again.",
                           format_bytes(static_cast<double>(bytes))));
}

struct Extent {
    int width = 0, height = 0, channels = 0;
};

Extent read_extent(const fs::path& file, const std::string& bytes, std::size_t most) {
    Extent extent;
    if (!stbi_info_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()),
                               &extent.width, &extent.height, &extent.channels))
        fail_broken(file, bytes.size());
    const auto width = static_cast<std::size_t>(extent.width), height = static_cast<std::size_t>(extent.height);
    if (width == 0 || height == 0) fail(file, "the picture has no pixels.");
    if (width > most / height)
        fail(file, fmt::format("the picture is {} x {} pixels, and at most {} are read. Make it smaller.",
                               format_count(width), format_count(height), format_count(most)));
    return extent;
}

}  // namespace

Image read_image(const fs::path& file, std::size_t most) {
    const std::string bytes = read_bytes(file);
    if (!is_png(bytes) && !is_jpeg(bytes) && !is_binary_pnm(bytes)) fail(file, explain_format(bytes));
    const Extent extent = read_extent(file, bytes, most);
    if (is_jpeg(bytes) && !has_jpeg_end(bytes)) fail_broken(file, bytes.size());
    const int channels = extent.channels < 3 ? 1 : 3;
    const auto samples =
        static_cast<std::size_t>(extent.width) * static_cast<std::size_t>(extent.height) * std::size_t(channels);
    if (is_binary_pnm(bytes) && bytes.size() < pnm_samples_begin(bytes) + samples) fail_broken(file, bytes.size());
    int width = 0, height = 0, in_file = 0;
    const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
        stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()), &width,
                              &height, &in_file, channels),
        stbi_image_free);
    if (!pixels) fail_broken(file, bytes.size());
    Image image{width, height, channels, {}};
    image.samples.assign(pixels.get(), pixels.get() + image.pixels() * static_cast<std::size_t>(channels));
    return image;
}

void write_png(const fs::path& file, const Image& image) {
    std::ofstream stream(file, std::ios::binary);
    const auto write = [](void* to, void* bytes, int count) {
        static_cast<std::ofstream*>(to)->write(static_cast<const char*>(bytes), count);
    };
    const bool made = stbi_write_png_to_func(write, &stream, image.width, image.height, image.channels,
                                             image.samples.data(), image.width * image.channels) != 0;
    stream.close();
    if (!made || !stream) fail(file, "the picture cannot be written. Is the folder writable, and the disk not full?");
}

}  // namespace warplab
