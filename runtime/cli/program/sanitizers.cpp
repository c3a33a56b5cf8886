// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/program/sanitizers.hpp"

#include <algorithm>
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

}  // namespace

std::vector<Sanitizer> find_sanitizers(const std::string& file) {
  std::vector<Sanitizer> found;
  const Result<ElfFile> elf = read_elf(file);
  if (!elf) return found;
  for (const Known& known : kKnown) {
    const bool is_needed = std::any_of(elf->needed.begin(), elf->needed.end(), [&](const std::string& name) {
      return name.starts_with(known.gcc_library) || name.starts_with(known.clang_library);
    });
    const bool is_defined = !is_needed && find_symbols(file, {known.start_function}).front() == SymbolState::kDefined;
    if (!is_needed && !is_defined) continue;
    found.push_back(known.sanitizer);
    found.back().is_linked_in = is_defined;
  }
  return found;
}

}  // namespace hierbar
