// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/machine.hpp"

namespace hierbar {

// OMP_PROC_BIND's policies.
enum class ProcBind : std::uint8_t { kClose, kSpread, kPrimary };

std::optional<ProcBind> parse_proc_bind(std::string_view name);
const char* proc_bind_name(ProcBind bind);

// The places to give a rank with that many threads inside its share, so that under the policy no two threads share a core before
// every core has one:
//
//   1. A place for each core when there are enough of them.
//   2. Else one for each cpu: under close the first cpus of all cores, then the second ones; under spread core by core.
//   3. Under primary, where all threads stay in the first thread's place, one place: the share.
std::vector<CpuSet> places_in(const Machine& machine, const CpuSet& share, std::uint32_t num_threads, ProcBind bind);

// The place of each thread when the first one starts in the first place, as OpenMP 5.2 section 10.1.3 has it. What it leaves to
// the implementation (which places get one more thread or are left out) goes evenly.
std::vector<CpuSet> bind_threads(const std::vector<CpuSet>& places, std::uint32_t num_threads, ProcBind bind);

// As OMP_PLACES takes them: "{0,8},{1,9}".
std::string to_omp_places(const std::vector<CpuSet>& places);

}  // namespace hierbar
