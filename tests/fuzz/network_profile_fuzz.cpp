// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The file of measured networks, which the leader of a program's nodes reads; and
// what people write as parameters and lists of algorithms.

#include "fuzz_target.hpp"
#include "network/choose.hpp"
#include "network/network_profile.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hierbar;
  const std::string text = test::text_of(data, size);
  if (const Result<network::NetworkProfile> profile = network::parse_network_profile(text)) {
    for (const network::MeasuredNetwork& measured : profile->networks) {
      test::require(is_valid(measured.slowest()), "costs are in their range");
      test::require(profile->find(measured.mpi_library, measured.transport, 8) != nullptr,
                    "a network is found by its own names");
      (void)network::choose(network::candidates(5), 5, {measured.slowest(), {}});
    }
    std::string written;
    for (const network::MeasuredNetwork& measured : profile->networks) {
      if (Result<std::string> added = network::with_network(written, measured))
        written = *std::move(added);
    }
    const Result<network::NetworkProfile> again = network::parse_network_profile(written);
    test::require(written.empty() || again.ok(), "what is written can be read");
  } else {
    test::require(!profile.error().empty(), "a refusal has a reason");
    test::require(profile.error().size() < 1024, "a reason is for people");
  }
  if (const auto parameters = network::parse_parameters(text))
    test::require(is_valid(*parameters), "parameters are in their range");
  if (const auto kinds = network::parse_kinds(text)) {
    for (const network::Kind kind : *kinds) {
      const auto again = network::parse_kind(name_of(kind));
      test::require(again.ok() && *again == kind, "a name is read as it was written");
    }
  }
  return 0;
}
