#pragma once
// Finds the names of arrays in a line of the student's file.

#include <cstdint>
#include <string>

namespace warplab {

/// An index that exceeds its array, as GCC reports it.
struct IndexPlace {
    std::string line;          // a line of the student's file
    std::uint32_t column = 0;  // of the bracket that ends the index; wrong if a macro was expanded before it
    std::string type;          // the array's type: "int [8][32]"
};

/// Return the array that the index belongs to, such as "tile" or "halo->tile[t / 32]"; empty if it is ambiguous. `text`
/// is the student's file, whose declarations show which arrays of the line have the dimensions of the type.
std::string indexed_array(const IndexPlace& index, const std::string& text);

}  // namespace warplab
