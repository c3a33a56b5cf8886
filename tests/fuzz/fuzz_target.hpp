// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

// A fuzz target reads one input from outside and checks what the project made of it. It is linked
// with libFuzzer in the preset `fuzz`, and with replay.cpp, which runs files, in all others.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace hierbar::test {

// What must hold for every input, hostile or not. Ends the program, so that libFuzzer keeps the
// input.
inline void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz target: it does not hold that %.*s\n", static_cast<int>(what.size()),
               what.data());
  std::abort();
}

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace hierbar::test
