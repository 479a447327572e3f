#include "grader/common/hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <future>
#include <set>
#include <stdexcept>
#include <vector>

#include "tests/model/project.h"

namespace warplab {
namespace {

TEST(Hash, Sha256OfKnownText) {
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, HashesTheBytesOfAFile) {
    const auto folder = test::own_folder();
    std::string bytes;
    for (int i = 0; i < 200'000; ++i) bytes += static_cast<char>(i * 7);
    test::write_file(folder / "large", bytes);
    test::write_file(folder / "empty", "");
    EXPECT_EQ(sha256_file(folder / "large"), sha256(bytes));
    EXPECT_EQ(sha256_file(folder / "empty"), sha256(""));
    EXPECT_THROW(sha256_file(folder / "missing"), std::runtime_error);
    EXPECT_THROW(sha256_file(folder), std::runtime_error);
}

TEST(CourseSecret, IsMadeOnce) {
    const auto root = test::own_folder();
    std::filesystem::create_directories(root / "datasets");
    const auto secret = course_secret(root);
    EXPECT_THAT(secret, testing::MatchesRegex("[0-9a-f]+"));
    EXPECT_EQ(secret.size(), 64u);
    EXPECT_EQ(course_secret(root), secret);
}

TEST(CourseSecret, OnlyItsOwnerCanReadItAndNoOtherFileRemains) {
    const auto root = test::own_folder();
    std::filesystem::create_directories(root / "datasets");
    course_secret(root);
    struct stat status {};
    ASSERT_EQ(::stat((root / "datasets/.secret").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    int files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(root / "datasets")) ++files;
    EXPECT_EQ(files, 1);
}

TEST(CourseSecret, ConcurrentCallersGetTheSameSecret) {
    const auto root = test::own_folder();
    std::filesystem::create_directories(root / "datasets");
    std::vector<std::future<std::string>> makers(8);
    for (auto& maker : makers) maker = std::async(std::launch::async, [&] { return course_secret(root); });
    std::set<std::string> secrets;
    for (auto& maker : makers) secrets.insert(maker.get());
    EXPECT_EQ(secrets.size(), 1u);
}

TEST(CourseSecret, DamagedSecretIsNotUsed) {
    const auto root = test::own_folder();
    for (const auto* text : {"", "abc\n", "ZZ7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}) {
        test::write_file(root / "datasets/.secret", text);
        EXPECT_THROW(course_secret(root), std::runtime_error) << text;
    }
}

TEST(CourseSecret, ErrorNamesTheFileIfItsFolderIsMissing) {
    const auto root = test::own_folder();
    try {
        course_secret(root);
        FAIL() << "course_secret() succeeded without a folder for the secret";
    } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("datasets/.secret"));
    }
}

TEST(HiddenSeed, IsTheHmacOfLabAndDataset) {
    // printf %s 'dot_product/hidden_1' | openssl dgst -sha256 -hmac key
    EXPECT_EQ(hidden_seed("key", "dot_product/hidden_1"), 0x7a2c231d7166d526ull);
    EXPECT_NE(hidden_seed("key", "dot_product/hidden_2"), hidden_seed("key", "dot_product/hidden_1"));
    EXPECT_NE(hidden_seed("other", "dot_product/hidden_1"), hidden_seed("key", "dot_product/hidden_1"));
    EXPECT_THROW(hidden_seed("", "dot_product/hidden_1"), std::invalid_argument);
}

}  // namespace
}  // namespace warplab
