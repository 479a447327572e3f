#pragma once
// The names of arrays in a student's line.

#include <cstdint>
#include <string>

namespace warplab {

/// An index that exceeds its array, as GCC reports it.
struct IndexPlace {
    std::string line;          // a line of the student's file
    std::uint32_t column = 0;  // where the bracket that ends the index is; wrong if a macro was expanded before it
    std::string type;          // the array's type: "int [8][32]"
};

/// Return the array that the index belongs to: "tile", "halo->tile[t / 32]". `text`: the student's file, whose
/// declarations show which arrays of the line have as many dimensions as the type. Return an empty string if this is
/// not clear.
std::string indexed_array(const IndexPlace& index, const std::string& text);

}  // namespace warplab
