#include "grader/common/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/model/manifest.h"
#include "tests/model/project.h"

namespace warplab::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

Image gradient(int width, int height, int channels) {
    Image image{width, height, channels, {}};
    const std::size_t count = image.pixels() * static_cast<std::size_t>(channels);
    for (std::size_t i = 0; i < count; ++i) image.samples.push_back(static_cast<std::uint8_t>(i * 37 % 256));
    return image;
}

/// Return the message of the error, or "read" if the file can be read.
std::string error_of(const fs::path& file, std::size_t max_size = max_pixels) {
    try {
        read_image(file, max_size);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "read";
}

fs::path write(const std::string& name, const std::string& bytes) {
    const fs::path file = own_folder() / name;
    write_file(file, bytes);
    return file;
}

TEST(Image, ReadsBackWrittenImages) {
    const fs::path folder = own_folder();
    for (const int channels : {1, 3}) {
        const Image image = gradient(31, 17, channels);
        write_png(folder / "a.png", image);
        const Image read = read_image(folder / "a.png");
        EXPECT_EQ(read.width, 31);
        EXPECT_EQ(read.height, 17);
        EXPECT_EQ(read.channels, channels);
        EXPECT_EQ(read.samples, image.samples);
    }
}

TEST(Image, BinaryPgmIsRead) {
    const Image image = read_image(write("a.pgm", std::string("P5\n3 2\n255\nabcdef")));
    EXPECT_EQ(image.width, 3);
    EXPECT_EQ(image.height, 2);
    EXPECT_EQ(image.channels, 1);
    EXPECT_EQ(image.samples[4], 'e');
}

TEST(Image, TransparencyIsDropped) {
    const fs::path file = own_folder() / "a.png";
    write_png(file, gradient(5, 5, 4));
    EXPECT_EQ(read_image(file).channels, 3);
    write_png(file, gradient(5, 5, 2));
    EXPECT_EQ(read_image(file).channels, 1);
}

TEST(Image, TruncatedPicturesAreRejected) {
    const fs::path folder = own_folder();
    write_png(folder / "whole.png", gradient(64, 64, 3));
    const std::string png = read_file(folder / "whole.png");
    for (std::size_t length = 1; length < png.size(); length += png.size() / 50 + 1) {
        write_file(folder / "cut.png", png.substr(0, length));
        EXPECT_THAT(error_of(folder / "cut.png"), HasSubstr(length < 8 ? "not a picture" : "cut short")) << length;
    }
    write_file(folder / "cut.pgm", "P5\n30 20\n255\nabcdef");
    EXPECT_THAT(error_of(folder / "cut.pgm"), AllOf(HasSubstr("cut short"), HasSubstr("19 bytes")));
    write_file(folder / "whole.pgm", "P5 # 9\n3 2\n255\nabcdef");
    EXPECT_EQ(error_of(folder / "whole.pgm"), "read");
    write_file(folder / "cut.pgm", "P5 # 9\n3 2\n255\nabcde");
    EXPECT_THAT(error_of(folder / "cut.pgm"), HasSubstr("cut short"));
}

/// Return the smallest JPEG: one grey block.
std::string small_jpeg() {
    std::string bytes("\xff\xd8\xff\xdb\x00\x43\x00", 7);
    bytes += std::string(64, 1);
    bytes += std::string("\xff\xc0\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00", 13);
    bytes += std::string("\xff\xc4\x00\x14\x00\x01", 6) + std::string(15, 0) + std::string("\x00", 1);
    bytes += std::string("\xff\xc4\x00\x14\x10\x01", 6) + std::string(15, 0) + std::string("\x00", 1);
    bytes += std::string("\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x3f\xff\xd9", 13);
    return bytes;
}

TEST(Image, TruncatedJpegIsRejected) {
    const std::string jpeg = small_jpeg();
    EXPECT_EQ(read_image(write("whole.jpg", jpeg)).width, 8);
    EXPECT_THAT(error_of(write("cut.jpg", jpeg.substr(0, jpeg.size() - 2))), HasSubstr("cut short"));
    EXPECT_THAT(error_of(write("cut.jpg", jpeg.substr(0, 40))), HasSubstr("cut short"));
}

TEST(Image, JpegMetadataIsSkipped) {
    std::string jpeg = small_jpeg();
    jpeg.insert(2, std::string("\xff\xe1\x00\x20", 4) + std::string("\xff\xc4\x00\x13", 4) + std::string(26, '\xff'));
    EXPECT_EQ(read_image(write("metadata.jpg", jpeg)).width, 8);
}

/// With these files, stb_image alone would write beyond its table of codes, or read before the table.
TEST(Image, JpegWithInvalidTablesDoesNoHarm) {
    const std::string jpeg = small_jpeg();
    std::string many = jpeg, missing = jpeg;
    const std::size_t table = jpeg.find("\xff\xc4");
    many.replace(table, 22, std::string("\xff\xc4\x01\x21\x00", 5) + std::string(16, '\x11') + std::string(272, '\0'));
    EXPECT_THAT(error_of(write("many.jpg", many)), HasSubstr("damaged"));
    missing.erase(table, 22);
    EXPECT_EQ(error_of(write("missing.jpg", missing)), "read");
    EXPECT_THAT(error_of(write("short.jpg", jpeg.substr(0, table + 3) + jpeg.substr(jpeg.size() - 2))),
                HasSubstr("damaged"));
}

TEST(Image, LengthsBeyondTheFileAreRejected) {
    const fs::path file = own_folder() / "a.png";
    write_png(file, gradient(3, 3, 1));
    std::string png = read_file(file);
    png[png.find("IDAT") - 4] = '\x20';  // 512 MB
    EXPECT_THAT(error_of(write("long.png", png)), HasSubstr("damaged"));
    EXPECT_THAT(error_of(write("long.pgm", "P5\n1 4294967297\n255\nabcd")), HasSubstr("damaged"));
}

TEST(Image, HugePicturesAreRejectedBeforeDecoding) {
    EXPECT_THAT(error_of(write("huge.pgm", "P5\n100000 100000\n255\n")),
                AllOf(HasSubstr("100,000 x 100,000 pixels"), HasSubstr("Make it smaller")));
    const fs::path file = own_folder() / "a.png";
    write_png(file, gradient(11, 10, 1));
    EXPECT_THAT(error_of(file, 109), HasSubstr("at most 109 are read"));
    EXPECT_EQ(error_of(file, 110), "read");
}

TEST(Image, ErrorNamesTheKindOfOtherFiles) {
    EXPECT_THAT(error_of(write("a.png", "Dear diary, today I wrote a kernel.")),
                AllOf(HasSubstr("a.png: "), HasSubstr("not a picture"), HasSubstr("a PNG, a JPEG")));
    EXPECT_THAT(error_of(write("a.png", "GIF89a......")), HasSubstr("this is a GIF"));
    EXPECT_THAT(error_of(write("a.png", "BM......")), HasSubstr("Convert it to PNG"));
    EXPECT_THAT(error_of(write("a.png", "")), HasSubstr("is empty"));
}

TEST(Image, ReportsMissingFilesAndFolders) {
    const fs::path folder = own_folder();
    EXPECT_THAT(error_of(folder / "none.png"), HasSubstr("no such file"));
    EXPECT_THAT(error_of(folder), HasSubstr("is a folder"));
    EXPECT_THROW(write_png(folder / "no/folder.png", gradient(2, 2, 1)), UsageError);
}

}  // namespace
}  // namespace warplab::test
