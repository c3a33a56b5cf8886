// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar::network {

// How the lines begin by which rank 0 of the worker tells `hierbar tune --network` what it has
// found. Launchers pass on what ranks print, among lines of their own.
inline constexpr const char* kProgressLine = "hierbar-network-progress: ";  // "0.25 what is measured"
inline constexpr const char* kRefusalLine = "hierbar-network-refusal: ";    // why there is nothing
inline constexpr const char* kNetworkLine = "hierbar-network: ";            // a file of one network

}  // namespace hierbar::network
