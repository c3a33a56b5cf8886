// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers of all threads of all ranks. Arguments: the case, the thread level, how many threads
// each rank brings ("2" or "1,3,2", of which ranks take turns), and the number of rounds.

#include <sched.h>

#include <map>

#include "bench/common/random.hpp"
#include "team_test.hpp"

namespace hierbar::test {
namespace {

struct Options {
  std::vector<int> threads;
  int rounds;
  const char* file;

  int own_threads(MPI_Comm comm) const {
    return threads[static_cast<std::size_t>(rank_in(comm)) % threads.size()];
  }
};

hierbar_team create(MPI_Comm comm, int num_threads) {
  hierbar_team team;
  CHECK(hierbar_team_create(comm, num_threads, &team) == MPI_SUCCESS && team != HIERBAR_TEAM_NULL);
  return team;
}

void end(hierbar_team& team) {
  CHECK(hierbar_team_free(&team) == MPI_SUCCESS && team == HIERBAR_TEAM_NULL);
}

void watch(MPI_Comm comm, int num_threads, int rounds, const char* file = nullptr) {
  TeamBoard board(comm, num_threads, file);
  hierbar_team team = create(comm, num_threads);
  run_threads(num_threads, [&](int thread) {
    CHECK(hierbar_team_join(team, thread) == MPI_SUCCESS);
    for (int round = 0; round < rounds; ++round) board.check_barrier(team, thread);
  });
  end(team);
}

void oracle(const Options& options) {
  watch(MPI_COMM_WORLD, options.own_threads(MPI_COMM_WORLD), options.rounds, options.file);
}

// Random subsets of the ranks with random numbers of threads, several teams at the same time.
void subsets(const Options& options) {
  Random random(7);  // the same in all ranks
  const int me = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  for (int round = 0; round < options.rounds; ++round) {
    std::vector<int> colours, threads;
    for (int rank = 0; rank < size; ++rank) {
      colours.push_back(static_cast<int>(random.below(2)));
      threads.push_back(1 + static_cast<int>(random.below(4)));
    }
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, colours[static_cast<std::size_t>(me)], 0, &comm);
    watch(comm, threads[static_cast<std::size_t>(me)], 20);
    MPI_Comm_free(&comm);
  }
}

// Many teams, one after the other and two at a time.
void cycles(const Options& options) {
  for (int round = 0; round < options.rounds; ++round) {
    const int threads = 1 + (round + rank_in(MPI_COMM_WORLD)) % 3;
    hierbar_team teams[2] = {create(MPI_COMM_WORLD, threads), create(MPI_COMM_WORLD, threads)};
    CHECK(teams[0] != teams[1]);
    run_threads(threads, [&](int thread) {
      for (hierbar_team team : teams) CHECK(hierbar_team_join(team, thread) == MPI_SUCCESS);
      for (int i = 0; i < 6; ++i) CHECK(hierbar_team_barrier(teams[i % 2], thread) == MPI_SUCCESS);
    });
    for (hierbar_team& team : teams) end(team);
  }
}

// Threads move to another cpu and join again, now and then and not all of them; and their numbers
// are taken over by new threads.
void joins_again(const Options& options) {
  const int threads = options.own_threads(MPI_COMM_WORLD);
  TeamBoard board(MPI_COMM_WORLD, threads);
  hierbar_team team = create(MPI_COMM_WORLD, threads);
  const int me = rank_in(MPI_COMM_WORLD);
  for (int crew = 0; crew < 3; ++crew) {
    run_threads(threads, [&](int thread) {
      Random random(static_cast<std::uint64_t>(me * 100 + thread * 10 + crew));
      CHECK(hierbar_team_join(team, thread) == MPI_SUCCESS);
      for (int round = 0; round < options.rounds; ++round) {
        board.check_barrier(team, thread);
        // Not at the end: a number that has joined and been in no barrier since cannot be taken
        // over.
        if (round == options.rounds - 1 || !random.one_in(4)) continue;
        cpu_set_t cpu;
        CPU_ZERO(&cpu);
        CPU_SET(random.below(2), &cpu);
        sched_setaffinity(0, sizeof(cpu), &cpu);
        CHECK(hierbar_team_join(team, thread) == MPI_SUCCESS);
      }
    });
  }
  end(team);
}

// A thread comes late; HIERBAR_TIMEOUT_S says who is missing.
void late(const Options& options) {
  const int threads = options.own_threads(MPI_COMM_WORLD), last = size_of(MPI_COMM_WORLD) - 1;
  hierbar_team team = create(MPI_COMM_WORLD, threads);
  run_threads(threads, [&](int thread) {
    const bool is_late = rank_in(MPI_COMM_WORLD) == last && thread == threads - 1;
    if (!is_late) CHECK(hierbar_team_join(team, thread) == MPI_SUCCESS);
    if (is_late) usleep(1'600'000);
    if (is_late) CHECK(hierbar_team_join(team, thread) == MPI_SUCCESS);
    CHECK(hierbar_team_barrier(team, thread) == MPI_SUCCESS);
  });
  end(team);
}

// Barriers until somebody kills the program.
void forever(const Options& options) {
  const int threads = options.own_threads(MPI_COMM_WORLD);
  hierbar_team team = create(MPI_COMM_WORLD, threads);
  run_threads(threads, [&](int thread) {
    CHECK(hierbar_team_join(team, thread) == MPI_SUCCESS);
    for (long round = 0;; ++round) {
      CHECK(hierbar_team_barrier(team, thread) == MPI_SUCCESS);
      if (round == 0 && thread == 0 && rank_in(MPI_COMM_WORLD) == 0)
        std::printf("first barrier\n"), std::fflush(stdout);
    }
  });
}

}  // namespace
}  // namespace hierbar::test

int main(int argc, char** argv) {
  using namespace hierbar::test;
  const std::string level = argc > 2 ? argv[2] : "multiple";
  init_with_level(argc, argv, level);
  Options options{{}, argc > 4 ? std::atoi(argv[4]) : 100, argc > 5 ? argv[5] : nullptr};
  const char* at = argc > 3 ? argv[3] : "2";
  for (; at != nullptr; at = std::strchr(at, ',') != nullptr ? std::strchr(at, ',') + 1 : nullptr)
    options.threads.push_back(std::atoi(at));
  const std::map<std::string, void (*)(const Options&)> cases = {
      {"oracle", oracle},           {"subsets", subsets}, {"cycles", cycles},
      {"joins_again", joins_again}, {"late", late},       {"forever", forever}};
  CHECK(argc > 1 && cases.count(argv[1]) == 1);
  cases.at(argv[1])(options);
  if (rank_in(MPI_COMM_WORLD) == 0) std::printf("all rounds were right\n");
  MPI_Finalize();
}
