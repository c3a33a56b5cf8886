// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "plan/profile.hpp"

namespace hierbar {

Result<Profile> parse_profile(const std::string&) {
  return Error{"this libhierbar.so was built without nlohmann_json"};
}

}  // namespace hierbar
