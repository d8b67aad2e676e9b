//===- LinkObjectsTest.cpp - Tests of linker failures ---------------------===//
#include "compiler/cpu/LinkObjects.h"

#include "support/Error.h"

#include "llvm/BinaryFormat/ELF.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace brew::compiler {
namespace {

using namespace llvm::ELF;

/// Returns an ELF object with one section of code. Its symbol table contains
/// only the null symbol, so the object is valid if `firstGlobal`, the index of
/// the first global symbol, is 1, and invalid if it is 0.
std::string makeObject(std::uint32_t firstGlobal) {
  const char names[] = "\0.text\0.shstrtab\0.symtab";
  struct {
    Elf64_Ehdr header = {};
    Elf64_Shdr sections[4] = {};
    Elf64_Sym symbol = {};
    char names[32] = {};
    char code[8] = {'\xc3'};
  } file;
  std::memcpy(file.header.e_ident, ElfMagic, 4);
  file.header.e_ident[EI_CLASS] = ELFCLASS64;
  file.header.e_ident[EI_DATA] = ELFDATA2LSB;
  file.header.e_ident[EI_VERSION] = EV_CURRENT;
  file.header.e_type = ET_REL;
  file.header.e_machine = EM_X86_64;
  file.header.e_version = EV_CURRENT;
  file.header.e_ehsize = sizeof file.header;
  file.header.e_shoff = offsetof(decltype(file), sections);
  file.header.e_shentsize = sizeof(Elf64_Shdr);
  file.header.e_shnum = 4;
  file.header.e_shstrndx = 2;
  Elf64_Shdr &text = file.sections[1], &strings = file.sections[2],
             &symbols = file.sections[3];
  text.sh_name = 1;
  text.sh_type = SHT_PROGBITS;
  text.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  text.sh_offset = offsetof(decltype(file), code);
  text.sh_size = sizeof file.code;
  text.sh_addralign = 16;
  strings.sh_name = 7;
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = offsetof(decltype(file), names);
  strings.sh_size = sizeof names;
  strings.sh_addralign = 1;
  symbols.sh_name = 17;
  symbols.sh_type = SHT_SYMTAB;
  symbols.sh_offset = offsetof(decltype(file), symbol);
  symbols.sh_size = symbols.sh_entsize = sizeof file.symbol;
  symbols.sh_link = 2;
  symbols.sh_info = firstGlobal;
  symbols.sh_addralign = 8;
  std::memcpy(file.names, names, sizeof names);
  return {reinterpret_cast<const char *>(&file), sizeof file};
}

/// Links an object; returns the error, "" without one.
std::string linkError(const std::string &bytes) {
  try {
    cpu::linkSharedObject({bytes});
  } catch (const Error &error) {
    return error.status() == ExitStatus::Bug ? error.what() : "another status";
  }
  return "";
}

TEST(LinkObjects, LinksTwice) {
  EXPECT_EQ(linkError(makeObject(1)), "");
  EXPECT_EQ(linkError(makeObject(1)), "");
}

// The test runs in a process of its own, because the linker cannot run again
// after a fatal error.
TEST(LinkObjectsDeathTest, AFatalErrorDoesNotEndTheProcess) {
  auto linkTwice = [] {
    const std::string first = linkError(makeObject(0)),
                      second = linkError(makeObject(1));
    std::fprintf(stderr, "%s\n%s\n", first.c_str(), second.c_str());
    std::exit(first.find("linker failed: ") != first.npos &&
                      first.find("sh_info") != first.npos &&
                      second.find("cannot run again") != second.npos
                  ? 0
                  : 9);
  };
  EXPECT_EXIT(linkTwice(), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace brew::compiler
