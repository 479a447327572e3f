#pragma once
// Reads the intermediate code that GCC writes with -fdump-tree-optimized-raw-lineno: the functions of a program in
// static single assignment form, including the calls of the tracer's hooks.

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace warplab::predict {

struct Statement {
    enum class Kind { assign, call, condition, phi, other };
    Kind kind = Kind::other;
    int line = 0;            // a line of the student's file; in headers, the previous statement's
    bool by_header = false;  // from a header of the CPU backend, so not an instruction of a GPU
    std::string operation;   // for an assignment, for example "plus_expr"; for a call, the function
    std::string result;      // a name or an lvalue; empty if none
    std::vector<std::string> operands;
    std::vector<int> from;  // phi: the block that each operand comes from
};

struct BasicBlock {
    int number = 0;
    std::vector<Statement> statements;
    std::vector<int> successors = {};  // numbers; without any, the next block follows or the function ends
    bool returns = false;
};

struct Function {
    std::string symbol;                                  // mangled
    std::unordered_map<std::string, std::string> types;  // the types of variables and names
    std::unordered_set<std::string> arrays;              // the variables that are arrays
    std::vector<BasicBlock> blocks;

    /// Return the type of a variable or name such as "x_6"; empty if it is unknown.
    std::string_view type_of(const std::string& name) const;
};

/// Read a dump. Lines that are not understood are skipped.
std::vector<Function> read_gimple(std::string_view text);

}  // namespace warplab::predict
