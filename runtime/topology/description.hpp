// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace hierbar {

// Descriptions of machines, as of load_described_machine(), before hwloc gets them.

// Whether it is the name of an XML file; else it is a synthetic description.
bool is_file_name(const std::string& description);

// What keeps it from being given to hwloc, which would set out to build whatever it is asked for, and follows null pointers in
// some files; empty if nothing does.
std::string description_problem(const std::string& description);

}  // namespace hierbar
