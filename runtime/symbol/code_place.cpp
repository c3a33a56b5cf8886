// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symbol/code_place.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/text.hpp"
#include "symbol/debug_info.hpp"

namespace hierbar {
namespace {

// GCC's; Clang's; Clang's before 17, which had no name before it.
constexpr std::string_view kMarks[] = {"._omp_fn.", ".omp_outlined", "._omp_outlined"};

std::size_t find_mark(std::string_view name) {
  for (const std::string_view mark : kMarks)
    if (const std::size_t at = name.find(mark); at != std::string_view::npos) return at;
  return std::string_view::npos;
}

// gfortran's procedure of a module: "__solver_MOD_step".
std::string fortran_name(const std::string& name) {
  const std::size_t at = name.find("_MOD_");
  if (name.rfind("__", 0) != 0 || at == std::string::npos || at <= 2) return name;
  return name.substr(2, at - 2) + "::" + name.substr(at + 5);
}

// "(int) const" at the end.
void cut_parameters(std::string& text) {
  const std::size_t close = text.rfind(')');
  if (close == std::string::npos ||
      text.find_first_not_of(" &constvlaie", close + 1) != std::string::npos)
    return;
  std::size_t open = close;
  for (int depth = 1; depth > 0 && open > 0;) {
    --open;
    depth += text[open] == ')' ? 1 : text[open] == '(' ? -1 : 0;
  }
  if (open != 0) text.erase(open);
}

// "void " at the begin, which a name has if its function is a template's.
void cut_result(std::string& text) {
  int depth = 0;
  for (std::size_t at = text.size(); at > 0; --at) {
    const char c = text[at - 1];
    depth += c == '>' || c == ')' || c == '}' ? 1 : c == '<' || c == '(' || c == '{' ? -1 : 0;
    if (c != ' ' || depth != 0) continue;
    text.erase(0, at);
    return;
  }
}

// Arguments of templates that are longer than what is shown, "<...>".
void cut_arguments(std::string& text) {
  constexpr std::size_t kLongest = 30;
  std::size_t open = 0;
  for (std::size_t at = 0, depth = 0; at < text.size(); ++at) {
    if (text[at] == '<' && depth++ == 0) open = at;
    if (text[at] != '>' || depth == 0 || --depth > 0 || at - open <= kLongest) continue;
    text.replace(open + 1, at - open - 1, "...");
    at = open + 4;
  }
}

}  // namespace

std::string demangle(const std::string& name) {
  if (name.rfind("_Z", 0) != 0) return fortran_name(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? readable.get() : name;
}

std::string source_function(const std::string& name) {
  return demangle(name.substr(0, find_mark(name)));
}

std::string short_name(const std::string& name) {
  std::string text = name;
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = text.find(kUnnamed)) != std::string::npos;)
    text.erase(at, kUnnamed.size());
  cut_parameters(text);
  if (text.find("operator") != std::string::npos) return text;  // "operator<" opens nothing
  cut_result(text);
  cut_arguments(text);
  return text;
}

std::string symbol_name(const std::string& name) {
  const std::size_t dot = name.find('.', 1);
  return short_name(demangle(name.substr(0, dot))) +
         (dot == std::string::npos ? "" : name.substr(dot));
}

bool is_outlined(const std::string& name) { return find_mark(name) != std::string_view::npos; }

namespace {

// The build id among the notes of one segment, which lies at `note` and has `size` bytes.
std::string read_notes(const char* note, std::size_t size) {
  const auto padded = [](std::size_t length) { return (length + 3) / 4 * 4; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note, sizeof header);
    const std::size_t name = sizeof header;
    const std::size_t content = name + padded(header.n_namesz);
    if (content < name || content > size || header.n_descsz > size - content) return "";
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(note + name, "GNU", 4) == 0) {
      std::string digits;
      for (std::size_t i = 0; i < header.n_descsz; ++i)
        digits += format_text("%02x",
                              static_cast<unsigned>(static_cast<unsigned char>(note[content + i])));
      return digits;
    }
    const std::size_t next = content + padded(header.n_descsz);
    if (next > size) return "";
    note += next;
    size -= next;
  }
  return "";
}

// From memory: the file may have been replaced since.
std::string read_build_id(const char* begin, const char* end, std::uintptr_t bias) {
  ElfW(Ehdr) header;
  if (static_cast<std::size_t>(end - begin) < sizeof header) return "";
  std::memcpy(&header, begin, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)))
    return "";
  const auto size = static_cast<std::size_t>(end - begin);
  if (header.e_phoff > size || header.e_phnum > (size - header.e_phoff) / sizeof(ElfW(Phdr)))
    return "";
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    std::memcpy(&segment, begin + header.e_phoff + i * sizeof segment, sizeof segment);
    const std::uintptr_t at = bias + segment.p_vaddr - reinterpret_cast<std::uintptr_t>(begin);
    if (segment.p_type != PT_NOTE || at > size || segment.p_memsz > size - at) continue;
    if (std::string id = read_notes(begin + at, segment.p_memsz); !id.empty()) return id;
  }
  return "";
}

