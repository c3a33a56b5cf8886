// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Plain barriers whose waiters soon sleep: where the system lets a sleeper fence for the writers
// (membarrier), where it refuses that from the start or later, and in a forked child. A lost
// wake-up is a program that hangs.

// BUILD: clang
// BUILD: gcc
// NEEDS: native
// Sleepers fence for the writers, or cannot.
// TEST: woken refused_from_the_start refused_later in_a_forked_child
//   ENV: KMP_BLOCKTIME=1us
//   CHECK: --counter fast>=1000
// The process asks for the fences before it has threads.
// TEST: registered_when_loaded

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <omp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "bench/common/random.hpp"
#include "tests/libomp/programs/check.hpp"

namespace {

constexpr int kNumThreads = 2;

// From now on membarrier() fails in this thread and in those that it makes.
void refuse_membarrier() {
  sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{4, instructions};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
    return;
  std::printf("the kernel has no filters for system calls\n");
  std::_Exit(omp_test::kSkipped);
}

// Computes for 0.1 µs to 100 µs, so that the other's wait ends asleep, awake, or in between.
void be_late(std::uint64_t drawn) {
  const std::uint64_t most = drawn % 4 == 0 ? 0x1ffff : 0xff;
  for (volatile std::uint64_t left = (drawn >> 8) & most; left > 0;) left = left - 1;
}

struct alignas(128) Count {
  int episodes;
};

void cross_late(int num_episodes, void (*in_the_middle)() = nullptr) {
  static Count counts[kNumThreads];
  int errors = 0;
#pragma omp parallel num_threads(kNumThreads) reduction(+ : errors)
  {
    const int me = omp_get_thread_num();
    for (int episode = 1; episode <= num_episodes; ++episode) {
      if (in_the_middle != nullptr && episode == num_episodes / 2) in_the_middle();
      be_late(hierbar::test::mix(static_cast<std::uint64_t>(episode) * 100 +
                                 static_cast<std::uint64_t>(me)));
      counts[me].episodes = episode;
#pragma omp barrier
      for (const Count& count : counts) errors += count.episodes == episode ? 0 : 1;
#pragma omp barrier
    }
  }
  CHECK_EQUAL(errors, 0);
}

void woken() { cross_late(20000); }

void refused_from_the_start() {
  refuse_membarrier();  // before libomp asks
  cross_late(5000);
}

// Each thread for itself. The team's barrier has been made before.
void refused_later() { cross_late(2000, refuse_membarrier); }

void registered_when_loaded() {
  // Linux 6.3 and later tell for what a process has registered. The numbers are the kernel's.
  constexpr int kGetRegistrations = 1 << 9;
  constexpr long kRegisterPrivateExpedited = 1 << 4;
  const long registrations = syscall(SYS_membarrier, kGetRegistrations, 0, 0);
  if (registrations < 0) {
    std::printf("the kernel does not tell what is registered\n");
    std::exit(omp_test::kSkipped);
  }
  CHECK((registrations & kRegisterPrivateExpedited) != 0);
  cross_late(10);
}

void in_a_forked_child() {
  cross_late(1000);
  std::fflush(nullptr);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    cross_late(5000);
    std::_Exit(0);
  }
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
}

}  // namespace

int main(int argc, char** argv) {
  return omp_test::run_case(argc, argv,
                            {{"woken", woken},
                             {"refused_from_the_start", refused_from_the_start},
                             {"refused_later", refused_later},
                             {"registered_when_loaded", registered_when_loaded},
                             {"in_a_forked_child", in_a_forked_child}});
}
