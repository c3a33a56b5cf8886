// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace hierbar {

// What in the text of an XML file would end the process inside hwloc; empty if nothing that is known. hwloc up to 2.9 follows
// null pointers where
//
//   1. the text is not well formed: tags that do not end, attributes that are not of the form NAME="VALUE", elements that are not
//      nested or too deep;
//   2. an object has a set of cpus or nodes and lacks the complete one, which hwloc always writes beside it;
//   3. the machine has no cpu, or has not all of its sets, of which versions before 2.0 write fewer.
//
// All else is for hwloc to say. Linear in the text.
std::string xml_problem(std::string_view xml);

}  // namespace hierbar
