// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "topology/machine.hpp"

namespace hierbar {

// What contradicts the description of Machine; empty if nothing does. For machines that another
// process has written: plans and placement rely on all of it. Linear in the size of the machine's
// sets.
std::string machine_problem(const Machine& machine);

}  // namespace hierbar
