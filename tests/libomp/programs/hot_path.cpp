// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a barrier must not do when its threads arrive together and each has a cpu: call the kernel,
// or allocate. Nor may the primary of a region call the kernel.

// BUILD: clang
// NEEDS: native
// TEST: no_system_call_of_the_primary no_system_call_of_a_bound_primary
//   ENV: HIERBAR_PRIMARY=free KMP_AFFINITY=granularity=core,compact,reset
//   CHECK: --counter phased>=1000
//   RUN: timed
// TEST: no_allocation no_system_call
//   CHECK: --counter fast>=20000
//   RUN: alone
// TEST: sizes_in_turns
//   CHECK: --counter phased>=100

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <omp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "tests/libomp/programs/check.hpp"

namespace {

std::atomic<long> num_allocations{0};

constexpr int kEpisodesPerAttempt = 20000;

void cross(int episodes) {
  for (int episode = 0; episode < episodes; ++episode) {
#pragma omp barrier
  }
}

}  // namespace

// ---- allocations: this program's malloc comes before the C library's, for libomp.so too ----

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
  ++num_allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++num_allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  ++num_allocations;
  return __libc_realloc(memory, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  ++num_allocations;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? 12 : 0;
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++num_allocations;
  return __libc_memalign(alignment, size);
}
}

