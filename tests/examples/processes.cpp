// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <hierbar/hierbar.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>

namespace {

struct Destroy {
  void operator()(hierbar_barrier* barrier) const { hierbar_barrier_destroy(barrier); }
};
using Barrier = std::unique_ptr<hierbar_barrier, Destroy>;

Barrier attach(void* memory, std::size_t size) {
  hierbar_barrier* barrier = nullptr;
  const hierbar_status status = hierbar_barrier_attach(memory, size, nullptr, &barrier);
  if (status != HIERBAR_OK) std::fprintf(stderr, "no barrier: %s\n", hierbar_status_text(status));
  return Barrier(barrier);
}

// Process `me` has work for 10 (me + 1) rounds. All go on until nobody has any left: a bit that one
// raises is seen by all.
bool work(const Barrier& barrier, std::uint32_t me) {
  std::uint32_t round = 0;
  std::uint32_t somebody_has_more = 1;
  while (somebody_has_more != 0) {
    ++round;
    const std::uint32_t have_more = round < 10 * (me + 1) ? 1 : 0;
    if (hierbar_barrier_wait_bits(barrier.get(), me, have_more, &somebody_has_more) != HIERBAR_OK)
      return false;
  }
  if (me == 0) std::printf("all done after %u rounds\n", round);
  return true;
}

}  // namespace

int main() {
  constexpr std::uint32_t kNumProcesses = 3;
  hierbar_attributes attributes;
  hierbar_attributes_init(&attributes, kNumProcesses);
  std::size_t size = 0;
  if (hierbar_barrier_size(&attributes, &size) != HIERBAR_OK) return 1;
  // Unrelated processes would map a file of shm_open(), wherever it comes to lie in each.
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || hierbar_barrier_init_shared(memory, size, &attributes) != HIERBAR_OK)
    return 1;

  for (std::uint32_t me = 0; me < kNumProcesses; ++me) {
    if (fork() != 0) continue;
    const Barrier barrier = attach(memory, size);
    const bool worked = barrier != nullptr && work(barrier, me);
    std::fflush(stdout);
    _exit(worked ? 0 : 1);
  }

  // Should one die, the others would wait for it for ever.
  const Barrier barrier = attach(memory, size);
  bool all_worked = barrier != nullptr;
  int status = 0;
  while (wait(&status) > 0) {
    if (status == 0) continue;
    all_worked = false;
    hierbar_barrier_abort(barrier.get());
  }
  return all_worked ? 0 : 1;
}
