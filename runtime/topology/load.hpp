// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "topology/machine.hpp"
#include "topology/result.hpp"

namespace hierbar {

// For messages about bad settings.
inline constexpr const char* kAllowedTopologies =
    "an hwloc XML file (made with 'lstopo file.xml') or a synthetic description such as 'pack:2 [numa] l3:4 core:8 pu:2'";

// Largest machine that a description may ask for.
inline constexpr unsigned long kMaxDescribedCpus = kMaxMachineCpus;

// Larger files are refused unread. That of a machine of 8192 cpus has some 20 MB.
inline constexpr unsigned long kMaxTopologyBytes = 64UL << 20;

// Loading goes through hwloc with what barriers need and no more: no devices, no distances, no memory attributes, no cpu kinds,
// and without its x86 component, which would bind the calling thread to every cpu in turn. It takes a few milliseconds on small
// machines; Machine::load_ns tells. Safe to call from any thread.

// The machine that this process runs on. hwloc's own variables (HWLOC_XMLFILE, HWLOC_SYNTHETIC, HWLOC_COMPONENTS, ...) are
// obeyed; if hwloc fails because of them they are ignored, which Machine::warnings says. Errors: hwloc cannot read the machine.
Result<Machine> load_live_machine();

// A machine from an XML file (text that starts with '/', './' or '../', ends in ".xml", or names a file) or else from a synthetic
// description. Errors: the file cannot be read or is not what this version of hwloc understands; the description is malformed;
// the machine has a cpu of a number from kMaxDescribedCpus on.
Result<Machine> load_described_machine(const std::string& description);

// What HIERBAR_TOPOLOGY, whose value is `setting`, asks for; null or empty asks for the live machine. A setting that cannot be
// loaded is no error: the result is the live machine, with the reason first in its warnings. Errors: hwloc cannot read the
// machine.
Result<Machine> load_machine(const char* setting);

}  // namespace hierbar
