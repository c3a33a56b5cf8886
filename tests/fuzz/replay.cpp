// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs inputs through the fuzz target that it is linked with: the files of directories, and those
// that files hold which run.py describes. An input that crashes ends it, and so does one that
// costs too much time or memory. Prints how many inputs there were.

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

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

int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

// Undoes what run.py's escaped() did to a line.
std::string unescaped(const std::string& line) {
  std::string bytes;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      bytes += line[i];
    } else if (line[++i] == '\\') {
      bytes += '\\';
    } else if (line[i] == 'x') {
      bytes += static_cast<char>(digit(line[i + 1]) * 16 + digit(line[i + 2]));
      i += 2;
    }  // else a newline, which the input does not have
  }
  return bytes;
}

using Inputs = std::map<std::string, std::string>;  // by name

void add_packed(const std::filesystem::path& path, Inputs& inputs) {
  std::ifstream file(path);
  std::string* input = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("== "))
      input = &inputs[path.string() + ": " + line.substr(3)];
    else if (input != nullptr)
      *input += unescaped(line + '\n');
  }
}

void add(const std::filesystem::path& path, Inputs& inputs) {
  if (!std::filesystem::is_directory(path)) return add_packed(path, inputs);
  for (const auto& entry : std::filesystem::directory_iterator(path))
    inputs[entry.path().string()] = read(entry.path());
}

// False: it took too long.
bool run(const std::string& name, const std::string& input) {
  std::printf("%s\n", name.c_str());
  std::fflush(stdout);  // a crash shall come after the name of its input
  const auto start = std::chrono::steady_clock::now();
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  return std::chrono::steady_clock::now() - start < kLimit;
}

}  // namespace

int main(int argc, char** argv) {
  limit_memory();
  Inputs inputs;
  for (int i = 1; i < argc; ++i) add(argv[i], inputs);
  for (const auto& [name, input] : inputs) {
    if (run(name, input)) continue;
    std::printf("took longer than %lld s\n", static_cast<long long>(kLimit.count()));
    return 1;
  }
  std::printf("%zu inputs\n", inputs.size());
  return inputs.empty() ? 1 : 0;
}
