#include "grader/judge/lab/oracle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace warplab {
namespace {

TEST(Array, IsZeroedAndAligned) {
    const Array array(ElementType::float64, 1000);
    EXPECT_EQ(array.bytes(), 8000u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 64, 0u);
    for (const double value : array.as<double>()) EXPECT_EQ(value, 0);
}

TEST(Array, CanBeEmpty) {
    const Array array(ElementType::int32, 0);
    EXPECT_EQ(array.bytes(), 0u);
    EXPECT_TRUE(array.as<std::int32_t>().empty());
    EXPECT_EQ(array.clone().count(), 0u);
    EXPECT_EQ(array.part(0, 0).count(), 0u);
}

TEST(Array, CopiesShareStorageAndClonesDoNot) {
    Array array(ElementType::int32, 10), copy = array, clone = array.clone();
    array.as<std::int32_t>()[3] = 7;
    EXPECT_EQ(copy.as<std::int32_t>()[3], 7);
    EXPECT_EQ(clone.as<std::int32_t>()[3], 0);
}

TEST(Array, PartsShareTheStorageAndKeepItAlive) {
    Array part;
    {
        Array array(ElementType::uint8, 10);
        part = array.part(4, 3);
        array.as<std::uint8_t>()[5] = 9;
    }
    EXPECT_EQ(part.count(), 3u);
    EXPECT_EQ(part.as<std::uint8_t>()[1], 9);
    EXPECT_THROW(part.part(2, 2), std::out_of_range);
    EXPECT_THROW(part.part(4, 0), std::out_of_range);
    EXPECT_THROW(part.part(1, std::numeric_limits<std::size_t>::max()), std::out_of_range);
}

class WithTolerance : public Oracle {
  public:
    explicit WithTolerance(Tolerance tolerance) : tolerance_(tolerance) {}
    Problem generate(const Dataset&, std::uint64_t, std::size_t) const override { return {}; }
    void reference(Problem&, Execution) const override {}
    Cost cost(const Problem&) const override { return {}; }
    Tolerance tolerance(const Problem&, std::size_t) const override { return tolerance_; }
    bool accepts_value(double expected, double actual) const { return accepts({}, 0, 0, expected, actual); }

  private:
    Tolerance tolerance_;
};

TEST(Oracle, WithoutToleranceEveryBitCounts) {
    const WithTolerance exact({0, 0});
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(exact.accepts_value(1.5, 1.5));
    EXPECT_FALSE(exact.accepts_value(1.5, std::nextafter(1.5, 2)));
    EXPECT_FALSE(exact.accepts_value(0.0, -0.0));
    EXPECT_TRUE(exact.accepts_value(infinity, infinity));
    EXPECT_FALSE(exact.accepts_value(infinity, -infinity));
}

TEST(Oracle, NanIsNeverAccepted) {
    for (const Tolerance tolerance : {Tolerance{0, 0}, Tolerance{1e300, 1}}) {
        const WithTolerance oracle(tolerance);
        EXPECT_FALSE(oracle.accepts_value(NAN, NAN));
        EXPECT_FALSE(oracle.accepts_value(1, NAN));
        EXPECT_FALSE(oracle.accepts_value(NAN, 1));
    }
}

TEST(Oracle, AbsoluteAndRelativeToleranceAreAdded) {
    const WithTolerance oracle({0.5, 0.1});
    EXPECT_TRUE(oracle.accepts_value(10, 11.5));
    EXPECT_FALSE(oracle.accepts_value(10, 11.6));
    EXPECT_TRUE(oracle.accepts_value(-10, -11.5));
    EXPECT_TRUE(oracle.accepts_value(0.0, -0.0));
    EXPECT_FALSE(oracle.accepts_value(10, std::numeric_limits<double>::infinity()));
}

TEST(Oracle, DefaultFunctionsMakeNoAssumptions) {
    const WithTolerance oracle({0, 0});
    Array part;
    EXPECT_FALSE(oracle.reference_part({}, 0, 0, 0, part));
    const Problem problem;
    const std::vector<Array> none;
    EXPECT_TRUE(oracle.hypotheses({problem, none, none}).empty());
}

}  // namespace
}  // namespace warplab
