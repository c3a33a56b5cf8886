// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symbol/debug_info.hpp"

#ifdef HIERBAR_WITHOUT_LIBDW

namespace hierbar {

void read_debug_info(CodePlace&) {}

void close_debug_files() {}

}  // namespace hierbar

#else

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "base/text.hpp"
#include "symbol/call_frames.hpp"
#include "symbol/code_place.hpp"

namespace hierbar {
namespace {

// ---- the file with the debug information, if it is not in the object ----

constexpr const char* kDebugDirectory = "/usr/lib/debug";

std::uint32_t checksum(const unsigned char* data,
                       std::size_t size) {  // that of .gnu_debuglink, CRC-32
  static const auto table = [] {
    std::array<std::uint32_t, 256> values{};
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit)
        value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320U : 0U);
      values[i] = value;
    }
    return values;
  }();
  std::uint32_t sum = ~0U;
  for (std::size_t i = 0; i < size; ++i) sum = table[(sum ^ data[i]) & 0xFF] ^ (sum >> 8);
  return ~sum;
}

bool has_checksum(int file, std::uint32_t expected) {
  struct stat status{};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) return false;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (data == MAP_FAILED) return false;
  const bool is_equal = checksum(static_cast<const unsigned char*>(data), size) == expected;
  munmap(data, size);
  return is_equal;
}

int open_with_checksum(const std::string& path, std::uint32_t expected) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 || has_checksum(file, expected)) return file;
  close(file);
  return -1;
}

// Like dwfl_standard_find_debuginfo(), which asks servers too if the environment names some. A
// program's end is no place to wait for one.
int find_debug_file(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base,
                    const char* object, const char* link, GElf_Word expected, char** found) {
  const int by_id = load_libdw()->dwfl_build_id_find_debuginfo(module, data, name, base, object,
                                                               link, expected, found);
  if (by_id >= 0 || object == nullptr || link == nullptr) return by_id;
  char* const absolute = realpath(object, nullptr);
  if (absolute == nullptr) return -1;
  const std::string path = absolute;
  free(absolute);
  const std::string directory = path.substr(0, path.rfind('/'));
  for (const std::string& place : {directory, directory + "/.debug", kDebugDirectory + directory}) {
    const std::string debug = place + "/" + link;
    if (debug == path) continue;
    if (const int file = open_with_checksum(debug, expected); file >= 0) return file;
  }
  return -1;
}

// ---- one object ----

struct EndSession {
  const Libdw* dw = nullptr;
  void operator()(Dwfl* session) const { dw->dwfl_end(session); }
};
using Session = std::unique_ptr<Dwfl, EndSession>;

struct DebugFile {
  Session session;
  Dwfl_Module* module = nullptr;  // null if there is none of the object's build
};

// By path and build.
std::map<std::pair<std::string, std::string>, DebugFile>& debug_files() {
  static auto* const files = new std::map<std::pair<std::string, std::string>, DebugFile>;
  return *files;
}

bool is_same_build(const Libdw& dw, Dwfl_Module* module, const std::string& in_memory) {
  const unsigned char* bits = nullptr;
  GElf_Addr address = 0;
  const int size = dw.dwfl_module_build_id(module, &bits, &address);
  std::string in_file;
  for (int i = 0; i < size; ++i) in_file += format_text("%02x", static_cast<unsigned>(bits[i]));
  return in_memory.empty() || in_file == in_memory;
}

std::string symbol_at(const Libdw& dw, Dwfl_Module* module, Dwarf_Addr address) {
  GElf_Off offset = 0;
  GElf_Sym symbol;
  // Of the byte before: a call that does not return may be the last of its function.
  const char* const name =
      dw.dwfl_module_addrinfo(module, address - 1, &offset, &symbol, nullptr, nullptr, nullptr);
  return name == nullptr
             ? ""
             : symbol_name(name) + format_text("+0x%zx", static_cast<std::size_t>(offset) + 1);
}

// The units are searched one after another. An index of them is optional in files, and compilers
// leave it out.
std::vector<CodeFrame> find_frames(const Libdw& dw, Dwfl_Module* module, Dwarf_Addr address) {
  Dwarf_Addr bias = 0;
  for (Dwarf_Die* unit = nullptr; (unit = dw.dwfl_module_nextcu(module, unit, &bias)) != nullptr;)
    if (dw.dwarf_haspc(unit, address - 1 - bias) == 1)
      return frames_of_call(dw, *unit, address - bias);
  return {};
}

DebugFile open_debug_file(const Libdw& dw, const CodeObject& object) {
  static char* no_path = nullptr;
  static const Dwfl_Callbacks callbacks{nullptr, find_debug_file, dw.dwfl_offline_section_address,
                                        &no_path};
  DebugFile file{Session(dw.dwfl_begin(&callbacks), EndSession{&dw})};
  if (file.session == nullptr) return file;
  // Loaded at 0, its addresses are those of the file.
  file.module =
      dw.dwfl_report_elf(file.session.get(), object.name.c_str(), object.path.c_str(), -1, 0, true);
  dw.dwfl_report_end(file.session.get(), nullptr, nullptr);
  if (file.module != nullptr && !is_same_build(dw, file.module, object.build_id))
    file.module = nullptr;
  return file;
}

}  // namespace

void read_debug_info(CodePlace& place) {
  const Libdw* const dw = load_libdw();
  if (dw == nullptr || place.object.path.empty() || place.file_address == 0) return;
  const auto [position, is_new] =
      debug_files().try_emplace({place.object.path, place.object.build_id});
  if (is_new) position->second = open_debug_file(*dw, place.object);
  Dwfl_Module* const module = position->second.module;
  if (module == nullptr) return;
  place.frames = find_frames(*dw, module, place.file_address);
  place.symbol = symbol_at(*dw, module, place.file_address);
}

void close_debug_files() { debug_files().clear(); }

}  // namespace hierbar

#endif
