// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hierbar::bench::bundle {

// The names by which a machine and its user could be known. Texts from elsewhere, such as messages
// of programs that failed, are cleared of them before they go into a file that others read.
class PrivateNames {
 public:
  // `names` are hosts and users. Paths need not be in it: clear() takes all of them.
  explicit PrivateNames(std::vector<std::string> names);
  // Those of this process: the host's name and the part of it before a dot, the user's names from
  // the environment and from /etc/passwd.
  static PrivateNames of_process();

  // The text with "..." for each word that has a '/', and for each name that is a whole word.
  [[nodiscard]] std::string clear(std::string_view text) const;

  // The names that are whole words of the text.
  [[nodiscard]] std::vector<std::string> found_in(std::string_view text) const;

 private:
  std::vector<std::string> names_;
};

// A file of the bundle as its path below the bundle's directory, "lib/libomp.so". The plain name of
// a library elsewhere; "..." for all else.
[[nodiscard]] std::string public_path(const std::filesystem::path& path,
                                      const std::filesystem::path& bundle);

}  // namespace hierbar::bench::bundle
