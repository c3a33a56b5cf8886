// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/program/sanitizers.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "elf/elf_file.hpp"

namespace hierbar {
namespace {

struct Known {
  std::string_view gcc_library, clang_library, start_function;
  Sanitizer sanitizer;
};

constexpr Known kKnown[] = {
    // It ends a program in which another library comes before it, since that might define malloc().
    // Ours define nothing that it replaces.
    {"libasan.so",
     "libclang_rt.asan",
     "__asan_init",
     {"AddressSanitizer", false, "ASAN_OPTIONS", "verify_asan_link_order=0", "lets libraries be preloaded before it"}},
    // It has 0.8 MB of static thread-local memory. With LD_AUDIT the loader sets the size of that memory
    // before it has seen the program's libraries.
    {"libtsan.so",
     "libclang_rt.tsan",
     "__tsan_init",
     {"ThreadSanitizer", false, "GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=1048576",
      "makes room for its thread-local memory"}},
};

bool is_needed(const ElfFile& elf, const Known& known) {
  return std::any_of(elf.needed.begin(), elf.needed.end(), [&](const std::string& name) {
    return name.starts_with(known.gcc_library) || name.starts_with(known.clang_library);
  });
}

}  // namespace

std::vector<Sanitizer> find_shared_sanitizers(const std::string& file) {
  std::vector<Sanitizer> found;
  const Result<ElfFile> elf = read_elf(file);
  for (const Known& known : kKnown) {
    if (elf && is_needed(*elf, known)) found.push_back(known.sanitizer);
  }
  return found;
}

std::vector<Sanitizer> find_all_sanitizers(const std::string& file) {
  std::vector<Sanitizer> found = find_shared_sanitizers(file);
  std::vector<std::string_view> functions;
  for (const Known& known : kKnown) functions.push_back(known.start_function);
  const std::vector<SymbolState> states = find_symbols(file, functions);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const bool is_shared =
        std::any_of(found.begin(), found.end(), [&](const Sanitizer& one) { return one.name == kKnown[i].sanitizer.name; });
    if (is_shared || states[i] != SymbolState::kDefined) continue;
    found.push_back(kKnown[i].sanitizer);
    found.back().is_linked_in = true;
  }
  return found;
}

}  // namespace hierbar
