// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers on communicators of all kinds. Arguments: which case, and how many rounds.

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstring>

#include "bench/common/random.hpp"
#include "mpi_test.hpp"

namespace hierbar::test {
namespace {

// Ranks come at different times: some work first, some let others run.
void come_late(Random& random) {
  for (std::uint32_t work = random.below(2000); work > 0; --work)
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

void watch_rounds(Board& board, int num_rounds) {
  Random random(17 + rank_in(MPI_COMM_WORLD));
  for (int round = 0; round < num_rounds; ++round) {
    come_late(random);
    board.check_barrier();
  }
}

void oracle(int num_rounds) {
  Board board(MPI_COMM_WORLD);
  watch_rounds(board, num_rounds);
}

// The oracle for ranks that the MPI library believes on several hosts; the second argument is a
// file.
const char* board_file = nullptr;
void apart(int num_rounds) {
  CHECK(board_file != nullptr);
  Board board(MPI_COMM_WORLD, board_file);
  watch_rounds(board, num_rounds);
  std::printf("all rounds were right\n");
  std::fflush(stdout);
}

// Several communicators of random members at a time, each used in turn and watched by itself.
void subsets(int num_rounds) {
  const int world_rank = rank_in(MPI_COMM_WORLD);
  Random everywhere(4);  // the same in all ranks
  Random here(5 + world_rank);
  for (int round = 0; round < num_rounds; ++round) {
    struct Part {
      MPI_Comm comm;
      Board* board;
    };
    std::vector<Part> parts;
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t colours = everywhere.next();
      MPI_Comm comm;
      MPI_Comm_split(MPI_COMM_WORLD, static_cast<int>(colours >> world_rank & 1),
                     static_cast<int>(mix(colours + world_rank) % 97), &comm);
      parts.push_back({comm, new Board(comm)});
    }
    for (int use = 0; use < 30; ++use) {
      Part& part = parts[everywhere.below(3)];
      come_late(here);
      part.board->check_barrier();
    }
    for (Part& part : parts) {
      delete part.board;
      MPI_Comm_free(&part.comm);
    }
  }
}

// How many segments this process has mapped.
int num_segments() {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  int num = 0;
  while (std::fgets(line, sizeof(line), maps) != nullptr)
    num += std::strstr(line, "/dev/shm/hierbar-") != nullptr;
  std::fclose(maps);
  return num;
}

// A new communicator for every few barriers: its place in the segment is used again and again.
void duplicates(int num_rounds) {
  for (int round = 0; round < num_rounds; ++round) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Barrier(copy);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
  }
  CHECK(num_segments() <= 1);
}

// Many communicators alive at once, all in use; they are still there when MPI is finalised.
void many(int num_comms) {
  std::vector<MPI_Comm> comms(num_comms);
  for (MPI_Comm& comm : comms) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
  }
  for (MPI_Comm comm : comms) MPI_Barrier(comm);
}

// All of them in one segment.
void many_together(int num_comms) {
  many(num_comms);
  CHECK(num_segments() == 1);
}

// With room for few communicators more, as in a program that has made most of those that the
// library has: leaders' communicators that stayed, or that each of those alive at once had for
// itself, would be too many. The library's are used up by communicators of one rank, which cost no
// time.
void leaders(int num_left) {
  duplicates(1);  // what is made once has been made
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  std::vector<MPI_Comm> own;
  for (MPI_Comm comm; MPI_Comm_dup(MPI_COMM_SELF, &comm) == MPI_SUCCESS;) own.push_back(comm);
  CHECK(own.size() > 2000);
  for (int i = 0; i < num_left; ++i, own.pop_back()) MPI_Comm_free(&own.back());
  duplicates(num_left + num_left / 2);
  many(num_left * 3 / 4);
  for (MPI_Comm& comm : own) MPI_Comm_free(&comm);
}

// Ranks 0 and 1 first know a segment of two, then all one of all, then 2 and 3 use that one alone.
void growing(int) {
  MPI_Comm half;
  const int world_rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank / 2, 0, &half);
  if (world_rank / 2 == 0) MPI_Barrier(half);
  oracle(20);
  Board board(half);
  for (int round = 0; round < 20; ++round) board.check_barrier();
}

// What is not the engine's: passed on, and counted by its reason.
void passed_on(int) {
  MPI_Barrier(MPI_COMM_SELF);
  MPI_Comm half, between;
  const int world_rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world_rank % 2, 7, &between);
  MPI_Barrier(between);
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

// Errors are the library's and reach the program's handler.
void errors(int) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int error_class = MPI_SUCCESS;
  MPI_Error_class(MPI_Barrier(MPI_COMM_NULL), &error_class);
  CHECK(error_class == MPI_ERR_COMM);
  MPI_Comm freed, handle;
  MPI_Comm_dup(MPI_COMM_WORLD, &freed);
  handle = freed;
  MPI_Comm_free(&freed);
  MPI_Error_class(MPI_Barrier(handle), &error_class);
  CHECK(error_class == MPI_ERR_COMM);
}

