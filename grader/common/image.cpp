#include "grader/common/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>

#include "grader/common/read_file.h"
#include "grader/common/text.h"
#include "grader/common/usage_error.h"

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

constexpr std::size_t max_file_bytes = 1 << 30;

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
    throw UsageError(fmt::format("{}: {}", file.string(), what));
}

std::string read_bytes(const fs::path& file) {
    std::error_code error;
    if (!fs::exists(file, error)) fail(file, "there is no such file. Give the picture's path relative to this folder.");
    if (fs::is_directory(file, error)) fail(file, "this is a folder. Give the path of one picture in it.");
    if (!fs::is_regular_file(file, error)) fail(file, "this is not a plain file.");
    if (fs::file_size(file, error) > max_file_bytes)
        fail(file, fmt::format("the file has {}; at most {} are read. Make the picture smaller.",
                               format_bytes(static_cast<double>(fs::file_size(file))),
                               format_bytes(static_cast<double>(max_file_bytes))));
    errno = 0;
    auto bytes = try_read_file(file);
    if (!bytes) fail(file, fmt::format("the file cannot be read: {}.", std::strerror(errno)));
    if (bytes->empty()) fail(file, "the file is empty. Was it saved, or copied as a whole?");
    return *std::move(bytes);
}

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }
bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }
bool is_binary_pnm(std::string_view bytes) { return bytes.starts_with("P5") || bytes.starts_with("P6"); }

/// Return whether a JPEG is complete: an end marker must follow the last start of data. Compressed data cannot contain
/// markers.
bool has_jpeg_end(std::string_view bytes) {
    const auto data = bytes.rfind("\xff\xda"), end = bytes.rfind("\xff\xd9");
    return data != std::string_view::npos && end != std::string_view::npos && end > data;
}

std::size_t read_16(std::string_view bytes, std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at])) << 8 |
           static_cast<unsigned char>(bytes[at + 1]);
}

/// Return whether all chunks of a PNG lie within the file: stb_image allocates as much memory as a chunk's length says.
bool has_whole_chunks(std::string_view bytes) {
    constexpr std::size_t signature_bytes = 8, frame_bytes = 12;  // frame: a chunk's length, type and checksum
    for (std::size_t at = signature_bytes; at + frame_bytes <= bytes.size();) {
        const std::size_t length = read_16(bytes, at) << 16 | read_16(bytes, at + 2);
        if (length > bytes.size() - at - frame_bytes) return false;
        if (bytes.substr(at + 4, 4) == "IEND") return true;
        at += frame_bytes + length;
    }
    return false;
}

/// Return Huffman tables with one code each. A damaged file can refer to tables that it does not define, and stb_image
/// would then read uninitialised memory.
std::string default_huffman_tables() {
    constexpr int classes = 2, ids = 4;  // DC and AC; a file can define four tables of each class
    constexpr std::size_t table_bytes = 18, header_bytes = 4;
    std::string bytes("\xff\xc4\0", 3);
    bytes += static_cast<char>(2 + classes * ids * table_bytes);
    for (int table = 0; table < classes * ids; ++table) {
        bytes.resize(header_bytes + static_cast<std::size_t>(table + 1) * table_bytes);
        bytes[bytes.size() - table_bytes] = static_cast<char>(table / ids << 4 | table % ids);
        bytes[bytes.size() - table_bytes + 1] = 1;  // one code of one bit
    }
    return bytes;
}

/// Return a JPEG without its metadata and with every table defined; nothing if its segments are not in a valid order.
std::optional<std::string> without_metadata(std::string_view bytes) {
    std::string plain = std::string(bytes.substr(0, 2)) + default_huffman_tables();
    for (std::size_t at = 2; at + 4 <= bytes.size();) {
        const auto marker = static_cast<unsigned char>(bytes[at + 1]);
        if (marker == 0xff) {  // any number of these bytes may separate segments
            ++at;
            continue;
        }
        const std::size_t length = 2 + read_16(bytes, at + 2);
        if (bytes[at] != '\xff' || marker < 0xc0 || length < 4 || length > bytes.size() - at) return std::nullopt;
        const bool begins_data = marker == 0xda;
        const bool describes_colours = (marker == 0xe0 || marker == 0xee) && length <= 20;
        const bool is_metadata = (marker >= 0xe0 && marker <= 0xef) || marker == 0xfe;
        if (begins_data) return plain.append(bytes.substr(at));
        if (!is_metadata || describes_colours) plain.append(bytes.substr(at, length));
        at += length;
    }
    return std::nullopt;
}

