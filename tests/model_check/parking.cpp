// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A waiter sleeps by park(), and a writer ends its sleep by unpark(), over the kernel's futex; see
// MODEL_KERNEL_QUEUE in stand_ins/base/futex.hpp. MODEL_RELEASE 0: the awaited word is an
// arrival, 1: a release. MODEL_FENCING as in case.hpp.

#include "barrier/awaited_word.hpp"

#include "model_mem.hpp"
#include "participants.hpp"

namespace hierbar::model {
namespace {

ModelMem::Word awaited;
ModelMem::Word waiting_for;
ModelMem::Word asleep;
std::uint32_t data;

constexpr std::uint32_t kWaiter = 0;
constexpr std::uint32_t kWriter = 1;

void await() noexcept {
  ModelMem mem(kWaiter);
  auto pending = MODEL_RELEASE ? AwaitedWord<ModelMem>::release(mem, awaited, kEpochOne, kWriter,
                                                                waiting_for, asleep, kFencing)
                               : awaited_arrival<ModelMem>(mem, awaited, kEpochOne, kWriter,
                                                           waiting_for, asleep, kFencing);
  mem.wait(pending);
  MODEL_EXPECT(data == 1);
}

// Writes as Barrier writes an arrival, or a release, (R1) to (R5).
void write() noexcept {
  const ModelMem mem(kWriter);
  data = 1;
  if (MODEL_RELEASE) {
    mem.store_release(awaited, kEpochOne);
    kFencing == Fencing::kByWriters ? mem.fence() : mem.light_fence();
    if (mem.load_acquire(asleep) == 0) return;
  } else {
    if (!publish_arrival(mem, awaited, kEpochOne, asleep, kFencing)) return;
  }
  if (kFencing == Fencing::kBySleepers) mem.fence();
  if (mem.load_relaxed(waiting_for) == kWriter + 1) mem.wake(kWaiter);
}

struct Participant {
  template <std::uint32_t kMe>
  static void run() {
    kMe == kWaiter ? await() : write();
  }
};

}  // namespace
}  // namespace hierbar::model

int main() {
  hierbar::model::run_participants<hierbar::model::Participant>();
  return 0;
}
