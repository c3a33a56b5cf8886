// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Files of the kernel: /proc and /sys. The input holds several, each after a line "@path".

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/process.hpp"
#include "fuzz_target.hpp"
#include "placement/evidence/kernel_cpus.hpp"
#include "placement/evidence/process.hpp"
#include "trace/trace_clock.hpp"

namespace hierbar::test {
namespace {

// A directory that stands for the root, gone at the end.
class Root {
 public:
  Root()
      : path_(std::filesystem::temp_directory_path() /
              ("hierbar-proc-" + std::to_string(getpid()))) {}
  ~Root() { std::filesystem::remove_all(path_); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  void fill(const std::string& input) const {
    std::filesystem::remove_all(path_);
    std::istringstream lines(input);
    std::ofstream file;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('@')) {
        file << line << '\n';
        continue;
      }
      file.close();
      file.clear();
      if (!is_plain(line.substr(1))) continue;
      const std::filesystem::path path = path_ / line.substr(1);
      std::error_code ignored;
      std::filesystem::create_directories(path.parent_path(), ignored);
      file.open(path);
    }
  }
  std::string operator/(const char* below) const { return path_ / below; }
  std::string string() const { return path_; }

 private:
  // Below this directory, and short.
  static bool is_plain(const std::string& path) {
    return !path.empty() && path.size() < 64 && !path.starts_with('/') &&
           path.find("..") == std::string::npos && path.find('\0') == std::string::npos;
  }

  std::filesystem::path path_;
};

}  // namespace
}  // namespace hierbar::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hierbar;
  static const test::Root root;
  root.fill(test::text_of(data, size));
  if (const auto quota = read_cpu_quota(root.string()))
    test::require(*quota >= 1, "a quota leaves a cpu");
  if (const auto process = read_process(1, root / "proc"))
    test::require(process->pid == 1, "a process has its number");
  (void)read_boot_id(root / "proc");
  (void)online_cpus(root / "sys");
  (void)first_cpus_of_packages(root / "sys/devices/system/cpu");
  return 0;
}
