// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace hierbar::bench::mpi {

// A directory, as long as this lives, in which the library of another MPICH has the name under which Debian's MPICH links
// programs, libmpich.so.12: both have the same ABI, but the wheel calls it libmpi.so.12. What lies beside it is there too,
// because it looks for its own libraries from where it was found.
class WheelLink {
 public:
  // No directory when `wheel_dir` is empty.
  explicit WheelLink(const std::filesystem::path& wheel_dir) {
    if (wheel_dir.empty()) return;
    std::string name = std::filesystem::temp_directory_path() / "hierbar-wheel-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("--mpich-wheel: cannot make a directory like " + name);
    dir_ = name;
    const std::filesystem::path lib_dir = std::filesystem::absolute(wheel_dir) / "lib";
    std::filesystem::create_symlink(lib_dir / "libmpi.so.12", dir_ / "libmpich.so.12");
    std::error_code error;  // without lib/ the program will say what it misses
    for (const auto& entry : std::filesystem::directory_iterator(lib_dir, error)) {
      const std::filesystem::path link = dir_ / entry.path().filename();
      if (!std::filesystem::exists(std::filesystem::symlink_status(link))) std::filesystem::create_symlink(entry.path(), link);
    }
  }
  ~WheelLink() {
    std::error_code error;  // what cannot be removed stays
    if (!dir_.empty()) std::filesystem::remove_all(dir_, error);
  }
  WheelLink(const WheelLink&) = delete;
  WheelLink& operator=(const WheelLink&) = delete;

  [[nodiscard]] const std::filesystem::path& dir() const { return dir_; }

 private:
  std::filesystem::path dir_;
};

}  // namespace hierbar::bench::mpi
