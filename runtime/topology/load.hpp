// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "base/result.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// For messages about bad settings.
inline constexpr const char* kAllowedTopologies =
    "an hwloc XML file (made with 'lstopo file.xml') or a synthetic description such as 'pack:2 "
    "[numa] l3:4 core:8 pu:2'";

// The largest machine that a description may ask for.
inline constexpr unsigned long kMaxDescribedCpus = kMaxMachineCpus;

// Larger files are refused without being read. The file of a machine with 8192 cpus has some 20 MB.
inline constexpr unsigned long kMaxTopologyBytes = 64UL << 20;

// Machines are loaded by hwloc, with what barriers need and no more: no devices, no distances, no
// memory attributes, no cpu kinds. hwloc's x86 component is left out, because it would bind the
// calling thread to every cpu in turn. It takes a few milliseconds on small machines; see
// Machine::load_ns. Any thread may call these functions.

// The machine on which this process runs. hwloc's own variables (HWLOC_XMLFILE, HWLOC_SYNTHETIC,
// HWLOC_COMPONENTS, ...) are obeyed, unless the environment is not to be trusted. If hwloc fails
// because of them they are ignored, and Machine::warnings says so. Errors: hwloc cannot read the
// machine.
Result<Machine> load_live_machine();

// A machine from an XML file, or else from a synthetic description. The text names a file if it
// starts with '/', './' or '../', ends in ".xml", or is the name of an existing file. Errors: the
// file cannot be read, or this version of hwloc does not understand it; the description is
// malformed; the machine has a cpu with a number of kMaxDescribedCpus or more.
Result<Machine> load_described_machine(const std::string& description);

// The machine for which HIERBAR_TOPOLOGY asks; `setting` is its value. Null or empty asks for the
// live machine. If the setting cannot be loaded, that is no error: the result is the live machine,
// and the reason comes first in its warnings. Errors: hwloc cannot read the machine.
Result<Machine> load_machine(const char* setting);

}  // namespace hierbar