namespace {

void no_allocation() {
  for (int num_threads : {2, 8}) {
    const int episodes = num_threads == 2 ? 100000 : 5000;
#pragma omp parallel num_threads(num_threads)
    {
      cross(10);
#pragma omp master
      num_allocations = 0;
      cross(episodes);
#pragma omp master
      CHECK_EQUAL(num_allocations.load(), 0);
#pragma omp barrier
    }
    CHECK(num_allocations.load() < 100);  // nothing much at the end of the region either
  }
  const long before = num_allocations.load();
  void* volatile memory = std::malloc(100);
  std::free(memory);
  CHECK_EQUAL(num_allocations.load(), before + 1);  // they are counted at all
}

// Regions whose sizes take turns, each larger than those whose plans need no machine. After the
// first round each size has its plan; a region may take some allocations of libomp's own.
void sizes_in_turns() {
  const auto round = [] {
    for (int size = 9; size <= 20; ++size) {
      int num_threads = 0;
#pragma omp parallel num_threads(size) reduction(+ : num_threads)
      ++num_threads;
      CHECK_EQUAL(num_threads, size);
    }
  };
  round();
  num_allocations = 0;
  for (int i = 0; i < 10; ++i) round();
  std::printf("%.1f allocations in a region\n", num_allocations / 120.0);
  CHECK(num_allocations.load() < 120 * 8);
}

// ---- system calls: a filter turns each into a signal, whose handler counts it and then makes the
// call ----

#if defined(__x86_64__)

// The only place from where the filter lets calls through.
extern "C" long system_call_of_the_handler(long number, long a, long b, long c, long d, long e,
                                           long f);
extern "C" const char system_call_return_address[];
asm(R"(
    .text
    .globl system_call_of_the_handler
system_call_of_the_handler:
    movq %rdi, %rax
    movq %rsi, %rdi
    movq %rdx, %rsi
    movq %rcx, %rdx
    movq %r8, %r10
    movq %r9, %r8
    movq 8(%rsp), %r9
    syscall
    .globl system_call_return_address
system_call_return_address:
    ret
)");

thread_local volatile long num_system_calls = 0;

void count_system_call(int, siginfo_t*, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  num_system_calls = num_system_calls + 1;
  registers[REG_RAX] = system_call_of_the_handler(
      registers[REG_RAX], registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
      registers[REG_R10], registers[REG_R8], registers[REG_R9]);
}

// For the calling thread only, and for ever.
bool trap_system_calls() {
  const auto allowed = reinterpret_cast<std::uintptr_t>(system_call_return_address);
  const auto low = static_cast<std::uint32_t>(allowed),
             high = static_cast<std::uint32_t>(allowed >> 32);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 8),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 6, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 5, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, instruction_pointer)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, low, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, instruction_pointer) + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {static_cast<unsigned short>(std::size(program)), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// Makes episodes until in one attempt there are less than one call in 1000: a virtual machine may
// lose its cpus for a while at any time; libomp then yields, rightly. Returns the calls of the last
// attempt, of the whole team.
long count_calls_of_team() {
  std::atomic<long> calls{0};
#pragma omp parallel num_threads(2)
  {
    CHECK(trap_system_calls());
    const long before_yield = num_system_calls;
    sched_yield();
    CHECK_EQUAL(num_system_calls - before_yield, 1);  // they are counted at all
    for (int attempt = 0; attempt < 50; ++attempt) {
#pragma omp barrier
#pragma omp master
      calls = 0;
      cross(100);
      const long before = num_system_calls;
      cross(kEpisodesPerAttempt);
      calls += num_system_calls - before;
#pragma omp barrier
      if (calls.load() < kEpisodesPerAttempt / 1000) break;
    }
  }
  return calls.load();
}

// The same for regions and their primary, with less than one call in 100: if it were bound anew
// each time, it would make two in each.
constexpr int kRegionsPerAttempt = 1000;

long count_calls_of_primary() {
  const auto run = [](int regions) {
    for (int region = 0; region < regions; ++region) {
#pragma omp parallel num_threads(2)
      asm volatile("");  // an empty region would be left out
    }
  };
  run(100);  // the handler could not make the calls that start threads
  CHECK(trap_system_calls());
  long calls = 0;
  for (int attempt = 0; attempt < 50; ++attempt) {
    const long before = num_system_calls;
    run(kRegionsPerAttempt);
    calls = num_system_calls - before;
    if (calls < kRegionsPerAttempt / 100) break;
  }
  return calls;
}

bool can_trap() {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(trap_system_calls() ? 0 : 1);
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void expect_fewer_calls(int limit, long (*count_calls)()) {
  cpu_set_t cpus;
  CHECK_EQUAL(sched_getaffinity(0, sizeof cpus, &cpus), 0);
  if (CPU_COUNT(&cpus) < 2) {
    std::puts("skipped: there are no two cpus for two threads");
    std::exit(omp_test::kSkipped);
  }
  if (!can_trap()) {
    std::puts("skipped: the kernel does not allow a system call filter here");
    std::exit(omp_test::kSkipped);
  }
  struct sigaction action = {};
  action.sa_sigaction = count_system_call;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  CHECK_EQUAL(sigaction(SIGSYS, &action, nullptr), 0);
  const long calls = count_calls();
  std::printf("%ld system calls\n", calls);
  CHECK(calls < limit);
}

void no_system_call() { expect_fewer_calls(kEpisodesPerAttempt / 1000, count_calls_of_team); }
void no_system_call_of_the_primary() {
  expect_fewer_calls(kRegionsPerAttempt / 100, count_calls_of_primary);
}

// As vLLM and GROMACS do: the threads of a team bind themselves, here to each other's cpus.
long count_calls_of_bound_primary() {
#pragma omp parallel num_threads(2)
  {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(1 - omp_get_thread_num(), &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) std::_Exit(omp_test::kSkipped);
  }
  return count_calls_of_primary();
}
void no_system_call_of_a_bound_primary() {
  expect_fewer_calls(kRegionsPerAttempt / 100, count_calls_of_bound_primary);
}

#else

void no_system_call() {
  std::puts("skipped: the filter is written for x86-64");
  std::exit(omp_test::kSkipped);
}
void no_system_call_of_the_primary() { no_system_call(); }
void no_system_call_of_a_bound_primary() { no_system_call(); }

#endif

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(
      argc, argv,
      {{"no_allocation", no_allocation},
       {"sizes_in_turns", sizes_in_turns},
       {"no_system_call", no_system_call},
       {"no_system_call_of_the_primary", no_system_call_of_the_primary},
       {"no_system_call_of_a_bound_primary", no_system_call_of_a_bound_primary}});
}
