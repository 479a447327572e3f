#pragma once
// CUDA's declaration specifiers, written directly or through a student's macro (`#define KERNEL __global__ void`).

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grader/cpu/rewriter/unit.h"

namespace warplab::rewriter {

enum Qualifier : unsigned {
    q_shared = 1,
    q_global = 2,
    q_device = 4,
    q_host = 8,
    q_constant = 16,
    q_managed = 32,
    q_extern = 64,
    q_static = 128,
};

class Qualifiers {
  public:
    explicit Qualifiers(const Unit& unit);

    /// Return the qualifiers that a word represents, as a set of Qualifier; 0 for any other word.
    unsigned of(std::string_view word) const;
    unsigned of(const Stream& stream, int i) const { return stream.is_identifier(i) ? of(stream[i]) : 0; }
    /// Return the arguments of the __launch_bounds__ in the tokens [begin, end); empty if there is none, or if a macro
    /// with it has several definitions.
    std::string launch_bounds(const Stream& stream, int begin, int end) const;
    /// Return whether a use of the macro represents qualifiers of CUDA.
    bool is_alias(const Macro& macro) const { return aliases_.count(macro.name) != 0; }
    /// Return the position after the attribute that begins at `i`, such as alignas(16), [[…]], or a macro with only
    /// attributes (`#define ALIGN(n) __align__(n)`); `i` if none begins there.
    int after_attribute(const Stream& stream, int i) const;
    /// Return the attributes in a macro of qualifiers, each as text (`#define TILE __shared__ __align__(16)`).
    std::vector<std::string> attributes_of(std::string_view word) const;

  private:
    bool has_only_attributes(const Stream& body) const;
    std::vector<std::string> attributes_in(const Stream& body) const;
    void find_attribute_macros(const Unit& unit);
    unsigned of_macro(const Macro& macro) const;

    struct Bounds {
        const Macro* macro;
        std::string arguments;
    };

    std::unordered_map<std::string_view, unsigned> aliases_;
    std::unordered_map<std::string_view, std::vector<std::string>> attributes_of_aliases_;
    std::unordered_map<std::string_view, bool> attributes_;  // macros of attributes, and whether they have parameters
    std::unordered_map<std::string_view, Bounds> bounds_;    // the macros' launch bounds
};

}  // namespace warplab::rewriter
