#include "tests/cpu/rewriter/fuzz.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/cpu/rewriter/samples.h"
#include "tests/paths.h"

namespace warplab::rewriter::test {
namespace {

/// The first two tests try one in this many inputs; with WARPLAB_THOROUGH=1, all.
const std::size_t one_in = std::getenv("WARPLAB_THOROUGH") ? 1 : 4;

TEST(Fuzz, MutatedFilesKeepTheInvariants) {
    std::vector<std::string> seeds;
    for (const auto& path : sample_paths()) seeds.push_back(read_file(path));
    warplab::test::Mutator mutator(seeds, source_words, 1);
    for (std::size_t i = 0; i < 2000 / one_in; ++i) {
        const auto source = mutator.next();
        ASSERT_NO_THROW(check_invariants(source)) << "input " << i << ":\n" << source;
    }
}

TEST(Fuzz, EveryPrefixOfAFileKeepsTheInvariants) {
    const auto source = read_file(samples_folder() / "shared_kinds.cu");
    for (std::size_t length = 0; length < source.size(); length += one_in) {
        ASSERT_NO_THROW(check_invariants(source.substr(0, length))) << length;
    }
}

std::string repeated(const std::string& text, std::size_t bytes = 100'000) {
    std::string result;
    while (result.size() < bytes) result += text;
    return result;
}

/// On these inputs, an unlimited search backward or forward would take long, or overflow the stack.
TEST(Fuzz, AdversarialFilesAreNotSlow) {
    for (const std::string& source : {
             repeated("k<<<"),
             repeated("k<<<1,1>>>();"),
             repeated("a<"),
             repeated(">") + "<<<1,1>>>()",
             repeated("("),
             repeated("{\n#if A\n"),
             repeated("#if A\n{\n#else\n{\n#endif\n"),
             repeated("__shared__ "),
             repeated("__shared__ int a = 1;"),
             "void f() { __shared__ int " + repeated("a,") + "b; }",
             "__global__ void k(" + repeated("int a,") + "int b) {" + repeated("__shared__ int s[q];") + "}",
             "void f() { __shared__ int s; " + repeated("[=](){ s; "),
             repeated("__device__ "),
             repeated("__device__ T f(T);"),
             repeated("template <class T> "),
             repeated("struct A "),
             repeated("__device__ int a = b "),
             repeated("__device__ __host__ "),
             repeated("__global__ void k() {"),
             repeated("R\"("),
             repeated("R\"abc"),
             repeated("/*"),
             "#if " + repeated("!"),
             repeated("#define A __global__\n"),
             repeated("[[a]] ") + "__shared__ int a;",
         }) {
        ASSERT_NO_THROW(check_invariants(source)) << source.substr(0, 60);
    }
}

}  // namespace
}  // namespace warplab::rewriter::test
