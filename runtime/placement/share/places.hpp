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

// Orders in which cpus are given out. Cores are those of the machine, reduced to the given cpus.

// The cores in the order of the tree.
std::vector<CpuSet> cores_of(const Machine& machine, const CpuSet& cpus);

// The cpus one by one: the first cpu of every core, then the second of every core, and so on.
std::vector<CpuSet> cpus_core_first(std::vector<CpuSet> cores);

// The cpus one by one: all cpus of a core before those of the next core.
std::vector<CpuSet> cpus_core_by_core(const std::vector<CpuSet>& cores);

// The policies of OMP_PROC_BIND.
enum class ProcBind : std::uint8_t { kClose, kSpread, kPrimary };

std::optional<ProcBind> parse_proc_bind(std::string_view name);
const char* proc_bind_name(ProcBind bind);

// The places to give to a rank of that many threads inside its share. Under the policy no two
// threads share a core before every core has one:
//
// 1. One place for each core, if there are enough cores.
// 2. Otherwise one place for each cpu. For close: the first cpus of all cores, then the second
//    ones. For spread: core by core.
// 3. For primary, where all threads stay in the first thread's place: one place, the whole share.
std::vector<CpuSet> places_in(const Machine& machine, const CpuSet& share,
                              std::uint32_t num_threads, ProcBind bind);

// The place of each thread, as in OpenMP 5.2 section 10.1.3, if the first thread starts in the
// first place. The standard leaves to the implementation which places get one more thread or none.
// Here threads are spread evenly.
std::vector<CpuSet> bind_threads(const std::vector<CpuSet>& places, std::uint32_t num_threads,
                                 ProcBind bind);

// "0,8,9"
std::string join_cpus(const CpuSet& cpus, const std::string& separator);

// In the form of OMP_PLACES: "{0,8},{1,9}".
std::string to_omp_places(const std::vector<CpuSet>& places);

}  // namespace hierbar
