// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "cli/doctor/diagnosis.hpp"

namespace hierbar {

// For people: what loads, what could not be seen, each finding with what to do.
void print_report(std::ostream& out, const DoctorInput& input, const std::vector<Diagnosis>& found);

// For programs; docs/guide/doctor.md describes it.
nlohmann::ordered_json report_as_json(const DoctorInput& input, const std::vector<Diagnosis>& found);

}  // namespace hierbar