// The highest rank stays away for longer than HIERBAR_TIMEOUT_S=1.
void late(int) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  while (rank_in(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1 && MPI_Wtime() - start < 1.7)
    sched_yield();
  MPI_Barrier(MPI_COMM_WORLD);
}

// Parents and children in one communicator. The children are told what they are by MPI.
void use_with_relatives(MPI_Comm relatives) {
  MPI_Comm all;
  MPI_Intercomm_merge(relatives, 0, &all);
  CHECK(size_of(all) == 4);
  for (int round = 0; round < 100; ++round) MPI_Barrier(all);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&relatives);
}

void spawn_relatives(const char* a_case) {
  MPI_Comm children, parents;
  MPI_Comm_get_parent(&parents);
  if (parents != MPI_COMM_NULL) return use_with_relatives(parents);
  char* arguments[] = {const_cast<char*>(a_case), nullptr};
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (MPI_Comm_spawn(program_invocation_name, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                     &children, MPI_ERRCODES_IGNORE) != MPI_SUCCESS) {
    std::printf("skipped: this MPI library cannot spawn\n");
    std::exit(77);
  }
  use_with_relatives(children);
}

void spawn(int) { spawn_relatives("spawn"); }

// Two parents that have a cpu each, and barriers, before two children come and there are two cpus
// for four. Barriers of the parents alone follow.
void crowd(int) {
  MPI_Comm parents;
  MPI_Comm_get_parent(&parents);
  const int num_barriers = parents == MPI_COMM_NULL ? 10 : 0;
  for (int i = 0; i < num_barriers; ++i) MPI_Barrier(MPI_COMM_WORLD);
  spawn_relatives("crowd");
  for (int i = 0; i < num_barriers; ++i) MPI_Barrier(MPI_COMM_WORLD);
}

// This process and its children may run on the first two of its cpus only. Before MPI_Init, since
// the library may have threads.
void keep_to_two_cpus() {
  cpu_set_t all, two;
  CPU_ZERO(&two);
  if (sched_getaffinity(0, sizeof(all), &all) != 0) std::abort();
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &two);
  }
  if (sched_setaffinity(0, sizeof(two), &two) != 0) std::abort();
}

// /dev/shm is full before the first barrier, but not yet in MPI_Init, which Debian's MPICH would
// not survive. Only where it has been made tiny for this.
void full(int num_rounds) {
  constexpr const char* kName = "/test-that-fills-everything";
  struct statvfs status{};
  CHECK(statvfs("/dev/shm", &status) == 0 && status.f_blocks * status.f_frsize <= 1 << 20);
  PMPI_Barrier(MPI_COMM_WORLD);  // all have left MPI_Init, which gives memory back there
  if (rank_in(MPI_COMM_WORLD) == 0) {
    const int file = shm_open(kName, O_CREAT | O_EXCL | O_RDWR, 0600);
    off_t size = 0;
    while (posix_fallocate(file, size, 4096) == 0) size += 4096;
    close(file);
  }
  duplicates(num_rounds);
  if (rank_in(MPI_COMM_WORLD) == 0) shm_unlink(kName);
}

// Barriers until somebody ends the program; says when the first is done.
void forever(int) {
  for (bool first = true;; first = false) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (first && rank_in(MPI_COMM_WORLD) == 0) std::printf("first barrier\n"), std::fflush(stdout);
  }
}

struct Case {
  const char* name;
  void (*run)(int);
  int rounds;
};

constexpr Case kCases[] = {
    {"oracle", oracle, 2000}, {"subsets", subsets, 10}, {"duplicates", duplicates, 300},
    {"many", many, 200},      {"growing", growing, 0},  {"passed_on", passed_on, 0},
    {"errors", errors, 0},    {"late", late, 0},        {"full", full, 10},
    {"spawn", spawn, 0},      {"forever", forever, 0},  {"apart", apart, 100},
    {"leaders", leaders, 40}, {"crowd", crowd, 0},      {"many_together", many_together, 200}};

}  // namespace
}  // namespace hierbar::test

int main(int argc, char** argv) {
  using namespace hierbar::test;
  if (argc > 1 && std::strcmp(argv[1], "crowd") == 0) keep_to_two_cpus();
  MPI_Init(&argc, &argv);
  if (argc > 3) board_file = argv[3];
  for (const Case& a_case : kCases) {
    if (argc > 1 && std::strcmp(argv[1], a_case.name) == 0) {
      a_case.run(rounds(argc, argv, a_case.rounds));
#ifndef FINALIZED_BY_INTERPRETER
      MPI_Finalize();
#endif
      return 0;
    }
  }
  std::fprintf(stderr, "no such case\n");
  MPI_Abort(MPI_COMM_WORLD, 2);
  return 2;
}
