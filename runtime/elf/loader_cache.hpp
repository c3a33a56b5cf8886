// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace hierbar {

// The files of an ld.so.cache by name, for this machine's own kind of programs. Files for cpus of a
// kind (glibc-hwcaps) are left out.
using LoaderCache = std::map<std::string, std::string>;

// What the bytes of the file say, in the format that glibc writes since 2.32; nothing if they are
// in another one, or damaged.
std::optional<LoaderCache> parse_loader_cache(std::string_view bytes);

}  // namespace hierbar
