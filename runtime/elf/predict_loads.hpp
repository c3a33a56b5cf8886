// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/variables.hpp"
#include "elf/elf_file.hpp"

namespace hierbar {

// The files of an ld.so.cache by name, for this machine's own kind of programs. Files for cpus of a
// kind (glibc-hwcaps) are left out.
using LoaderCache = std::map<std::string, std::string>;

// What the bytes of the file say, in the format that glibc writes since 2.32; nothing if they are
// in another one, or damaged.
std::optional<LoaderCache> parse_loader_cache(std::string_view bytes);

// How the loader comes to a file.
enum class FoundBy {
  kProgram,   // it is the program
  kPath,      // the name has a '/'
  kRpath,     // DT_RPATH of the file that needs it, or of one that led to that
  kVariable,  // LD_LIBRARY_PATH
  kRunpath,   // DT_RUNPATH of the file that needs it
  kCache,     // /etc/ld.so.cache
  kDefault,   // a directory that the loader always searches
};

const char* describe(FoundBy found);  // "DT_RPATH"

struct LoadedFile {
  std::string name = {};       // as it was asked for
  ElfFile elf = {};            // its path has links in it, as the loader found it
  std::string real_path = {};  // without links
  FoundBy found = FoundBy::kProgram;
  bool is_preloaded = false;
  std::size_t asked_by = 0;           // index of the file that needs it
  std::string shadowed_in_path = {};  // by a DT_RPATH: a file of that name in LD_LIBRARY_PATH
};

// The files that the loader maps for a program before it starts, in the loader's order, which is
// also the order in which symbols are looked for: the program, what is preloaded, then what these
// need, level by level.
struct Loads {
  struct Missing {
    std::string name;
    std::string asked_by;  // a file
  };
  std::vector<LoadedFile> files;
  std::vector<Missing> missing;
};

struct LoaderInput {
  Environment environment;
  // The file of ld.so.cache for a name; empty if it has none.
  std::function<std::string(const std::string& name)> cache;
  // The program runs with rights that its caller lacks (setuid): the loader ignores
  // LD_LIBRARY_PATH, and of LD_PRELOAD what has a '/'.
  bool is_privileged = false;
  // Names, as they are asked for, that an audit module answers with something that is of no
  // interest. May be null.
  std::function<bool(const std::string& name)> is_answered = {};
};

// Follows glibc's loader (ld.so(8)) without running anything. Left out: directories for a kind of
// cpu (glibc-hwcaps), and what a program opens by itself while it runs.
//
// Errors: the program cannot be read.
Result<Loads> predict_loads(const std::string& program, const LoaderInput& input);

// The libraries of this machine's ld.so.cache, for its own kind of programs. Where its file is
// not there or has another format, ldconfig is asked; without that nothing is found.
std::function<std::string(const std::string& name)> read_loader_cache();

}  // namespace hierbar