std::string linked_path(const char* link) {
  char path[4096];
  const ssize_t length = readlink(link, path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

CodeObject describe(const link_map& map, const char* begin, const char* end) {
  CodeObject object;
  object.bias = map.l_addr;
  object.path = map.l_name;
  std::string shown = object.path;
  if (object.path.empty()) {  // the program: it can be opened here even if its file is gone
    object.path = "/proc/self/exe";
    shown = linked_path("/proc/self/exe");
  } else if (object.path[0] !=
             '/') {  // of the directory in which it was loaded, most likely this one
    object.path = linked_path("/proc/self/cwd") + "/" + object.path;
  }
  object.name = shown.substr(shown.rfind('/') + 1);
  object.build_id = read_build_id(begin, end, object.bias);
  return object;
}

struct Remembered {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  const link_map* map = nullptr;  // only compared: it may be gone
  CodeObject object;
};

std::mutex objects_mutex;

std::deque<Remembered>& remembered() {
  static auto* const objects =
      new std::deque<Remembered>;  // kept: reports are written when statics are gone
  return *objects;
}

// The latest one with the address. The caller holds objects_mutex.
const Remembered* find(std::uintptr_t address) {
  const auto& objects = remembered();
  for (auto object = objects.rbegin(); object != objects.rend(); ++object)
    if (address >= object->begin && address < object->end) return &*object;
  return nullptr;
}

#ifdef DLFO_EH_SEGMENT_TYPE
using FindObject = int (*)(void*, dl_find_object*);
// Looked up while this library is loaded, since that takes the loader's lock.
const auto find_object = reinterpret_cast<FindObject>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
#endif

}  // namespace

void remember_code([[maybe_unused]] const void* address) {
#ifdef DLFO_EH_SEGMENT_TYPE
  dl_find_object found{};
  if (address == nullptr || find_object == nullptr ||
      find_object(const_cast<void*>(address), &found) != 0)
    return;
  const auto begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
  const auto end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end);
  const std::lock_guard lock(objects_mutex);
  const Remembered* known = find(reinterpret_cast<std::uintptr_t>(address));
  if (known != nullptr && known->map == found.dlfo_link_map && known->begin == begin &&
      known->end == end)
    return;
  remembered().push_back(
      {begin, end, found.dlfo_link_map,
       describe(*found.dlfo_link_map, static_cast<const char*>(found.dlfo_map_start),
                static_cast<const char*>(found.dlfo_map_end))});
#endif
}

CodeObject object_of(const void* address) {
  {
    const std::lock_guard lock(objects_mutex);
    if (const Remembered* known = find(reinterpret_cast<std::uintptr_t>(address)))
      return known->object;
  }
  return loaded_object(address);
}

CodeObject loaded_object(const void* address) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
      map == nullptr)
    return {};
  // How far the object reaches is not known here. Its headers and notes are within its first page.
  const auto* const begin = static_cast<const char*>(info.dli_fbase);
  return describe(*map, begin, begin + 4096);
}

namespace {

std::mutex places_mutex;  // of all below; taken before objects_mutex
int num_keepers = 0;

std::string name_of_loader(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_sname == nullptr || info.dli_saddr == nullptr)
    return "";
  const auto offset =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(info.dli_saddr);
  return symbol_name(info.dli_sname) + format_text("+0x%zx", static_cast<std::size_t>(offset));
}

CodePlace find_place(const void* address) {
  CodePlace place;
  place.object = object_of(address);
  if (place.object.path.empty()) return place;
  place.file_address = reinterpret_cast<std::uintptr_t>(address) - place.object.bias;
  read_debug_info(place);
  // What is at the address now may be another library than the one that is meant.
  if (place.symbol.empty() && place.frames.empty() &&
      loaded_object(address).path == place.object.path)
    place.symbol = name_of_loader(address);
  return place;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

KeptDebugFiles::KeptDebugFiles() {
  const std::lock_guard lock(places_mutex);
  ++num_keepers;
}

KeptDebugFiles::~KeptDebugFiles() {
  const std::lock_guard lock(places_mutex);
  if (--num_keepers == 0) close_debug_files();
}

CodePlace place_of(const void* return_address) {
  static auto* const known =
      new std::map<const void*, CodePlace>;  // kept: reports are written when statics are gone
  const std::lock_guard lock(places_mutex);
  const auto [position, is_new] = known->try_emplace(return_address);
  if (is_new) position->second = find_place(return_address);
  if (is_new && num_keepers == 0) close_debug_files();
  return position->second;
}

std::string to_string(const CodePlace& place, const void* address) {
  if (address == nullptr) return "(address not told)";
  if (place.object.path.empty()) return format_text("%p", address);
  if (place.frames.empty()) {
    if (place.symbol.empty())
      return place.object.name +
             format_text("+0x%zx", static_cast<std::size_t>(place.file_address));
    return place.symbol + " (" + place.object.name + ")";
  }
  std::string text;
  for (const CodeFrame& frame : place.frames) {
    text += (text.empty() ? "" : " in ") +
            (frame.function.empty() ? place.object.name : short_name(frame.function));
    if (!frame.file.empty()) text += " (" + base_name(frame.file) + format_text(":%u)", frame.line);
  }
  return text;
}

}  // namespace hierbar
