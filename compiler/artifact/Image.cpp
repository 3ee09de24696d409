// Checks that an ELF shared object is self-contained, and copies its segments.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/Image.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Object/ELF.h"

#include <cstring>

using namespace llvm;
using namespace convoy::artifact;

namespace {

using Elf = object::ELF64LE;
using ElfFile = object::ELFFile<Elf>;

/// The runtime maps images at multiples of this.
constexpr uint64_t pageBytes = 4096;

/// Far beyond any code: keeps a damaged file from asking for all memory.
constexpr uint64_t imageLimit = uint64_t(1) << 31;

Error error(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), "cannot flatten the code: " + message);
}

Error checkSection(const ElfFile &file, const Elf::Shdr &section) {
  if (!(section.sh_flags & ELF::SHF_ALLOC) || section.sh_size == 0)
    return Error::success();
  Expected<StringRef> name = file.getSectionName(section);
  if (!name)
    return name.takeError();
  switch (section.sh_type) {
  case ELF::SHT_REL:
  case ELF::SHT_RELA:
  case ELF::SHT_RELR:
    return error("section " + *name + " holds dynamic relocations");
  default:
    break;
  }
  // Linkers mark these as writable, but only a loader would write to them.
  bool loadersOwn = section.sh_type == ELF::SHT_DYNAMIC || *name == ".relro_padding";
  if (section.sh_flags & ELF::SHF_WRITE && !loadersOwn)
    return error("section " + *name + " is writable");
  if (section.sh_addralign > pageBytes)
    return error("section " + *name + " wants an alignment of " + Twine(section.sh_addralign));
  return Error::success();
}

Error copySegments(const ElfFile &file, std::vector<char> &bytes) {
  auto headers = file.program_headers();
  if (!headers)
    return headers.takeError();
  uint64_t end = 0;
  for (const Elf::Phdr &segment : *headers) {
    if (segment.p_type == ELF::PT_TLS)
      return error("it has thread-local data");
    if (segment.p_type != ELF::PT_LOAD)
      continue;
    if (segment.p_vaddr > imageLimit || segment.p_memsz > imageLimit ||
        segment.p_filesz > segment.p_memsz || segment.p_offset > file.getBufSize() ||
        segment.p_filesz > file.getBufSize() - segment.p_offset)
      return error("a segment is out of bounds");
    end = std::max<uint64_t>(end, segment.p_vaddr + segment.p_memsz);
  }
  bytes.assign(end, 0);
  for (const Elf::Phdr &segment : *headers)
    if (segment.p_type == ELF::PT_LOAD && segment.p_filesz)
      std::memcpy(bytes.data() + segment.p_vaddr, file.base() + segment.p_offset, segment.p_filesz);
  return Error::success();
}

Error readSymbols(const ElfFile &file, const Elf::Shdr &table, Image &image) {
  auto symbols = file.symbols(&table);
  if (!symbols)
    return symbols.takeError();
  Expected<StringRef> names = file.getStringTableForSymtab(table);
  if (!names)
    return names.takeError();
  for (const Elf::Sym &symbol : symbols->drop_front(symbols->empty() ? 0 : 1)) {
    Expected<StringRef> name = symbol.getName(*names);
    if (!name)
      return name.takeError();
    if (symbol.isUndefined())
      return error("symbol " + *name + " is undefined");
    if (symbol.getType() != ELF::STT_FUNC || symbol.getBinding() == ELF::STB_LOCAL)
      continue;
    if (symbol.st_value >= image.bytes.size() ||
        symbol.st_size > image.bytes.size() - symbol.st_value)
      return error("symbol " + *name + " is out of bounds");
    image.symbols[*name] = {symbol.st_value, symbol.st_size};
  }
  return Error::success();
}

} // namespace

Expected<Image> convoy::artifact::flattenImage(StringRef elf) {
  Expected<ElfFile> file = ElfFile::create(elf);
  if (!file)
    return file.takeError();
  const Elf::Ehdr &header = file->getHeader();
  if (!header.checkMagic() || header.getFileClass() != ELF::ELFCLASS64 ||
      header.getDataEncoding() != ELF::ELFDATA2LSB || header.e_machine != ELF::EM_X86_64 ||
      header.e_type != ELF::ET_DYN)
    return error("not an x86-64 ELF shared object");
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  Image image;
  for (const Elf::Shdr &section : *sections)
    if (Error problem = checkSection(*file, section))
      return std::move(problem);
  if (Error problem = copySegments(*file, image.bytes))
    return std::move(problem);
  for (const Elf::Shdr &section : *sections)
    if (section.sh_type == ELF::SHT_DYNSYM)
      if (Error problem = readSymbols(*file, section, image))
        return std::move(problem);
  return image;
}
