// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "symbol/code_place.hpp"
#include "symbol/libdw.hpp"

namespace hierbar {

// The lines of the call that returns to `address`, the innermost function first. `unit` is the
// compilation unit that has it. If the function that is called there has itself ended with a jump
// to another function instead of a call, that jump is meant: it left no return address.
std::vector<CodeFrame> frames_of_call(const Libdw& dw, Dwarf_Die& unit, Dwarf_Addr address);

}  // namespace hierbar
