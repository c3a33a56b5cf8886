// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// HIERBAR_TOPOLOGY: an XML file if the input begins like one, else a synthetic description. hwloc
// parses both.

#include <sys/mman.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>

#include "check_machine.hpp"
#include "topology/load.hpp"

// hwloc 2.9 leaks what it has read of many a file that breaks off. LeakSanitizer asks for this; in
// other builds nobody does.
extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions() {
  return "leak:libhwloc.so\n";
}

namespace {

// A file without a name on a disk; where it can be found is `path`.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& text)
      : descriptor_(memfd_create("topology", MFD_CLOEXEC)) {
    hierbar::test::require(
        write(descriptor_, text.data(), text.size()) == static_cast<ssize_t>(text.size()),
        "a file in memory can be written");
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// hwloc is to be quiet about files that are none. It reads them itself and not with its libxml
// plugin, which LeakSanitizer cannot name once it is unloaded.
[[maybe_unused]] const bool hwloc_is_set_up = [] {
  setenv("HWLOC_HIDE_ERRORS", "2", 1);
  setenv("HWLOC_LIBXML", "0", 1);
  return true;
}();

// hwloc compares each part that it makes of a description with those beside it: 8192 of them take 9
// s.
bool takes_hwloc_long(const std::string& description) {
  for (std::size_t i = 0; i < description.size(); ++i) {
    if (i > 0 && std::isdigit(static_cast<unsigned char>(description[i - 1])))
      continue;  // inside a number
    const unsigned long number = std::strtoul(description.c_str() + i, nullptr, 0);
    if (number >= 1000 && number <= hierbar::kMaxDescribedCpus) return true;
  }
  return false;
}

void load(const std::string& description) {
  const hierbar::Result<hierbar::Machine> machine = hierbar::load_described_machine(description);
  if (machine) return hierbar::test::check_machine(*machine);
  hierbar::test::require(machine.error().find("allowed: ") != std::string::npos,
                         "a refusal says what is allowed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = hierbar::test::text_of(data, size);
  if (text.starts_with('<')) {
    const MemoryFile file(text);
    load(file.path());
  } else if (!takes_hwloc_long(text)) {
    load(text.c_str());  // as from the environment: up to the first zero
  }
  return 0;
}
