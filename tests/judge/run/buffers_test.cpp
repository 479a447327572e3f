#include "grader/judge/run/buffers.h"

#include <gtest/gtest.h>

namespace warplab {
namespace {

constexpr std::size_t guard = 4096;

Lab two_buffers() {
    Lab lab;
    lab.buffers = {{"in", ElementType::float32, Role::input, ""}, {"out", ElementType::uint8, Role::output, ""}};
    return lab;
}

Problem shape_of(std::size_t in, std::size_t out) {
    Problem problem;
    problem.arrays = {Array(ElementType::float32, in), Array(ElementType::uint8, out)};
    return problem;
}

/// File memory whose regions the test can write into, as a runner would.
class Writable : public BufferMemory {
  public:
    std::unique_ptr<Region> allocate(std::size_t bytes) override {
        auto region = files_->allocate(bytes);
        regions.push_back(region.get());
        return region;
    }
    std::size_t free_bytes() const override { return files_->free_bytes(); }
    std::vector<Region*> regions;

  private:
    std::unique_ptr<BufferMemory> files_ = make_file_memory(protocol::Transport::shared);
};

struct BuffersTest : testing::Test {
    Lab lab = two_buffers();
    Problem shape = shape_of(10, 13);
    Writable memory;
    Buffers buffers{memory, lab, shape, 100, 3, guard, Poison::draw(7)};
    std::size_t out_stride = 256 + guard;
};

TEST_F(BuffersTest, ReadsBackEachSlot) {
    Array contents(ElementType::float32, 10);
    contents.as<float>()[9] = 2.5f;
    buffers.write(0, 2, contents);
    EXPECT_EQ(buffers.read(0, 2).as<float>()[9], 2.5f);
    EXPECT_EQ(buffers.read_part(0, 2, 9, 1).as<float>()[0], 2.5f);
    EXPECT_NE(buffers.read(0, 1).as<float>()[9], 2.5f);
}

TEST_F(BuffersTest, ExchangedMemoryHasItsContentsAndGuards) {
    Buffers others{memory, lab, shape, 7, 3, guard, Poison::draw(8)};
    Array contents(ElementType::float32, 10);
    contents.as<float>()[9] = 2.5f;
    buffers.write(0, 2, contents);
    buffers.exchange_memory(others);
    EXPECT_EQ(others.read(0, 2).as<float>()[9], 2.5f);
    EXPECT_NE(buffers.read(0, 2).as<float>()[9], 2.5f);
    EXPECT_FALSE(buffers.find_guard_violation(1).has_value());
    EXPECT_FALSE(others.find_guard_violation(1).has_value());
    buffers.poison_all();
    EXPECT_FALSE(buffers.find_guard_violation(1).has_value());
}

TEST_F(BuffersTest, NamesTheFirstElementThatChanged) {
    Array contents(ElementType::float32, 10);
    buffers.write(0, 2, contents);
    EXPECT_EQ(buffers.first_change(0, 2, contents), std::nullopt);
    const Array before = contents.clone();
    contents.as<float>()[9] = 1;
    contents.as<float>()[4] = -0.0f;
    buffers.write(0, 2, contents);
    EXPECT_EQ(buffers.first_change(0, 2, before), 4u);
}

TEST_F(BuffersTest, AnUntouchedOutputContainsThePoison) {
    const Array expected = poisoned(ElementType::uint8, 13, buffers.poison().output);
    const Array output = buffers.read(1, 0);
    EXPECT_TRUE(std::equal(output.data(), output.data() + 13, expected.data()));
}

TEST_F(BuffersTest, NewBuffersHaveNoGuardViolation) {
    for (std::uint32_t slot = 0; slot < 3; ++slot) EXPECT_FALSE(buffers.find_guard_violation(slot));
}

TEST_F(BuffersTest, DetectsASingleByteWrittenPastTheEnd) {
    const std::uint8_t byte = 0;
    memory.regions[1]->write(guard + 1 * out_stride + 13, &byte, 1);
    EXPECT_FALSE(buffers.find_guard_violation(0));
    const auto violation = buffers.find_guard_violation(1);
    ASSERT_TRUE(violation);
    EXPECT_EQ(violation->buffer, "out");
    EXPECT_EQ(violation->index, 13);
}

TEST_F(BuffersTest, DetectsAWriteBeforeTheFirstElement) {
    const float value = 1;
    memory.regions[0]->write(guard - sizeof value, &value, sizeof value);
    const auto violation = buffers.find_guard_violation(0);
    ASSERT_TRUE(violation);
    EXPECT_EQ(violation->buffer, "in");
    EXPECT_EQ(violation->index, -1);
}

TEST_F(BuffersTest, PoisonAroundABufferRepairsItsGuardsAndKeepsItsElements) {
    const std::uint8_t byte = 0;
    const Array contents(ElementType::uint8, 13);
    for (const std::size_t place : {guard - 1, guard + 13, guard + out_stride - 1}) {
        memory.regions[1]->write(place, &byte, 1);
        EXPECT_TRUE(buffers.find_guard_violation(0)) << place;
        buffers.poison_around(1);
        buffers.write(1, 0, contents);
        EXPECT_FALSE(buffers.find_guard_violation(0)) << place;
    }
    buffers.poison_around(1);
    EXPECT_EQ(buffers.first_change(1, 0, contents).value_or(13) / 4, 3u);  // at most the last, incomplete word
}

TEST_F(BuffersTest, DetectsAWritePastTheScratchMemory) {
    const std::uint8_t byte = 0;
    memory.regions[2]->write(guard + 100, &byte, 1);
    const auto violation = buffers.find_guard_violation(2);
    ASSERT_TRUE(violation);
    EXPECT_EQ(violation->buffer, "scratch");
}

TEST(Poison, DiffersFromSeedToSeedAndIsNaN) {
    const Poison first = Poison::draw(1), second = Poison::draw(2);
    EXPECT_NE(first.output, second.output);
    EXPECT_NE(first.output, first.beyond);
    const Array array = poisoned(ElementType::float32, 1, first.output);
    EXPECT_NE(array.as<float>()[0], array.as<float>()[0]);
}

}  // namespace
}  // namespace warplab
