// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs the files of the directories that are its arguments through the fuzz target that it is
// linked with. An input that crashes ends it, and so does one that costs too much time or memory.
// Prints how many inputs there were.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz_target.hpp"

namespace {

// Inputs are small and take milliseconds. This leaves room for a busy machine, sanitizers and an
// emulator.
constexpr std::chrono::seconds kLimit{20};
[[maybe_unused]] constexpr rlim_t kMemoryLimit = rlim_t{2} << 30;

void limit_memory() {
#ifdef HIERBAR_LIMIT_MEMORY
  const rlimit limit{kMemoryLimit, kMemoryLimit};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// False: it took too long.
bool run(const std::filesystem::path& path) {
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);  // a crash shall come after the name of its input
  const std::string input = read(path);
  const auto start = std::chrono::steady_clock::now();
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  return std::chrono::steady_clock::now() - start < kLimit;
}

}  // namespace

int main(int argc, char** argv) {
  limit_memory();
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    if (run(file)) continue;
    std::printf("took longer than %lld s\n", static_cast<long long>(kLimit.count()));
    return 1;
  }
  std::printf("%zu inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
