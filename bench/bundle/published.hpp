// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "bench/bundle/private_names.hpp"

// What of the bundle's parts goes into the file that a user sends. Each function takes the members
// that it knows and no others, so that a new member of a part is not published by accident. Texts
// that come from elsewhere are cleared of names. A part that is not an object gives null.
namespace hierbar::bench::bundle {

using nlohmann::json;
using nlohmann::ordered_json;

// Of `omp_barrier_bench --json`. Samples become the median of each repetition, which is what
// summary.py needs. `bundle` is the directory below which libraries may be named.
ordered_json published_openmp(const json& report, const PrivateNames& names,
                              const std::filesystem::path& bundle);

// Of `hierbar topo --json`.
ordered_json published_topology(const json& topology, const PrivateNames& names);

// Of `hierbar tune --json`: the times of lines between cpus.
ordered_json published_latencies(const json& profile);

// "6.1.0" of "6.1.0-13-amd64": what a builder of kernels appends may be a name.
std::string kernel_version(const std::string& release);

}  // namespace hierbar::bench::bundle
