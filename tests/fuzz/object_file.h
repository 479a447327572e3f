#pragma once
// Fuzzes the reader of object files, because a compromised compiler can write any bytes.

#include "grader/judge/compile/contract.h"
#include "grader/judge/compile/object_file.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/compiler.h"

namespace warplab::fuzz {

inline void try_object_file(std::string_view bytes) {
    std::size_t count = 0;
    const bool is_read = compilation::visit_section_names(bytes, [&](std::string_view name) {
        ++count;
        require(name.size() <= 64, "a section's name is short");
        if (const auto breach = compilation::find_section_breach(name)) require_sound(*breach);
        return true;
    });
    require(!is_read || count > 0, "an object file has sections");
    require(count <= bytes.size() / 64, "the file is large enough for its sections");
}

}  // namespace warplab::fuzz
