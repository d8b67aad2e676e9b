//===- Cubin.cpp - NVIDIA's files of machine code -------------------------===//
#include "compiler/cuda/Cubin.h"

#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

namespace brew::compiler::cuda {

using llvm::support::endian::read16le;
using llvm::support::endian::read32le;

/// Section .nv.info is a list of attributes: the format of the value in a byte,
/// the attribute in a byte, and two bytes that are the value itself or, in
/// kSizedFormat, its size. The value of kFrameSize is a function's symbol and
/// the bytes of its frame.
static constexpr std::uint8_t kSizedFormat = 4, kFrameSize = 0x11;

static std::uint32_t maxFrame(llvm::ArrayRef<std::uint8_t> info) {
  std::uint32_t frame = 0;
  while (info.size() >= 4) {
    const bool isSized = info[0] == kSizedFormat;
    const std::size_t size = isSized ? read16le(info.data() + 2) : 0;
    if (info.size() < 4 + size)
      break;
    if (isSized && info[1] == kFrameSize && size == 8)
      frame = std::max(frame, read32le(info.data() + 8));
    info = info.drop_front(4 + size);
  }
  return frame;
}

std::uint32_t frameBytes(llvm::StringRef cubin) {
  using Elf = llvm::object::ELF64LEFile;
  auto ignore = [](llvm::Error error) {
    llvm::consumeError(std::move(error));
    return 0;
  };
  llvm::Expected<Elf> file = Elf::create(cubin);
  if (!file)
    return ignore(file.takeError());
  llvm::Expected<Elf::Elf_Shdr_Range> sections = file->sections();
  if (!sections)
    return ignore(sections.takeError());
  for (const Elf::Elf_Shdr &section : *sections) {
    llvm::Expected<llvm::StringRef> name = file->getSectionName(section);
    if (!name)
      return ignore(name.takeError());
    if (*name != ".nv.info")
      continue;
    auto info = file->getSectionContents(section);
    return info ? maxFrame(*info) : ignore(info.takeError());
  }
  return 0;
}

} // namespace brew::compiler::cuda
