#include "grader/judge/compile/object_file.h"

#include <elf.h>

#include <cstring>

namespace warplab::compilation {
namespace {

/// Copy a T from `offset`. Return false if it does not lie within the bytes.
template <class T>
bool read_at(std::string_view bytes, std::uint64_t offset, T& to) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof to) return false;
    std::memcpy(&to, bytes.data() + offset, sizeof to);
    return true;
}

bool is_object(const Elf64_Ehdr& header) {
    return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_type == ET_REL &&
           header.e_shentsize == sizeof(Elf64_Shdr);
}

}  // namespace

bool visit_section_names(std::string_view object, const std::function<bool(std::string_view)>& visit) {
    Elf64_Ehdr header;
    Elf64_Shdr first;
    if (!read_at(object, 0, header) || !is_object(header) || !read_at(object, header.e_shoff, first)) return false;
    // With 0xff00 sections or more, the first section header holds both numbers.
    const std::uint64_t count = header.e_shnum ? header.e_shnum : first.sh_size;
    const std::uint64_t index_of_names = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
    if (count > object.size() / sizeof first || index_of_names >= count) return false;
    const auto section = [&](std::uint64_t index, Elf64_Shdr& to) {
        return read_at(object, header.e_shoff + index * sizeof to, to);
    };
    Elf64_Shdr table;
    if (!section(index_of_names, table) || table.sh_offset > object.size() ||
        table.sh_size > object.size() - table.sh_offset)
        return false;
    const std::string_view text = object.substr(table.sh_offset, table.sh_size);
    for (std::uint64_t index = 0; index < count; ++index) {
        Elf64_Shdr header;
        if (!section(index, header) || header.sh_name >= text.size()) return false;
        const std::string_view name = text.substr(header.sh_name, 64);
        if (!visit(name.substr(0, name.find('\0')))) break;
    }
    return true;
}

}  // namespace warplab::compilation
