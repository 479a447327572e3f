// Section names of object files, whose bytes are untrusted.
#include "grader/judge/compile/object_file.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "grader/judge/compile/contract.h"

namespace warplab::compilation {
namespace {

/// Return an object file with these sections and no contents.
std::string object_with(const std::vector<std::string>& names) {
    std::string text(1, '\0');
    std::vector<Elf64_Shdr> sections(1, Elf64_Shdr{});
    for (const std::string& name : names) {
        sections.push_back({});
        sections.back().sh_name = static_cast<Elf64_Word>(text.size());
        text += name + '\0';
    }
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_REL;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(sections.size());
    header.e_shstrndx = header.e_shnum - 1;
    header.e_shoff = sizeof header + text.size();
    sections.back().sh_offset = sizeof header;
    sections.back().sh_size = text.size();
    std::string object(reinterpret_cast<const char*>(&header), sizeof header);
    object += text;
    for (const Elf64_Shdr& section : sections) object.append(reinterpret_cast<const char*>(&section), sizeof section);
    return object;
}

std::optional<std::vector<std::string>> section_names(std::string_view object) {
    std::vector<std::string> names;
    const bool is_object = visit_section_names(object, [&](std::string_view name) {
        names.emplace_back(name);
        return true;
    });
    return is_object ? std::optional(names) : std::nullopt;
}

TEST(ObjectFile, NamesItsSections) {
    const auto names = section_names(object_with({".text", std::string(1000, 'x'), ".interp", ".shstrtab"}));
    ASSERT_TRUE(names);
    EXPECT_THAT(*names, testing::ElementsAre("", ".text", std::string(64, 'x'), ".interp", ".shstrtab"));
}

TEST(ObjectFile, BrokenBytesAreNotAnObjectFile) {
    const std::string object = object_with({".text", ".shstrtab"});
    for (std::size_t size = 0; size < object.size(); ++size)
        EXPECT_FALSE(section_names(object.substr(0, size))) << size;
    for (std::size_t at = 0; at < object.size(); ++at) {
        std::string changed = object;
        changed[at] = '\xff';
        section_names(changed);  // must not read beyond the bytes; the sanitizers of `make soak` check this
    }
}

TEST(ObjectFile, SectionsThatChangeTheProgramsStartAreRefused) {
    for (const char* name :
         {".interp", ".dynamic", ".dynsym", ".init", ".fini", ".plt", ".got", ".note.ABI-tag", ".gnu.lto_.opts",
          ".gnu.warning.main", ".gnu.version_r", ".hash", ".interp.\x1b[2J", ".preinit_array", ".preinit_array.0"}) {
        const auto breach = find_section_breach(name);
        ASSERT_TRUE(breach) << name;
        EXPECT_EQ(breach->message.find('\x1b'), std::string::npos);
    }
}

TEST(ObjectFile, SectionsOfOrdinaryCodeAreAccepted) {
    for (const char* name : {"",
                             ".text._Z1fv",
                             ".rela.text",
                             ".data.rel.ro",
                             ".bss",
                             ".init_array",
                             ".tbss",
                             ".comment",
                             ".nv_fatbin",
                             ".nvFatBinSegment",
                             "__nv_module_id",
                             ".note.GNU-stack",
                             ".note.gnu.property",
                             ".debug_line_str",
                             ".eh_frame",
                             ".gcc_except_table",
                             ".group",
                             ".symtab_shndx",
                             ".shstrtab",
                             "my_table"})
        EXPECT_FALSE(find_section_breach(name)) << name;
}

}  // namespace
}  // namespace warplab::compilation
