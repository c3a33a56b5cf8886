// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two waiters sleep by park_together() until the writer has released all, who ends both sleeps by
// unpark_all().

#include "model_mem.hpp"
#include "participants.hpp"

namespace hierbar::model {
namespace {

constexpr std::uint32_t kWriter = kNumParticipants - 1;

ModelMem::Word released;
ModelMem::Word asleep;
ModelMem::Word waiting_for[kWriter];
std::atomic<std::uint32_t> num_wakings;
std::uint32_t data;

// Sleeps at most kNaps times, then polls.
template <std::uint32_t kMe>
void await() noexcept {
  ModelMem mem(kMe);
  auto pending = AwaitedWord<ModelMem>::release_of_all(mem, released, kEpochOne, kWriter,
                                                       waiting_for[kMe], asleep,
                                                       /*crew_waits=*/false);
  for (int nap = 0; nap < kNaps && !pending.ready(); ++nap)
    park_together(num_wakings, pending, /*limit_ns=*/0);
  wait_until([&] { return pending.ready(); });
  MODEL_EXPECT(data == 1);
}

// Writes as cross_oversubscribed() does, (R1), (R2) and (R3).
void write() noexcept {
  const ModelMem mem(kWriter);
  data = 1;
  mem.store_release(released, kEpochOne);
  mem.fence();
  if (mem.load_acquire(asleep) != 0) unpark_all(num_wakings);
}

struct Participant {
  template <std::uint32_t kMe>
  static void run() {
    if constexpr (kMe == kWriter) {
      write();
    } else {
      await<kMe>();
    }
  }
};

}  // namespace
}  // namespace hierbar::model

int main() {
  hierbar::model::run_participants<hierbar::model::Participant>();
  return 0;
}
