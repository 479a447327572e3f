#include "grader/common/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace warplab {
namespace {

bool is_open(int number) { return fcntl(number, F_GETFD) >= 0 || errno != EBADF; }

int open_null() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(Descriptor, ClosesItselfAtTheEndOfItsScope) {
    int number;
    {
        const Descriptor descriptor(open_null());
        ASSERT_TRUE(descriptor);
        number = descriptor.get();
        EXPECT_TRUE(is_open(number));
    }
    EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, MovesToOneOwner) {
    Descriptor first(open_null());
    const int number = first.get();
    Descriptor second(std::move(first));
    EXPECT_FALSE(first);
    EXPECT_EQ(second.get(), number);
    Descriptor third;
    EXPECT_FALSE(third);
    third = std::move(second);
    EXPECT_EQ(third.get(), number);
    EXPECT_TRUE(is_open(number));
    third.reset();
    EXPECT_FALSE(is_open(number));
    EXPECT_FALSE(third);
}

}  // namespace
}  // namespace warplab
