// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Traces for Perfetto, as `hierbar report --perfetto` reads and merges them.

#include <stdexcept>

#include "fuzz_target.hpp"
#include "report/format/perfetto.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hierbar;
  report::Timeline timeline;
  try {
    timeline = report::parse_perfetto(test::text_of(data, size));
  } catch (const std::runtime_error& error) {
    test::require(*error.what() != '\0', "a refusal has a reason");
    return 0;
  }
  const std::string written = report::to_perfetto(timeline);
  test::require(report::to_perfetto(report::parse_perfetto(written)) == written,
                "a trace that is accepted can be read again");
  report::Timeline merged;
  merge_timeline(merged, timeline);
  merge_timeline(merged, timeline);
  (void)report::to_perfetto(
      merged);  // it may have times that cannot be: other hosts' clocks are believed
  return 0;
}
