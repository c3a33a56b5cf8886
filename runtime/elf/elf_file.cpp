// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "elf/elf_file.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hierbar {
namespace {

// An open file with libelf's handle on it; null if it is no ELF file.
class OpenElf {
 public:
  explicit OpenElf(const std::string& path) {
    elf_version(EV_CURRENT);
    // A pipe of that name would wait for its writer.
    file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status{};
    if (file_ < 0) {
      problem_ = std::strerror(errno);
    } else if (fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) {
      problem_ = "not a regular file";
    } else if (handle_ = elf_begin(file_, ELF_C_READ, nullptr);
               handle_ == nullptr || elf_kind(handle_) != ELF_K_ELF) {
      problem_ = "no ELF file";
    }
  }
  ~OpenElf() {
    elf_end(handle_);  // null is allowed
    if (file_ >= 0) close(file_);
  }
  OpenElf(const OpenElf&) = delete;
  OpenElf& operator=(const OpenElf&) = delete;

  Elf* get() const { return handle_; }
  const std::string& problem() const { return problem_; }

 private:
  int file_ = -1;
  Elf* handle_ = nullptr;
  std::string problem_;
};

// The bytes of the file that are loaded from `address` on: `num_bytes`, or fewer where the segment
// ends. Only these are read: a library of 100 MB has its names at the front.
std::string_view bytes_at(Elf* elf, std::uint64_t address, std::uint64_t num_bytes) {
  std::size_t num_headers = 0;
  elf_getphdrnum(elf, &num_headers);
  for (std::size_t i = 0; i < num_headers; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD)
      continue;
    if (address < header.p_vaddr || address - header.p_vaddr >= header.p_filesz) continue;
    const std::uint64_t within = address - header.p_vaddr;
    const Elf_Data* data =
        elf_getdata_rawchunk(elf, static_cast<std::int64_t>(header.p_offset + within),
                             std::min(num_bytes, header.p_filesz - within), ELF_T_BYTE);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<const char*>(data->d_buf), data->d_size};
  }
  return {};
}

std::string text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return "";
  const std::string_view rest = table.substr(offset);
  const std::size_t end = rest.find('\0');
  return std::string(end == std::string_view::npos ? "" : rest.substr(0, end));
}

void read_dynamic(Elf* elf, const GElf_Phdr& header, ElfFile& file) {
  Elf_Data* data = elf_getdata_rawchunk(elf, static_cast<std::int64_t>(header.p_offset),
                                        header.p_filesz, ELF_T_DYN);
  if (data == nullptr) return;
  std::vector<GElf_Dyn> entries;
  std::uint64_t strings_at = 0;
  std::uint64_t strings_size = 0;
  for (int i = 0; entries.size() < header.p_filesz; ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(data, i, &entry) == nullptr || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) strings_at = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) strings_size = entry.d_un.d_val;
    entries.push_back(entry);
  }
  const std::string_view strings = bytes_at(elf, strings_at, strings_size);
  for (const GElf_Dyn& entry : entries) {
    const auto text = [&] { return text_at(strings, entry.d_un.d_val); };
    if (entry.d_tag == DT_NEEDED) file.needed.push_back(text());
    if (entry.d_tag == DT_SONAME) file.soname = text();
    if (entry.d_tag == DT_RPATH) file.rpath = text();
    if (entry.d_tag == DT_RUNPATH) file.runpath = text();
    if (entry.d_tag == DT_FLAGS_1)
      file.no_default_libraries = (entry.d_un.d_val & DF_1_NODEFLIB) != 0;
  }
  if (!file.runpath.empty()) file.rpath.clear();
}

void look_into_section(Elf* elf, Elf_Scn* section, const GElf_Shdr& header,
                       const std::vector<std::string_view>& names,
                       std::vector<SymbolState>& states) {
  Elf_Data* data = elf_getdata(section, nullptr);
  const std::uint64_t num_symbols =
      data == nullptr || header.sh_entsize == 0 ? 0 : data->d_size / header.sh_entsize;
  for (std::uint64_t i = 0; i < num_symbols; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name == nullptr || *name == '\0') continue;
    const std::string_view plain =
        std::string_view(name).substr(0, std::string_view(name).find('@'));
    const auto found = std::find(names.begin(), names.end(), plain);
    if (found == names.end()) continue;
    SymbolState& state = states[static_cast<std::size_t>(found - names.begin())];
    state =
        std::max(state, symbol.st_shndx == SHN_UNDEF ? SymbolState::kUsed : SymbolState::kDefined);
  }
}

}  // namespace

Result<ElfFile> read_elf(const std::string& path) {
  const OpenElf open(path);
  if (!open.problem().empty()) return Error{path + ": " + open.problem()};
  GElf_Ehdr header;
  std::size_t num_headers = 0;
  if (gelf_getehdr(open.get(), &header) == nullptr ||
      elf_getphdrnum(open.get(), &num_headers) != 0) {
    return Error{path + ": " + elf_errmsg(-1)};
  }
  ElfFile file{.path = path,
               .machine = header.e_machine,
               .is_64_bit = header.e_ident[EI_CLASS] == ELFCLASS64};
  for (std::size_t i = 0; i < num_headers; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(open.get(), static_cast<int>(i), &segment) == nullptr)
      return Error{path + ": " + elf_errmsg(-1)};
    if (segment.p_type == PT_INTERP)
      file.interpreter = text_at(bytes_at(open.get(), segment.p_vaddr, segment.p_filesz), 0);
    if (segment.p_type != PT_DYNAMIC) continue;
    file.is_dynamic = true;
    read_dynamic(open.get(), segment, file);
  }
  return file;
}

std::vector<SymbolState> find_symbols(const std::string& path,
                                      const std::vector<std::string_view>& names) {
  std::vector<SymbolState> states(names.size(), SymbolState::kNone);
  const OpenElf open(path);
  if (!open.problem().empty()) return states;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(open.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) break;
    if (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB) {
      look_into_section(open.get(), section, header, names, states);
    }
  }
  return states;
}

bool has_constant(const std::string& path, std::string_view text) {
  const OpenElf open(path);
  std::size_t names = 0;
  if (!open.problem().empty() || elf_getshdrstrndx(open.get(), &names) != 0) return false;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(open.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return false;
    const char* name = elf_strptr(open.get(), names, header.sh_name);
    if (name == nullptr || !std::string_view(name).starts_with(".rodata")) continue;
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    if (std::string_view(static_cast<const char*>(data->d_buf), data->d_size).find(text) !=
        std::string_view::npos)
      return true;
  }
  return false;
}

}  // namespace hierbar
