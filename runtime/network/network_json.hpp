// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "network/contention/contention_table.hpp"

namespace hierbar::network {

inline constexpr std::size_t kMostText = 1024;  // of one text in a file

// The member "contention" of a network in network.json:
//
//   {"machine": "...", "single_copy": "cma",
//    "tables": [{"channel": "network", "cells": [[bytes, pairs, q1, median, q3], ...]}]}
//
// with t(m, cf) in microseconds. Errors: what is wrong in it.
Result<Contention> read_contention(const nlohmann::json& entry);
nlohmann::ordered_json contention_json(const Contention& contention);

}  // namespace hierbar::network
