// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/files/remove_name.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/random_id.hpp"

namespace hierbar {
namespace {

bool is_name_of(const std::string& path, const struct stat& file) {
  struct stat named{};
  return lstat(path.c_str(), &named) == 0 && named.st_dev == file.st_dev && named.st_ino == file.st_ino;
}

}  // namespace

void remove_name(const std::string& path, int descriptor) {
  struct stat file{};
  if (fstat(descriptor, &file) != 0 || !is_name_of(path, file)) return;
  const std::string aside = path + "." + std::to_string(random_id());
  if (std::rename(path.c_str(), aside.c_str()) != 0) return;
  // link() fails if a file has the name by now, so it takes the name from nobody.
  if (!is_name_of(aside, file)) (void)link(aside.c_str(), path.c_str());
  unlink(aside.c_str());
}

}  // namespace hierbar
