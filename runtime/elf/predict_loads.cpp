// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "elf/predict_loads.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace hierbar {
namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__)
constexpr const char* kMultiarch = "x86_64-linux-gnu";
constexpr const char* kPlatform = "x86_64";
#elif defined(__aarch64__)
constexpr const char* kMultiarch = "aarch64-linux-gnu";
constexpr const char* kPlatform = "aarch64";
#else
constexpr const char* kMultiarch = "";
constexpr const char* kPlatform = "";
#endif

void replace_all(std::string& text, const std::string& word, const std::string& value) {
  for (const std::string& form : {"${" + word + "}", "$" + word}) {
    for (std::size_t at = 0; (at = text.find(form, at)) != std::string::npos; at += value.size()) {
      text.replace(at, form.size(), value);
    }
  }
}

// $LIB is lib/<multiarch> on Debian's kind of systems and lib64 or lib on others: which of them is
// meant depends on how the loader was built, so each that exists is searched.
void append_expanded(const std::string& written, const std::string& origin, std::vector<std::string>& directories) {
  std::string directory = written.empty() ? "." : written;
  replace_all(directory, "ORIGIN", origin);
  replace_all(directory, "PLATFORM", kPlatform);
  const auto has_lib = directory.find("$LIB") != std::string::npos || directory.find("${LIB}") != std::string::npos;
  for (const std::string& lib : {"lib/" + std::string(kMultiarch), std::string("lib64"), std::string("lib")}) {
    std::string one = directory;
    replace_all(one, "LIB", lib);
    directories.push_back(one);
    if (!has_lib) return;
  }
}

std::vector<std::string> directories_of(const std::string& path, const std::string& origin, const char* separators = ":") {
  std::vector<std::string> directories;
  if (path.empty()) return directories;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find_first_of(separators, begin), path.size());
    append_expanded(path.substr(begin, end - begin), origin, directories);
    begin = end + 1;
  }
  return directories;
}

std::string real_path_of(const std::string& path) {
  std::error_code unresolved;
  const fs::path real = fs::canonical(path, unresolved);
  return unresolved ? path : real.string();
}

std::string origin_of(const ElfFile& file) { return fs::path(real_path_of(file.path)).parent_path().string(); }

class Loader {
 public:
  Loader(const LoaderInput& input, ElfFile program) : input_(input) {
    const std::string path = program.path;
    add({.name = path, .elf = std::move(program), .real_path = real_path_of(path)});
  }

  void preload(const std::string& name) {
    const std::size_t before = loads_.files.size();
    load(name, 0);
    if (loads_.files.size() > before) loads_.files.back().is_preloaded = true;
  }

  Loads load_all() && {
    for (std::size_t i = 0; i < loads_.files.size(); ++i) {
      const std::vector<std::string> needed = loads_.files[i].elf.needed;  // the list of files grows meanwhile
      for (const std::string& name : needed) load(name, i);
    }
    return std::move(loads_);
  }

 private:
  void add(LoadedFile file) { loads_.files.push_back(std::move(file)); }

  bool is_loaded(const std::string& name) const {
    return std::any_of(loads_.files.begin(), loads_.files.end(),
                       [&](const LoadedFile& file) { return file.name == name || file.elf.soname == name; });
  }

  void load(const std::string& name, std::size_t asked_by) {
    if (is_loaded(name)) return;
    if (input_.is_answered && input_.is_answered(name)) return;
    LoadedFile file{.name = name, .asked_by = asked_by};
    if (!search(file)) {
      const auto known = [&](const Loads::Missing& missing) { return missing.name == name; };
      if (std::none_of(loads_.missing.begin(), loads_.missing.end(), known)) {
        loads_.missing.push_back({name, loads_.files[asked_by].elf.path});
      }
      return;
    }
    file.real_path = real_path_of(file.elf.path);
    const auto is_same = [&](const LoadedFile& other) { return other.real_path == file.real_path; };
    if (std::any_of(loads_.files.begin(), loads_.files.end(), is_same)) return;  // by another name
    if (file.found == FoundBy::kRpath) {
      LoadedFile shadowed{.name = name};
      if (in_any(variable_directories(), shadowed, FoundBy::kVariable) && real_path_of(shadowed.elf.path) != file.real_path) {
        file.shadowed_in_path = shadowed.elf.path;
      }
    }
    add(std::move(file));
  }

