#include "grader/model/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/common/hash.h"
#include "tests/model/project.h"

namespace warplab {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::map<std::string, int> generators = {{"random", 1}, {"counting", 2}};

/// Return the dataset `name` of a small project.
Dataset dataset_called(const std::string& name) {
    test::Project project;
    project.write();
    return load_lab(project.root, "scale").dataset(name);
}

TEST(Recipe, GeneratorsAreFoundByName) {
    Dataset dataset = dataset_called("tiny");
    EXPECT_EQ(find_generator(dataset, generators), 1);
    dataset.generator = "counting";
    EXPECT_EQ(find_generator(dataset, generators), 2);
}

std::uint64_t unmix(std::uint64_t x) {
    x = (x ^ (x >> 31) ^ (x >> 62)) * 0x319642b2d24d8ec3ull;
    x = (x ^ (x >> 27) ^ (x >> 54)) * 0x96de1b173f119089ull;
    return x ^ (x >> 30) ^ (x >> 60);
}

/// Return whether the other elements and the seed can be computed from two elements.
bool reveals_its_seed(std::uint64_t seed) {
    return unmix(random_bits(seed, 0, 1)) - unmix(random_bits(seed, 0, 0)) == 0x9e3779b97f4a7c15ull;
}

TEST(Recipe, KnownElementsDoNotRevealAHiddenSeed) {
    EXPECT_EQ(unmix(mix_bits(0x123456789abcdef0ull)), 0x123456789abcdef0ull);
    EXPECT_TRUE(reveals_its_seed(7)) << "this test does not detect that a seed is revealed";
    for (const char* dataset : {"hidden_ragged", "hidden_powers"})
        EXPECT_FALSE(reveals_its_seed(hidden_seed("secret", dataset))) << dataset;
}

TEST(Recipe, AnUnknownGeneratorIsReportedWithItsPlaceAndTheKnownNames) {
    Dataset dataset = dataset_called("large");
    dataset.generator = "randm";
    try {
        find_generator(dataset, generators, {"picture"});
        FAIL() << "find_generator() accepted an unknown generator";
    } catch (const ManifestError& error) {
        EXPECT_STREQ(error.what(),
                     "datasets/scale/public.json, at /datasets/1: dataset \"large\": there is no generator "
                     "\"randm\". Did you mean \"random\"? Choose one of: counting, picture, random");
    }
}

TEST(Recipe, WrongParametersAreReportedWithTheirPlace) {
    const Dataset dataset = dataset_called("secret");
    try {
        read_size(dataset, "width");
        FAIL() << "read_size() accepted a missing parameter";
    } catch (const ManifestError& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("datasets/scale/hidden.json, at /datasets/0: dataset \"secret\""),
                                        HasSubstr("the parameter \"width\" is missing")));
    }
    EXPECT_THROW(require_only(dataset, {"m"}), ManifestError);
    EXPECT_NO_THROW(require_only(dataset, {"n"}));
}

}  // namespace
}  // namespace warplab
