// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One program of the stub's, again and again: each time another call of the MPI library fails.
// Whatever fails, and wherever,
//
//   - nobody hangs and nobody crashes;
//   - a barrier that returns MPI_SUCCESS has waited for all, and only a failing barrier of the
//     library makes one return an error;
//   - the program can free its communicators, finalise, and go on after an error.
//
// Which calls: each call, by its number, of each function that the shim calls. Where: in each rank
// alone, and in all ranks. How: once or from then on; in effect or without. Only what MPI itself
// would not survive is left out: a collective call that one rank alone has not made, a message that
// one rank alone cannot send, one that is sent although the call fails, and simple questions that
// are never answered (ask() in mpi/library/pmpi.hpp).
//
// Each run is a process of its own, a copy of this one with libraries that nobody has used yet; a
// hang ends by an alarm.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/library/pmpi.hpp"
#include "stub_trial.hpp"

namespace hierbar::test {
namespace {

using Rank = StubTrial::Rank;

#define HIERBAR_NAME(name) #name,
constexpr const char* kFunctions[] = {HIERBAR_PMPI_FUNCTIONS(HIERBAR_NAME)};
#undef HIERBAR_NAME
constexpr std::size_t kNumFunctions = std::size(kFunctions);
constexpr int kMaxRanks = 4;
constexpr unsigned kHangs_s = 60;
// How often a message of the leaders is sent or received, at the most.
constexpr int kMostMessages = 30;

bool is_one_of(std::string_view function, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), function) != list.end();
}
bool is_collective(std::string_view function) {
  return is_one_of(function, {"Allgather", "Allreduce", "Alltoall", "Barrier", "Comm_split",
                              "Gather", "Gatherv", "Reduce", "Reduce_scatter_block", "Scatter"});
}
// Waiting ranks ask as often as they have time to.
bool is_poll(std::string_view function) {
  return is_one_of(function, {"Request_get_status", "Testall"});
}
bool is_message(std::string_view function) { return is_one_of(function, {"Irecv", "Isend"}); }
bool is_question(std::string_view function) {
  return is_one_of(function, {"Comm_get_attr", "Comm_rank", "Comm_size", "Comm_test_inter",
                              "Finalized", "Initialized", "Query_thread"});
}

// HIERBAR_TEST_EVERY_FAULT=5 injects the 1st fault, the 6th, ... of each shape only.
int every_fault() {
  const char* setting = std::getenv("HIERBAR_TEST_EVERY_FAULT");
  return setting == nullptr ? 1 : std::max(1, std::atoi(setting));
}

// Where everybody says how far he is.
class Board {
 public:
  // Returns the status. A barrier that let somebody go early is noted in `num_early`.
  int cross(Rank& rank, MPI_Comm comm, std::atomic<int>& num_early) {
    const StubProcess::Seat& seat = *rank.process.find(comm);
    const int own = words_[static_cast<std::size_t>(seat.rank)].fetch_add(1) + 1;
    const int size = seat.comm->size;
    const int status = rank.shim.barrier(comm);
    for (int i = 0; status == MPI_SUCCESS && i < size; ++i)
      num_early += words_[static_cast<std::size_t>(i)].load() < own;
    return status;
  }

 private:
  std::array<std::atomic<int>, kMaxRanks> words_{};
};

struct Shape {
  const char* name;
  int num_ranks;
  const char* num_nodes;
  const char* report;
  int num_barriers;  // of the world, at first; 16 fill the first batch of a report, and 35 a trial
  const char* meeting = "library";
  const char* set_up_at = "1";
};

struct Fault {
  StubScript script;
  int rank;  // kEverywhere

  static constexpr int kEverywhere = -1;
};

std::string describe(const Fault& fault) {
  return "call " + std::to_string(fault.script.first_call) +
         (fault.script.lasts ? " and later ones" : "") + " of " + fault.script.function + " in " +
         (fault.rank == Fault::kEverywhere ? "all ranks" : "rank " + std::to_string(fault.rank)) +
         (fault.script.has_taken_place ? ", having taken place" : ", without effect");
}

class StubFaults : public ::testing::TestWithParam<Shape> {
 protected:
  using Counts = std::array<std::array<int, kNumFunctions>, kMaxRanks>;

