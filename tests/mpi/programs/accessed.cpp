// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rank 0 waits in a barrier while rank 1 accesses its window for some time: it does not sleep,
// because each access may need its progress. What is counted are its sleeps, and no time, so that
// other programs do no harm. Argument: how the window is made: create, allocate or dynamic.

#include <sched.h>
#include <sys/resource.h>

#include <cstring>

#include "mpi_test.hpp"

namespace hierbar::test {
namespace {

// A thread that sleeps gives up its cpu by itself. One that yields is not counted here.
long num_sleeps() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

void end_without_two_cpus() {
  cpu_set_t own, all;
  CHECK(sched_getaffinity(0, sizeof(own), &own) == 0);
  MPI_Allreduce(&own, &all, sizeof(own), MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
  if (CPU_COUNT(&all) >= 2) return;
  std::printf("skipped: the ranks share a cpu, and may sleep\n");
  MPI_Finalize();
  std::exit(77);
}

struct Window {
  MPI_Win handle = MPI_WIN_NULL;
  MPI_Aint place = 0;  // of rank 0's number
  long own = 0;
};

void make(const char* how, Window& window) {
  void* memory = nullptr;
  if (std::strcmp(how, "create") == 0) {
    MPI_Win_create(&window.own, sizeof(long), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window.handle);
  } else if (std::strcmp(how, "allocate") == 0) {
    MPI_Win_allocate(sizeof(long), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window.handle);
    std::memset(memory, 0, sizeof(long));
  } else {
    CHECK(std::strcmp(how, "dynamic") == 0);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window.handle);
    MPI_Win_attach(window.handle, &window.own, sizeof(long));
    MPI_Get_address(&window.own, &window.place);
    MPI_Bcast(&window.place, 1, MPI_AINT, 0, MPI_COMM_WORLD);
  }
}

long access_for(double seconds, const Window& window) {
  long one = 1, before = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.handle);
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
    for (const double next = MPI_Wtime() + 300e-6; MPI_Wtime() < next;)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, window.place, MPI_SUM, window.handle);
    MPI_Win_flush(0, window.handle);
  }
  MPI_Win_unlock(0, window.handle);
  return before + 1;
}

void run(const char* how) {
  constexpr long kOfTheSystem = 20;  // it may have to wait for a page or a lock
  Window window;
  make(how, window);
  for (int i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);
  const long before = num_sleeps();
  if (rank_in(MPI_COMM_WORLD) == 1) CHECK(access_for(0.4, window) >= 1);
  MPI_Barrier(MPI_COMM_WORLD);
  const long slept = num_sleeps() - before;
  if (rank_in(MPI_COMM_WORLD) == 0 && slept > kOfTheSystem) {
    std::printf("rank 0 slept %ld times\n", slept);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (std::strcmp(how, "dynamic") == 0) MPI_Win_detach(window.handle, &window.own);
  MPI_Win_free(&window.handle);
}

}  // namespace
}  // namespace hierbar::test

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  hierbar::test::end_without_two_cpus();
  hierbar::test::run(argv[1]);
  MPI_Finalize();
}