/// Return whether each Huffman table has at most 256 codes: stb_image writes past the end of its table if one has more.
/// The table marker occurs nowhere else, except in metadata.
bool has_valid_tables(std::string_view jpeg) {
    constexpr std::size_t counts = 16, max_codes = 256;
    for (std::size_t at = jpeg.find("\xff\xc4"); at != std::string_view::npos; at = jpeg.find("\xff\xc4", at + 2)) {
        const std::size_t begin = at + 4;
        if (begin > jpeg.size()) return false;
        std::size_t table = begin;
        for (const std::size_t end = at + 2 + read_16(jpeg, at + 2); table < end;) {
            if (table + 1 + counts > jpeg.size()) return false;
            std::size_t codes = 0;
            for (std::size_t i = 0; i < counts; ++i) codes += static_cast<unsigned char>(jpeg[table + 1 + i]);
            if (codes > max_codes) return false;
            table += 1 + counts + codes;
        }
    }
    return true;
}

/// Return the position at which the samples of a PGM or PPM begin: after the format, three numbers with comments
/// between them, and one white-space character. Return nothing if a number is too long for stb_image.
std::optional<std::size_t> pnm_samples_begin(std::string_view bytes) {
    constexpr std::size_t max_digits = 9;
    constexpr std::string_view digits = "0123456789";
    std::size_t at = 2;
    for (int numbers = 0; numbers < 3; ++numbers) {
        while (at < bytes.size() && digits.find(bytes[at]) == digits.npos)
            at = bytes[at] == '#' ? std::min(bytes.find_first_of("\r\n", at), bytes.size()) : at + 1;
        const std::size_t end = std::min(bytes.find_first_not_of(digits, at), bytes.size());
        if (end - std::min(at, end) > max_digits) return std::nullopt;
        at = end;
    }
    return at + 1;
}

/// Describe the format of a file that is not a supported picture, from its first bytes.
std::string explain_format(std::string_view bytes) {
    const std::pair<std::string_view, const char*> known[] = {
        {"BM", "a BMP"},   {"GIF8", "a GIF"},        {"RIFF", "a WebP"},       {"II*", "a TIFF"}, {"MM\0*", "a TIFF"},
        {"%PDF", "a PDF"}, {"P2", "a PGM in ASCII"}, {"P3", "a PPM in ASCII"}, {"<svg", "an SVG"}};
    for (const auto& [begin, name] : known)
        if (bytes.starts_with(begin))
            return fmt::format("this is {}, which is not supported here. Convert it to PNG.", name);
    return "this is not a picture in a supported format. Use a PNG, a JPEG, or a binary PGM or PPM. Its content "
           "counts, not its name.";
}

[[noreturn]] void fail_broken(const fs::path& file, std::size_t bytes) {
    fail(file, fmt::format("the picture is cut short or damaged (the file has {}). Copy or export it again.",
                           format_bytes(static_cast<double>(bytes))));
}

/// Return a JPEG that stb_image reads within its bounds.
std::string checked_jpeg(const fs::path& file, std::string_view bytes) {
    std::optional<std::string> plain = without_metadata(bytes);
    if (!plain || !has_valid_tables(*plain) || !has_jpeg_end(*plain)) fail_broken(file, bytes.size());
    return *plain;
}

struct Extent {
    int width = 0, height = 0, channels = 0;
};

Extent read_extent(const fs::path& file, const std::string& bytes, std::size_t max_pixels_allowed) {
    Extent extent;
    if (!stbi_info_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()),
                               &extent.width, &extent.height, &extent.channels))
        fail_broken(file, bytes.size());
    const auto width = static_cast<std::size_t>(extent.width), height = static_cast<std::size_t>(extent.height);
    if (width == 0 || height == 0) fail(file, "the picture has no pixels.");
    if (width > max_pixels_allowed / height)
        fail(file, fmt::format("the picture is {} x {} pixels, and at most {} are read. Make it smaller.",
                               format_count(width), format_count(height), format_count(max_pixels_allowed)));
    return extent;
}

}  // namespace

Image read_image(const fs::path& file, std::size_t max_pixels_allowed) {
    std::string bytes = read_bytes(file);
    if (!is_png(bytes) && !is_jpeg(bytes) && !is_binary_pnm(bytes)) fail(file, explain_format(bytes));
    if (is_jpeg(bytes)) bytes = checked_jpeg(file, bytes);
    if (is_png(bytes) && !has_whole_chunks(bytes)) fail_broken(file, bytes.size());
    if (is_binary_pnm(bytes) && !pnm_samples_begin(bytes)) fail_broken(file, bytes.size());
    const Extent extent = read_extent(file, bytes, max_pixels_allowed);
    const int channels = extent.channels < 3 ? 1 : 3;
    const auto samples =
        static_cast<std::size_t>(extent.width) * static_cast<std::size_t>(extent.height) * std::size_t(channels);
    if (is_binary_pnm(bytes) && bytes.size() < *pnm_samples_begin(bytes) + samples) fail_broken(file, bytes.size());
    int width = 0, height = 0, channels_in_file = 0;
    const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
        stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()), &width,
                              &height, &channels_in_file, channels),
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
    const bool is_written = stbi_write_png_to_func(write, &stream, image.width, image.height, image.channels,
                                                   image.samples.data(), image.width * image.channels) != 0;
    stream.close();
    if (!is_written || !stream)
        fail(file, "the picture cannot be written. Is the folder writable, and the disk not full?");
}

}  // namespace warplab
