// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace hierbar {

// Checks of a machine's description, as for load_described_machine(), before hwloc gets it.

// Whether the text is the name of an XML file; otherwise it is a synthetic description.
bool is_file_name(const std::string& description);

// Why the description must not be given to hwloc; empty if there is no reason. hwloc would build a
// machine of any size, and it follows null pointers in some files.
std::string description_problem(const std::string& description);

}  // namespace hierbar
