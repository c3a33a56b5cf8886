// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/peer_activity.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include "base/clock.hpp"

namespace hierbar::mpi {
namespace {

void idle() {}
void be_switched_out() { poll(nullptr, 0, 1); }
void work() {
  for (const std::int64_t end_ns = monotonic_ns() + 20'000; monotonic_ns() < end_ns;) continue;
}

// As a library's own yield does.
TEST(PeerActivity, LongCallsThatLetOthersRunAreNoPeers) {
  PeerActivity activity;
  EXPECT_FALSE(activity.found_by(idle));
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(activity.found_by(be_switched_out));
}

// Another program may take the cpu in some of them.
TEST(PeerActivity, LongCallsInARowArePeers) {
  PeerActivity activity;
  EXPECT_FALSE(activity.found_by(idle));
  int num_long = 0;
  do ++num_long;
  while (!activity.found_by(work));
  EXPECT_GE(num_long, 2);
}

}  // namespace
}  // namespace hierbar::mpi
