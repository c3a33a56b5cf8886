// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace hierbar::bench::mpi {

// A directory that exists as long as this object. In it, the library of another MPICH has the name
// libmpich.so.12, with which Debian's MPICH links programs. Both libraries have the same ABI, but
// the wheel calls its one libmpi.so.12. The files beside the library are linked too, because it
// searches for its own libraries from where it was found.
class WheelLink {
 public:
  // Makes no directory if `wheel_dir` is empty.
  explicit WheelLink(const std::filesystem::path& wheel_dir) {
    if (wheel_dir.empty()) return;
    std::string name = std::filesystem::temp_directory_path() / "hierbar-wheel-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("--mpich-wheel: cannot make a directory like " + name);
    dir_ = name;
    const std::filesystem::path lib_dir = std::filesystem::absolute(wheel_dir) / "lib";
    std::filesystem::create_symlink(lib_dir / "libmpi.so.12", dir_ / "libmpich.so.12");
    std::error_code error;  // if lib/ is missing, the program will report what it lacks
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
