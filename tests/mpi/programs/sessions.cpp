// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Barriers in sessions. Without arguments the program never calls MPI_Init: it has two sessions, of
// which one ends before the other. With "threads" the world has MPI_THREAD_SINGLE, and a session
// MPI_THREAD_MULTIPLE. Two threads of each process have barriers at the same time, each on its own
// communicator of the session. Both have the same leaders.

#include <cstring>
#include <memory>
#include <thread>

#include "bench/common/random.hpp"
#include "mpi_test.hpp"

namespace hierbar::test {
namespace {

struct Session {
  explicit Session(const char* tag) {
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group group;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
  }
  void use() const {
    for (int round = 0; round < 100; ++round) MPI_Barrier(comm);
  }
  void end() {
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  }

  MPI_Session session;
  MPI_Comm comm;
};

void use_two_sessions() {
  Session first("first");
  first.use();
  Session second("second");
  second.use();
  first.use();
  second.end();
  first.use();
  first.end();
}

// Returns whether the library gives it.
bool begin_session(MPI_Session& session) {
  MPI_Info wanted, given;
  MPI_Info_create(&wanted);
  MPI_Info_set(wanted, "thread_level", "MPI_THREAD_MULTIPLE");
  MPI_Session_init(wanted, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Info_free(&wanted);
  char level[64] = "";
  int found = 0;
  MPI_Session_get_info(session, &given);
  MPI_Info_get(given, "thread_level", sizeof(level) - 1, level, &found);
  MPI_Info_free(&given);
  return found != 0 && std::strcmp(level, "MPI_THREAD_MULTIPLE") == 0;
}

void watch(Board& board, std::uint64_t seed) {
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    for (std::uint32_t work = random.below(50'000); work > 0; --work)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    board.check_barrier();
  }
}

void use_threads(MPI_Session session) {
  constexpr int kThreads = 2;
  MPI_Group group;
  MPI_Comm comms[kThreads];
  std::vector<std::unique_ptr<Board>> boards;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  for (int i = 0; i < kThreads; ++i) {
    const char tag[] = {static_cast<char>('a' + i), '\0'};
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comms[i]);
    boards.push_back(std::make_unique<Board>(comms[i]));
    MPI_Barrier(comms[i]);  // the set-up
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      watch(*boards[i], 10 * rank_in(MPI_COMM_WORLD) + static_cast<std::uint64_t>(i));
    });
  for (std::thread& thread : threads) thread.join();
  boards.clear();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  MPI_Group_free(&group);
}

}  // namespace
}  // namespace hierbar::test

int main(int argc, char** argv) {
  if (argc == 1) {
    hierbar::test::use_two_sessions();
    return 0;
  }
  MPI_Init(&argc, &argv);
  MPI_Session session;
  const bool is_threaded = hierbar::test::begin_session(session);
  if (is_threaded) hierbar::test::use_threads(session);
  MPI_Session_finalize(&session);
  MPI_Finalize();
  if (is_threaded) return 0;
  std::printf("this MPI library gives no session MPI_THREAD_MULTIPLE\n");
  return 77;
}
