// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/common/groups.hpp"
#include "bench/common/run_options.hpp"

namespace hierbar::bench {

// What a benchmark measures without interruption in each repetition.
struct CoursePart {
  std::string description;  // for the progress on stderr
  std::function<Block(int repetition)> measure;
  std::function<int()> settle;  // decides which blocks are kept, returns how many are good
};

// Runs a benchmark. Fills in all of `results` that does not belong to one group.
//
//   1. Waits for a quiet machine, as it does later after each part that others have disturbed, but
//      not longer in all than the options allow. `prepare` runs.
//   2. Each repetition measures every part, as long as the time limit leaves room for another one.
//   3. Parts of which blocks were dropped, because the regime changed or others used the machine,
//      are measured again.
//
// A request to stop (stop_requests.hpp) ends it. What a part measured then does not count.
void run_course(const RunOptions& options, const std::function<void()>& prepare,
                const std::vector<CoursePart>& parts, Measurements& results);

}  // namespace hierbar::bench
