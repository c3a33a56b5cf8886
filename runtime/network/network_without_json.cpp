// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/network_profile.hpp"

namespace hierbar::network {

Result<NetworkProfile> parse_network_profile(const std::string&) {
  return Error{"this was built without nlohmann_json"};
}

Result<std::string> with_network(const std::string&, const MeasuredNetwork&) {
  return Error{"this was built without nlohmann_json"};
}

}  // namespace hierbar::network
