// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "elf/loader_cache.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <sstream>

#include "base/command_output.hpp"
#include "base/files/small_file.hpp"
#include "elf/predict_loads.hpp"

namespace hierbar {
namespace {

#if defined(__x86_64__)
constexpr const char* kOwnKind = "(libc6,x86-64)";
constexpr std::int32_t kOwnFlags = 0x0303;  // FLAG_X8664_LIB64, FLAG_ELF_LIBC6
#elif defined(__aarch64__)
constexpr const char* kOwnKind = "(libc6,AArch64)";
constexpr std::int32_t kOwnFlags = 0x0a03;  // FLAG_AARCH64_LIB64, FLAG_ELF_LIBC6
#else
constexpr const char* kOwnKind = "(libc6)";
constexpr std::int32_t kOwnFlags = 0x0003;  // FLAG_ELF_LIBC6
#endif

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
    const std::size_t kind = line.find(kOwnKind);
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
    if (entry.flags != kOwnFlags || entry.cpu != 0) continue;
    const auto name = text_at(entry.name);
    const auto path = text_at(entry.path);
    if (!name || !path) return std::nullopt;
    files.emplace(*name, *path);  // of several for a name the loader takes the first
  }
  return files;
}

std::function<std::string(const std::string& name)> read_loader_cache() {
  std::optional<LoaderCache> cache = parse_loader_cache(read_small_file("/etc/ld.so.cache", kMostBytes).text);
  // Other systems keep the cache elsewhere, and glibc before 2.32 writes an older format before it.
  if (!cache) cache = parse_list(ask_ldconfig());
  auto files = std::make_shared<const LoaderCache>(std::move(*cache));
  return [files](const std::string& name) {
    const auto found = files->find(name);
    return found == files->end() ? "" : found->second;
  };
}

}  // namespace hierbar