  StubFaults()
      : trial_(GetParam().num_ranks,
               {{"HIERBAR_FAKE_NODES", GetParam().num_nodes},
                {"HIERBAR_REPORT", GetParam().report},
                {"HIERBAR_MPI_MEETING", GetParam().meeting},
                {"HIERBAR_NETWORK", "off"},
                {"HIERBAR_MPI_SET_UP_AT", GetParam().set_up_at}},
               MPI_THREAD_SINGLE),
        counts_(static_cast<Counts*>(mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~StubFaults() override { munmap(counts_, sizeof(Counts)); }

  // Runs the program under the fault. Empty: as it should; else what went wrong.
  std::string run(const Fault& fault) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      alarm(kHangs_s);
      const std::string problem = program(fault);
      if (!problem.empty()) std::fprintf(stderr, "%s\n", problem.c_str());
      _exit(problem.empty() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? "" : "fails";
    return WTERMSIG(status) == SIGALRM ? "hangs"
                                       : "ends by signal " + std::to_string(WTERMSIG(status));
  }

  const Counts& counts() const { return *counts_; }

 private:
  // How many barriers may return an error: those whose own meeting fails. The meetings that end a
  // trial are three reductions of the leaders; a leader's node has two ranks at most.
  static int most_errors(const StubScript& script) {
    if (is_one_of(script.function, {"Barrier", "Testall"})) return std::numeric_limits<int>::max();
    const bool may_be_meeting =
        script.function == "Allreduce" && GetParam().meeting == std::string_view("auto");
    return may_be_meeting ? (script.lasts ? 3 : 1) * 2 : 0;
  }

  std::string program(const Fault& fault) {
    const Shape& shape = GetParam();
    std::array<Board, 4> boards;  // of both pairs, of the world, of its copies
    std::atomic<int> num_early{0}, num_errors{0}, num_refused{0};
    trial_.run([&](Rank& rank) {
      MPI_Comm pair, copies[2] = {rank.duplicate(MPI_COMM_WORLD), rank.duplicate(MPI_COMM_WORLD)};
      PMPI_Comm_split(MPI_COMM_WORLD, rank.number / 2, 0, &pair);
      rank.process.obey(fault.rank == Fault::kEverywhere || fault.rank == rank.number
                            ? fault.script
                            : StubScript{});
      const auto cross = [&](MPI_Comm comm, std::size_t board, int times) {
        for (int i = 0; i < times; ++i)
          num_errors += boards[board].cross(rank, comm, num_early) != MPI_SUCCESS;
      };
      // What is refused is tried once more.
      const auto end = [&](auto free, MPI_Comm* comm) {
        if (free(comm) == MPI_SUCCESS) return;
        ++num_refused;
        if (*comm != MPI_COMM_NULL) free(comm);
      };
      cross(pair, static_cast<std::size_t>(rank.number / 2), 2);
      cross(MPI_COMM_WORLD, 2, shape.num_barriers);
      cross(copies[0], 3, 3);
      end(rank.shim.comm_free, &copies[0]);
      cross(copies[1], 3, 3);
      cross(pair, static_cast<std::size_t>(rank.number / 2), 2);
      end(rank.shim.comm_disconnect, &copies[1]);
      end(rank.shim.comm_free,
          &pair);  // before the world ends, which takes what is left in an order of its own
      cross(MPI_COMM_WORLD, 2, 3);
      if (rank.shim.finalize() != MPI_SUCCESS) {
        ++num_refused;
        if (!rank.process.finalized) rank.shim.finalize();
      }
      const std::map<std::string, int> calls = rank.process.num_calls();
      for (std::size_t i = 0; i < kNumFunctions; ++i) {
        const auto found = calls.find(kFunctions[i]);
        (*counts_)[static_cast<std::size_t>(rank.number)][i] =
            found == calls.end() ? 0 : found->second;
      }
    });
    const std::string_view function = fault.script.function;
    if (num_early != 0) return std::to_string(num_early) + " ranks left a barrier early";
    if (num_errors > most_errors(fault.script))
      return std::to_string(num_errors) + " barriers returned an error";
    if (num_refused != 0 && !is_one_of(function, {"Comm_free", "Comm_disconnect", "Finalize"}))
      return "something is refused";
    return "";
  }

  StubTrial trial_;
  Counts* counts_;
};

TEST_P(StubFaults, AreSurvived) {
  const Shape& shape = GetParam();
  ASSERT_EQ(run({{}, Fault::kEverywhere}), "");
  const Counts clean = counts();
  int num_faults = 0, num_runs = 0;
  // Messages of the leaders that are sent although the call fails, or that cannot be sent at all.
  const auto is_left_out = [&](std::string_view function) {
    return is_message(function) && shape.meeting != std::string_view("library");
  };
  const auto expect_survived = [&](std::string_view function, int call, bool lasts,
                                   bool has_taken_place, int rank) {
    if (num_faults++ % every_fault() != 0) return;
    const Fault fault{{std::string(function), call, lasts, has_taken_place}, rank};
    ++num_runs;
    EXPECT_EQ(run(fault), "") << describe(fault);
  };
  for (std::size_t i = 0; i < kNumFunctions; ++i) {
    const std::string_view function = kFunctions[i];
    int most = 0;
    for (int rank = 0; rank < shape.num_ranks; ++rank) {
      const int limit = is_poll(function) ? 3 : is_message(function) ? kMostMessages : 1000;
      const int num_calls = std::min(clean[static_cast<std::size_t>(rank)][i], limit);
      most = std::max(most, num_calls);
      for (int call = 1; call <= num_calls; ++call) {
        if (!is_collective(function)) expect_survived(function, call, false, false, rank);
        if (!is_left_out(function)) expect_survived(function, call, false, true, rank);
      }
      if (num_calls == 0 || is_question(function) || is_left_out(function)) continue;
      expect_survived(function, 1, true, is_collective(function), rank);
    }
    // All ranks make the same collective calls only where there are no leaders of nodes among them:
    // else the numbers are those of different calls.
    const bool in_step = !is_collective(function) || shape.num_nodes[0] == '1';
    for (int call = 1; call <= most; ++call) {
      if (!in_step) continue;
      if (!is_left_out(function)) expect_survived(function, call, false, true, Fault::kEverywhere);
      expect_survived(function, call, false, false, Fault::kEverywhere);
    }
  }
  RecordProperty("runs", num_runs);
  EXPECT_GT(num_faults, 100);
  EXPECT_GE(num_runs, num_faults / every_fault());
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, StubFaults,
    ::testing::Values(Shape{"one_node", 4, "1", "", 3}, Shape{"two_nodes", 4, "2", "", 3},
                      Shape{"one_node_counted", 4, "1", "", 3, "library", "2"},
                      Shape{"one_node_recorded", 4, "1", "text", 17},
                      Shape{"two_nodes_recorded", 4, "2", "text", 17},
                      Shape{"three_nodes_dissemination", 4, "3", "", 3, "dissemination:1"},
                      Shape{"four_nodes_tree", 4, "4", "", 3, "tree:1"},
                      Shape{"three_nodes_trial", 4, "3", "", 37, "auto"}),
    [](const auto& shape) { return shape.param.name; });

}  // namespace
}  // namespace hierbar::test
