// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symbol/code_object.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <mutex>

#include "base/text.hpp"

namespace hierbar {
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
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(note + name, "GNU", 4) == 0) {
      std::string digits;
      for (std::size_t i = 0; i < header.n_descsz; ++i)
        digits += format_text("%02x", static_cast<unsigned>(static_cast<unsigned char>(note[content + i])));
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
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr))) return "";
  const auto size = static_cast<std::size_t>(end - begin);
  if (header.e_phoff > size || header.e_phnum > (size - header.e_phoff) / sizeof(ElfW(Phdr))) return "";
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
  } else if (object.path[0] != '/') {  // of the directory in which it was loaded, most likely this one
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

std::mutex mutex;

std::deque<Remembered>& remembered() {
  static auto* const objects = new std::deque<Remembered>;  // kept: reports are written when statics are gone
  return *objects;
}

// The latest one with the address. The caller holds the mutex.
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
  if (address == nullptr || find_object == nullptr || find_object(const_cast<void*>(address), &found) != 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
  const auto end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end);
  const std::lock_guard lock(mutex);
  const Remembered* known = find(reinterpret_cast<std::uintptr_t>(address));
  if (known != nullptr && known->map == found.dlfo_link_map && known->begin == begin && known->end == end) return;
  remembered().push_back({begin, end, found.dlfo_link_map,
                          describe(*found.dlfo_link_map, static_cast<const char*>(found.dlfo_map_start),
                                   static_cast<const char*>(found.dlfo_map_end))});
#endif
}

CodeObject object_of(const void* address) {
  {
    const std::lock_guard lock(mutex);
    if (const Remembered* known = find(reinterpret_cast<std::uintptr_t>(address))) return known->object;
  }
  return loaded_object(address);
}

CodeObject loaded_object(const void* address) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return {};
  // How far the object reaches is not known here. Its headers and notes are within its first page.
  const auto* const begin = static_cast<const char*>(info.dli_fbase);
  return describe(*map, begin, begin + 4096);
}

}  // namespace hierbar
