// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/process/process_stat.hpp"

#include <fstream>
#include <sstream>

namespace hierbar {

// The line is "pid (name) state parent ...", and the start time is field 22. The name may contain
// blanks and parentheses, so the fields are counted from the last parenthesis.
std::optional<ProcessStat> read_process_stat(int pid, const std::string& proc) {
  std::ifstream file(proc + "/" + std::to_string(pid) + "/stat");
  // Not read through the buffer's iterators: these throw when a read fails, as it does for a
  // process that ends in this moment.
  std::string line;
  std::getline(file, line, '\0');
  const auto open = line.find('(');
  const auto close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;

  ProcessStat stat;
  stat.name = line.substr(open + 1, close - open - 1);
  std::istringstream fields(line.substr(close + 1));
  fields >> stat.state >> stat.parent;
  std::string ignored;
  for (int field = 5; field < 22; ++field) fields >> ignored;
  fields >> stat.start_ticks;
  if (fields.fail()) return std::nullopt;
  return stat;
}

std::string read_boot_id(const std::string& proc) {
  std::ifstream file(proc + "/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

}  // namespace hierbar
