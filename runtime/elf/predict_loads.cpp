// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "elf/predict_loads.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>

#include "base/arch/loader.hpp"
#include "base/files.hpp"
#include "base/process.hpp"

namespace hierbar {
namespace {

constexpr std::size_t kMostBytes = 64U << 20;

// glibc's sysdeps/generic/dl-cache.h. Texts are given by their distance from the header.
struct Header {
  char magic[20];
  std::uint32_t num_entries;
  std::uint32_t num_text_bytes;
  std::uint8_t byte_order;  // 0: not said, 2: little, 3: big endian
  std::uint8_t unused[19];
};
struct Entry {
  std::int32_t flags;
  std::uint32_t name;
  std::uint32_t path;
  std::uint32_t system;
  std::uint64_t cpu;  // not 0: for cpus of a kind (glibc-hwcaps)
};
static_assert(sizeof(Header) == 48 && sizeof(Entry) == 24);

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr std::uint8_t kByteOrder = std::endian::native == std::endian::little ? 2 : 3;

std::string ask_ldconfig() {
  // The command is in no user's PATH on Debian.
  return command_output("PATH=\"$PATH:/sbin:/usr/sbin\" exec ldconfig -p 2>/dev/null");
}

// Lines such as "libgomp.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libgomp.so.1".
LoaderCache parse_list(const std::string& text) {
  LoaderCache files;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t kind = line.find(kLibraryKind);
    const std::size_t arrow = line.find(" => ");
    const std::size_t begin = line.find_first_not_of(" \t");
    if (kind == std::string::npos || arrow == std::string::npos || kind <= begin + 1) continue;
    files.emplace(line.substr(begin, kind - 1 - begin), line.substr(arrow + 4));
  }
  return files;
}

}  // namespace

std::optional<LoaderCache> parse_loader_cache(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::string_view(header.magic, sizeof header.magic) != kMagic) return std::nullopt;
  if (header.byte_order != 0 && header.byte_order != kByteOrder) return std::nullopt;
  if (header.num_entries > (bytes.size() - sizeof header) / sizeof(Entry)) return std::nullopt;

  const auto text_at = [bytes](std::uint32_t at) -> std::optional<std::string_view> {
    const std::size_t end = at < bytes.size() ? bytes.find('\0', at) : std::string_view::npos;
    if (end == std::string_view::npos) return std::nullopt;
    return bytes.substr(at, end - at);
  };
  LoaderCache files;
  for (std::uint32_t i = 0; i < header.num_entries; ++i) {
    Entry entry;
    std::memcpy(&entry, bytes.data() + sizeof header + i * sizeof entry, sizeof entry);
    if (entry.flags != kLibraryFlags || entry.cpu != 0) continue;
    const auto name = text_at(entry.name);
    const auto path = text_at(entry.path);
    if (!name || !path) return std::nullopt;
    files.emplace(*name, *path);  // of several for a name the loader takes the first
  }
  return files;
}

std::function<std::string(const std::string& name)> read_loader_cache() {
  std::optional<LoaderCache> cache =
      parse_loader_cache(read_small_file("/etc/ld.so.cache", kMostBytes).text);
  // Other systems keep the cache elsewhere, and glibc before 2.32 writes an older format before it.
  if (!cache) cache = parse_list(ask_ldconfig());
  auto files = std::make_shared<const LoaderCache>(std::move(*cache));
  return [files](const std::string& name) {
    const auto found = files->find(name);
    return found == files->end() ? "" : found->second;
  };
}

