// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The image of a machine that one process of a node loads for all.

#include <cstring>
#include <vector>

#include "check_machine.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hierbar;
  std::vector<std::uint32_t> image(size / sizeof(std::uint32_t));
  if (!image.empty()) std::memcpy(image.data(), data, image.size() * sizeof(std::uint32_t));
  const Result<Machine> machine = machine_from_image(image);
  if (!machine) {
    test::require(!machine.error().empty(), "a refusal has a reason");
    return 0;
  }
  test::check_machine(*machine);
  return 0;
}
