// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include "base/quartiles.hpp"

namespace hierbar {

inline nlohmann::ordered_json quartiles_json(const Quartiles& value) {
  return {{"q1", value.lower}, {"median", value.median}, {"q3", value.upper}};
}

}  // namespace hierbar
