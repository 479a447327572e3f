#include "grader/judge/check/doubts.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/paths.h"

namespace warplab {
namespace {

using testing::HasSubstr;

class Doubts : public testing::Test {
  protected:
    Doubts() : lab_(load_lab(test::root_folder(), "vector_add")) {
        const auto file = test::build_folder() / "labs/vector_add/oracle.so";
        void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) throw std::runtime_error(dlerror());
        oracle_ = reinterpret_cast<const Oracle* (*)()>(dlsym(library, "warplab_oracle"))();
        problem_ = oracle_->generate(lab_.dataset("warp"), 1, 0);
        for (const Array& array : problem_.arrays) {
            before_.push_back(array.clone());
            after_.push_back(array.clone());
            observed_.read_bytes[before_.size() - 1] = array.bytes();
        }
        for (std::size_t i = 0; i < lab_.buffers.size(); ++i)
            if (lab_.buffers[i].role == Role::output) output_ = i;
        for (std::size_t i = 0; i < after_[output_].bytes(); ++i) after_[output_].data()[i] ^= std::byte{1};
        observed_.written_bytes[output_] = after_[output_].bytes();
    }

    std::string doubt(const std::vector<RawFinding>& findings = {}, bool host_variant = false) const {
        return find_doubt(lab_, *oracle_, {problem_, before_, after_, host_variant, findings}, observed_);
    }

    Lab lab_;
    const Oracle* oracle_ = nullptr;
    Problem problem_;
    std::vector<Array> before_, after_;
    std::size_t output_ = 0;
    Observations observed_{};
};

TEST_F(Doubts, NoneIfObservationsAreConsistent) { EXPECT_EQ(doubt(), ""); }

TEST_F(Doubts, AboutMissingFindings) {
    const RawFinding finding{};
    observed_.finding_count = 2;
    observed_.findings = add_to_findings(add_to_findings(0, finding), finding);
    EXPECT_THAT(doubt({finding}), HasSubstr("2 findings, but 1 arrived"));
    EXPECT_EQ(doubt({finding, finding}), "");
}

TEST_F(Doubts, AboutAlteredFindings) {
    RawFinding finding{};
    observed_.finding_count = 1;
    observed_.findings = add_to_findings(0, finding);
    finding.kind = 1000;
    EXPECT_THAT(doubt({finding}), HasSubstr("altered the sanitizer's findings"));
}

TEST_F(Doubts, AboutReplacedSignalHandlers) {
    observed_.replaced_handlers = 1;
    EXPECT_THAT(doubt(), HasSubstr("signal handler"));
}

TEST_F(Doubts, AboutUnobservedWrites) {
    --observed_.written_bytes[output_];
    EXPECT_THAT(doubt(), HasSubstr("the sanitizer saw writes to only"));
    EXPECT_EQ(doubt({}, true), "");
}

TEST_F(Doubts, AboutUnreadInputs) {
    for (auto& bytes : observed_.read_bytes) bytes = 0;
    EXPECT_THAT(doubt(), HasSubstr("A correct answer reads and writes at least"));
}

}  // namespace
}  // namespace warplab