namespace {

namespace fs = std::filesystem;

void replace_all(std::string& text, const std::string& word, const std::string& value) {
  for (const std::string& form : {"${" + word + "}", "$" + word}) {
    for (std::size_t at = 0; (at = text.find(form, at)) != std::string::npos; at += value.size()) {
      text.replace(at, form.size(), value);
    }
  }
}

// $LIB is lib/<multiarch> on Debian's kind of systems and lib64 or lib on others: which of them is
// meant depends on how the loader was built, so each that exists is searched.
void append_expanded(const std::string& written, const std::string& origin,
                     std::vector<std::string>& directories) {
  std::string directory = written.empty() ? "." : written;
  replace_all(directory, "ORIGIN", origin);
  replace_all(directory, "PLATFORM", kPlatform);
  const auto has_lib =
      directory.find("$LIB") != std::string::npos || directory.find("${LIB}") != std::string::npos;
  for (const std::string& lib :
       {"lib/" + std::string(kMultiarch), std::string("lib64"), std::string("lib")}) {
    std::string one = directory;
    replace_all(one, "LIB", lib);
    directories.push_back(one);
    if (!has_lib) return;
  }
}

std::vector<std::string> directories_of(const std::string& path, const std::string& origin,
                                        const char* separators = ":") {
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

std::string origin_of(const ElfFile& file) {
  return fs::path(real_path_of(file.path)).parent_path().string();
}

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
      const std::vector<std::string> needed =
          loads_.files[i].elf.needed;  // the list of files grows meanwhile
      for (const std::string& name : needed) load(name, i);
    }
    return std::move(loads_);
  }

 private:
  void add(LoadedFile file) { loads_.files.push_back(std::move(file)); }

  bool is_loaded(const std::string& name) const {
    return std::any_of(loads_.files.begin(), loads_.files.end(), [&](const LoadedFile& file) {
      return file.name == name || file.elf.soname == name;
    });
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
      if (in_any(variable_directories(), shadowed, FoundBy::kVariable) &&
          real_path_of(shadowed.elf.path) != file.real_path) {
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
      return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
        return accept(path, file, FoundBy::kPath);
      });
    }
    if (asker.elf.runpath.empty() && in_rpaths(file)) return true;
    if (in_any(variable_directories(), file, FoundBy::kVariable)) return true;
    if (in_any(directories_of(asker.elf.runpath, origin_of(asker.elf)), file, FoundBy::kRunpath))
      return true;
    if (asker.elf.no_default_libraries) return false;
    if (const std::string cached = input_.cache ? input_.cache(file.name) : ""; !cached.empty()) {
      if (accept(cached, file, FoundBy::kCache)) return true;
    }
    const std::string multiarch = std::string("lib/") + kMultiarch;
    return in_any(
        {"/" + multiarch, "/usr/" + multiarch, "/lib64", "/usr/lib64", "/lib", "/usr/lib"}, file,
        FoundBy::kDefault);
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
    return directories_of(value_of(input_.environment, "LD_LIBRARY_PATH"),
                          origin_of(loads_.files.front().elf), ":;");
  }

  bool in_any(const std::vector<std::string>& directories, LoadedFile& file, FoundBy found) const {
    return std::any_of(directories.begin(), directories.end(), [&](const std::string& directory) {
      return accept(directory + "/" + file.name, file, found);
    });
  }

  // The loader passes over files of other kinds of machines.
  bool accept(const std::string& path, LoadedFile& file, FoundBy found) const {
    std::error_code unreadable;
    if (!fs::exists(path, unreadable)) return false;
    Result<ElfFile> elf = read_elf(path);
    const ElfFile& program = loads_.files.front().elf;
    if (!elf || elf->machine != program.machine || elf->is_64_bit != program.is_64_bit)
      return false;
    file.elf = *std::move(elf);
    file.found = found;
    return true;
  }

  const LoaderInput& input_;
  Loads loads_;
};

}  // namespace

const char* describe(FoundBy found) {
  switch (found) {
    case FoundBy::kProgram:
      return "the program";
    case FoundBy::kPath:
      return "its path";
    case FoundBy::kRpath:
      return "DT_RPATH";
    case FoundBy::kVariable:
      return "LD_LIBRARY_PATH";
    case FoundBy::kRunpath:
      return "DT_RUNPATH";
    case FoundBy::kCache:
      return "ld.so.cache";
    case FoundBy::kDefault:
      return "the loader's own directories";
  }
  return "";
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