  // In the loader's order.
  bool search(LoadedFile& file) const {
    const LoadedFile& asker = loads_.files[file.asked_by];
    if (file.name.find('/') != std::string::npos) {
      std::vector<std::string> paths;
      append_expanded(file.name, origin_of(asker.elf), paths);
      return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) { return accept(path, file, FoundBy::kPath); });
    }
    if (asker.elf.runpath.empty() && in_rpaths(file)) return true;
    if (in_any(variable_directories(), file, FoundBy::kVariable)) return true;
    if (in_any(directories_of(asker.elf.runpath, origin_of(asker.elf)), file, FoundBy::kRunpath)) return true;
    if (asker.elf.no_default_libraries) return false;
    if (const std::string cached = input_.cache ? input_.cache(file.name) : ""; !cached.empty()) {
      if (accept(cached, file, FoundBy::kCache)) return true;
    }
    const std::string multiarch = std::string("lib/") + kMultiarch;
    return in_any({"/" + multiarch, "/usr/" + multiarch, "/lib64", "/usr/lib64", "/lib", "/usr/lib"}, file, FoundBy::kDefault);
  }

  // DT_RPATH of the file that asks, of the one that led to it, and so on, then the program's.
  bool in_rpaths(LoadedFile& file) const {
    for (std::size_t i = file.asked_by;; i = loads_.files[i].asked_by) {
      const ElfFile& elf = loads_.files[i].elf;
      if (in_any(directories_of(elf.rpath, origin_of(elf)), file, FoundBy::kRpath)) return true;
      if (i == 0) return false;
    }
  }

  std::vector<std::string> variable_directories() const {
    if (input_.is_privileged) return {};
    return directories_of(value_of(input_.environment, "LD_LIBRARY_PATH"), origin_of(loads_.files.front().elf), ":;");
  }

  bool in_any(const std::vector<std::string>& directories, LoadedFile& file, FoundBy found) const {
    return std::any_of(directories.begin(), directories.end(),
                       [&](const std::string& directory) { return accept(directory + "/" + file.name, file, found); });
  }

  // The loader passes over files of other kinds of machines.
  bool accept(const std::string& path, LoadedFile& file, FoundBy found) const {
    std::error_code unreadable;
    if (!fs::exists(path, unreadable)) return false;
    Result<ElfFile> elf = read_elf(path);
    const ElfFile& program = loads_.files.front().elf;
    if (!elf || elf->machine != program.machine || elf->is_64_bit != program.is_64_bit) return false;
    file.elf = *std::move(elf);
    file.found = found;
    return true;
  }

  const LoaderInput& input_;
  Loads loads_;
};

}  // namespace

const char* describe(FoundBy found) {
  constexpr const char* kNames[] = {
      "the program", "its path", "DT_RPATH", "LD_LIBRARY_PATH", "DT_RUNPATH", "ld.so.cache", "the loader's own directories"};
  return kNames[static_cast<int>(found)];
}

Result<Loads> predict_loads(const std::string& program, const LoaderInput& input) {
  Result<ElfFile> elf = read_elf(program);
  if (!elf) return Error{elf.error()};
  const bool is_dynamic = elf->is_dynamic;
  Loader loader(input, *std::move(elf));
  std::string preloaded = value_of(input.environment, "LD_PRELOAD");
  std::replace(preloaded.begin(), preloaded.end(), ':', ' ');
  std::istringstream names(is_dynamic ? preloaded : "");
  for (std::string name; names >> name;) {
    if (!input.is_privileged || name.find('/') == std::string::npos) loader.preload(name);
  }
  return std::move(loader).load_all();
}

}  // namespace hierbar
