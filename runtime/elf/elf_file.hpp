// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace hierbar {

// What the loader reads of a program or library before it loads others.
struct ElfFile {
  std::string path = {};
  std::uint16_t machine = 0;  // EM_X86_64, ...
  bool is_64_bit = true;
  bool is_dynamic = false;               // otherwise the loader has no part in it
  std::string interpreter = {};          // the loader; empty for libraries and static programs
  std::string soname = {};               // empty if it has none
  std::vector<std::string> needed = {};  // names as they are written, in order
  // Search paths as they are written, with $ORIGIN and with ':' between directories. The loader
  // ignores DT_RPATH beside DT_RUNPATH.
  std::string rpath = {};
  std::string runpath = {};
  bool no_default_libraries = false;  // neither ld.so.cache nor the loader's own directories
};

// Errors: it cannot be opened; it is no ELF file; its tables point outside of it.
Result<ElfFile> read_elf(const std::string& path);

// A function or variable of a file, in its dynamic symbols or in the others if they are not
// stripped.
enum class SymbolState { kNone, kUsed, kDefined };

// The strongest state of each name. All are kNone if the file cannot be read.
std::vector<SymbolState> find_symbols(const std::string& path,
                                      const std::vector<std::string_view>& names);

// Whether the file's constants (.rodata) contain the text.
bool has_constant(const std::string& path, std::string_view text);

}  // namespace hierbar
