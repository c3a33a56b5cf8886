// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace hierbar {

// Checks of a machine's description, as for load_described_machine(), before hwloc gets it.

// Whether the text is the name of an XML file; otherwise it is a synthetic description.
bool is_file_name(const std::string& description);

// Why the description must not be given to hwloc; empty if there is no reason. hwloc would build a
// machine of any size, and it follows null pointers in some files.
std::string description_problem(const std::string& description);

// Rejects XML that crashes hwloc: returns the reason, or an empty text if it is safe. hwloc
// up to 2.9 follows null pointers where
//
//   1. the text is not well formed: tags that do not end, attributes that are not of the form
//      NAME="VALUE", elements that are not nested or too deep, or a byte of value 0, at which hwloc
//      takes the text to end;
//   2. an object has a set of cpus or nodes but not the complete set, which hwloc always writes
//      with it;
//   3. the machine has no cpu, or lacks one of its sets (versions before 2.0 write fewer).
//
// All other faults are left to hwloc. Linear in the text.
std::string xml_problem(std::string_view xml);

}  // namespace hierbar
