// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "topology/machine.hpp"

namespace hierbar {

// What a bug report needs: versions, the machine, variables that matter, and what doctor knows of a
// program. `doctor_report` is null without a program; `messages` are the program's last ones.
//
// It says nothing of who and where: the home directory is "~", the host and the user have other
// words, and of variables whose names speak of secrets there is only the name.
nlohmann::ordered_json bug_report(const Machine& machine,
                                  const nlohmann::ordered_json& doctor_report,
                                  const std::vector<std::string>& messages);

// Those of the variables that decide about runtimes, MPI, launchers and binding, with their values
// as bug_report() writes them. `environment` is "NAME=VALUE" with a null byte behind each, as in
// /proc/self/environ.
nlohmann::ordered_json variables_that_matter(const std::string& environment);

// `text` without the home directory, the user and the host.
std::string anonymous(std::string text);

// What goes to stderr during its lifetime, which is passed on at its end. For a program that is run
// to see what it says.
class KeptMessages {
 public:
  KeptMessages();
  ~KeptMessages();
  KeptMessages(const KeptMessages&) = delete;
  KeptMessages& operator=(const KeptMessages&) = delete;

  // The last lines that runtimes and hierbar have written ("OMP: ...", "hierbar ...").
  std::vector<std::string> last() const;

 private:
  std::string text() const;

  int stderr_ = -1;  // a duplicate of the real one
  int file_ = -1;
};

// The last kMostMessages lines of `text` that are a runtime's, MPI's or hierbar's.
inline constexpr std::size_t kMostMessages = 100;
std::vector<std::string> messages_in(std::string_view text);

}  // namespace hierbar
