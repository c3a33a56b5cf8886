// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPI_Barrier on MPICH's communicators of threads. Nothing of hierbar is called. Arguments: the
// case, the thread level, how many threads each rank brings ("2" or "1,3,2", of which ranks take
// turns), and the number of rounds.

#include <map>

#include "team_test.hpp"

namespace hierbar::test {
namespace {

struct Options {
  std::vector<int> threads;
  int rounds;

  int own_threads() const {
    return threads[static_cast<std::size_t>(rank_in(MPI_COMM_WORLD)) % threads.size()];
  }
};

MPI_Comm make(MPI_Comm comm, int num_threads) {
  MPI_Comm made;
  CHECK(MPIX_Threadcomm_init(comm, num_threads, &made) == MPI_SUCCESS);
  return made;
}

void end(MPI_Comm& comm) {
  CHECK(MPIX_Threadcomm_free(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL);
}

// Each thread, in a parallel region.
void run_region(MPI_Comm comm, int num_threads, const std::function<void(int)>& body) {
  run_threads(num_threads, [&](int thread) {
    CHECK(MPIX_Threadcomm_start(comm) == MPI_SUCCESS);
    body(thread);
    CHECK(MPIX_Threadcomm_finish(comm) == MPI_SUCCESS);
  });
}

// The oracle, in several regions with other threads. Barriers on the communicator and on a
// duplicate take turns, and between regions the ranks have barriers of their own.
void oracle(const Options& options) {
  const int threads = options.own_threads();
  TeamBoard board(MPI_COMM_WORLD, threads);
  MPI_Comm comm = make(MPI_COMM_WORLD, threads);
  for (int region = 0; region < 3; ++region) {
    MPI_Barrier(MPI_COMM_WORLD);
    run_region(comm, threads, [&](int thread) {
      MPI_Comm copy;
      CHECK(MPI_Comm_dup(comm, &copy) == MPI_SUCCESS);
      for (int round = 0; round < options.rounds; ++round)
        board.check_barrier(thread, [&] { return MPI_Barrier(round % 3 == 0 ? copy : comm); });
      CHECK(MPI_Comm_free(&copy) == MPI_SUCCESS);
    });
  }
  end(comm);
}

// Other collective calls and messages of the threads are between the barriers. The communicator
// from which it was made is gone.
void mixed(const Options& options) {
  const int threads = options.own_threads();
  MPI_Comm parent;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Comm comm = make(parent, threads);
  MPI_Comm_free(&parent);
  run_region(comm, threads, [&](int) {
    const int rank = rank_in(comm), size = size_of(comm);
    for (int round = 0; round < options.rounds; ++round) {
      int sum = 0, own = rank + round;
      CHECK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
      CHECK(sum == size * (size - 1) / 2 + size * round);
      CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
      int left = -1;
      MPI_Request request;
      CHECK(MPI_Irecv(&left, 1, MPI_INT, (rank + size - 1) % size, 1, comm, &request) ==
            MPI_SUCCESS);
      CHECK(MPI_Send(&own, 1, MPI_INT, (rank + 1) % size, 1, comm) == MPI_SUCCESS);
      CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
      CHECK(left == (rank + size - 1) % size + round);
      CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
    }
  });
  end(comm);
}

// Every thread of the last rank is late because it waits for one of the first rank, which is in the
// barrier already and must take the message from there.
void progress(const Options& options) {
  constexpr int kLarge = 8 << 20;  // bytes; by rendezvous
  const int threads = options.threads[0];
  MPI_Comm comm = make(MPI_COMM_WORLD, threads);
  run_region(comm, threads, [&](int) {
    const int rank = rank_in(comm),
              peer = rank < threads ? rank + size_of(comm) - threads : rank % threads;
    const bool is_late = rank >= size_of(comm) - threads;
    std::vector<char> data(kLarge, is_late ? 'x' : 0);
    MPI_Request request = MPI_REQUEST_NULL;
    if (is_late) {
      MPI_Send(data.data(), kLarge, MPI_CHAR, peer, 1, comm);
    } else if (rank < threads) {
      MPI_Irecv(data.data(), kLarge, MPI_CHAR, peer, 1, comm, &request);
    }
    CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(rank >= threads || data.back() == 'x');
  });
  end(comm);
}

// A thread comes late; HIERBAR_TIMEOUT_S says who is missing.
void late(const Options& options) {
  const int threads = options.own_threads(), last = size_of(MPI_COMM_WORLD) - 1;
  MPI_Comm comm = make(MPI_COMM_WORLD, threads);
  run_region(comm, threads, [&](int thread) {
    if (rank_in(MPI_COMM_WORLD) == last && thread == threads - 1) usleep(1'600'000);
    CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
  });
  end(comm);
}

// Barriers until somebody kills the program.
void forever(const Options& options) {
  MPI_Comm comm = make(MPI_COMM_WORLD, options.own_threads());
  run_region(comm, options.own_threads(), [&](int thread) {
    for (long round = 0;; ++round) {
      CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
      if (round == 0 && thread == 0 && rank_in(MPI_COMM_WORLD) == 0)
        std::printf("first barrier\n"), std::fflush(stdout);
    }
  });
}

}  // namespace
}  // namespace hierbar::test

int main(int argc, char** argv) {
  using namespace hierbar::test;
  init_with_level(argc, argv, argc > 2 ? argv[2] : "single");
  Options options{{}, argc > 4 ? std::atoi(argv[4]) : 100};
  for (const char* at = argc > 3 ? argv[3] : "2"; at != nullptr;
       at = std::strchr(at, ',') != nullptr ? std::strchr(at, ',') + 1 : nullptr)
    options.threads.push_back(std::atoi(at));
  const std::map<std::string, void (*)(const Options&)> cases = {{"oracle", oracle},
                                                                 {"mixed", mixed},
                                                                 {"late", late},
                                                                 {"progress", progress},
                                                                 {"forever", forever}};
  CHECK(argc > 1 && cases.count(argv[1]) == 1);
  cases.at(argv[1])(options);
  if (rank_in(MPI_COMM_WORLD) == 0) std::printf("all rounds were right\n");
  MPI_Finalize();
}
