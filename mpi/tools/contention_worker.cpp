// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Measures what shared channels cost, under one MPI library: paper P3's benchmark. `hierbar tune
// --between-nodes --contention` starts it by the user's launcher and reads what rank 0 prints
// (network/workers.hpp). Each MPI's own compiler driver builds it.
//
//   contention_worker --time-limit S --pairs K [--oversubscribed] --sizes M[,M...]
//                     --channel NAME=A-B[,A-B...]...
//
// For each channel and cf = 1, 2, ... K, pairs of ranks exchange messages, all pairs at once.
// Inside the first node pair i runs on cpus A and B of the channel's i-th pair. Between nodes it is
// the i-th rank of the first node and the i-th of the second one. All other ranks sleep.
//
//   Irecv, Isend, Waitall, n times; t = the time of the slowest pair / (2 n)
//
// All buffers are written before the first exchange, and the first exchanges do not count: in them
// the library connects the ranks.

#include <mpi.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/bound_thread.hpp"
#include "base/quartiles.hpp"

#include "network/workers.hpp"

namespace {

using namespace hierbar;
using network::WorkerChannel;
using network::WorkerPlan;

// This rank's place: on which node, and as which of its ranks.
struct Place {
  int node = 0;
  int local = 0;
};

// What contention_worker measures, and among whom.
struct Job {
  network::WorkerPlan plan;
  std::vector<Place> places;  // of all ranks
  int rank = 0;
  double end_s = 0;

  // The rank that is `local` on `node`; -1 if there is none.
  int rank_at(int node, int local) const;
  int ranks_on(int node) const;
};

int Job::rank_at(int node, int local) const {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].node == node && places[i].local == local) return static_cast<int>(i);
  }
  return -1;
}

int Job::ranks_on(int node) const {
  return static_cast<int>(std::count_if(places.begin(), places.end(),
                                        [node](const Place& one) { return one.node == node; }));
}

// The places of all ranks of MPI_COMM_WORLD, which all call it.
std::vector<Place> find_places() {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank = 0, size = 0, leader = 0;
  Place own;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(node, &own.local);
  leader = rank;
  MPI_Bcast(&leader, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  std::vector<int> leaders(size), locals(size);
  MPI_Allgather(&leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgather(&own.local, 1, MPI_INT, locals.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::vector<int> nodes(leaders);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::vector<Place> places;
  for (int i = 0; i < size; ++i) {
    const auto node_index =
        std::lower_bound(nodes.begin(), nodes.end(), leaders[i]) - nodes.begin();
    places.push_back({static_cast<int>(node_index), locals[i]});
  }
  return places;
}

// The ranks of the i-th pair, by rank; -1 where there are too few.
struct Pair {
  int first = -1;
  int second = -1;
};

Pair pair_of(const Job& job, const WorkerChannel& channel, int index) {
  if (channel.cpu_pairs.empty()) return {job.rank_at(0, index), job.rank_at(1, index)};
  return {job.rank_at(0, 2 * index), job.rank_at(0, 2 * index + 1)};
}

// How many pairs there can be.
int most_pairs(const Job& job, const WorkerChannel& channel) {
  const int wanted = static_cast<int>(job.plan.most_pairs);
  if (channel.cpu_pairs.empty()) return std::min({wanted, job.ranks_on(0), job.ranks_on(1)});
  const int cpus = job.plan.oversubscribed ? wanted : static_cast<int>(channel.cpu_pairs.size());
  return std::min({wanted, job.ranks_on(0) / 2, cpus});
}

// Why nothing can be measured; the same in all ranks. Empty if it can.
std::string refusal(const Job& job) {
  for (const WorkerChannel& channel : job.plan.channels) {
    if (most_pairs(job, channel) > 0) continue;
    if (channel.cpu_pairs.empty())
      return "measuring between nodes needs at least one rank on each of two nodes";
    return "measuring inside a node needs at least two ranks on the first node";
  }
  const long num_cpus = sysconf(_SC_NPROCESSORS_ONLN);
  if (!job.plan.oversubscribed && job.ranks_on(0) > num_cpus) {
    return "more ranks than cpus on a node: the scheduler would be measured; start fewer, or add "
           "--oversubscribed";
  }
  return "";
}

constexpr double kSample_s = 200e-6;  // short exchanges are repeated until a sample takes so long
constexpr int kMostRepetitions = 200;
constexpr int kFewestSamples = 3;
constexpr int kMostSamples = 15;
constexpr double kMostShares = 4;  // of a cell's time, after which it has no more samples
constexpr unsigned kGrace_s = 60;  // behind the limit: whoever hangs is ended

// Waits without keeping a cpu busy, since those that are measured may need it.
void meet_all() {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    const timespec nap{0, 500000};
    if (done == 0) nanosleep(&nap, nullptr);
  }
}

class Exchange {
 public:
  Exchange(MPI_Comm comm, int peer, std::size_t num_bytes)
      : comm_(comm), peer_(peer), out_(num_bytes, 1), in_(num_bytes, 2) {}

  // Seconds of `repetitions` exchanges, all pairs beginning together.
  double run(int repetitions) {
    MPI_Barrier(comm_);
    const double start = MPI_Wtime();
    for (int i = 0; i < repetitions; ++i) {
      MPI_Request requests[2];
      MPI_Irecv(in_.data(), static_cast<int>(in_.size()), MPI_BYTE, peer_, 1, comm_, &requests[0]);
      MPI_Isend(out_.data(), static_cast<int>(out_.size()), MPI_BYTE, peer_, 1, comm_,
                &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    double own = MPI_Wtime() - start, slowest = 0;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm_);
    return slowest;
  }

 private:
  MPI_Comm comm_;
  int peer_;
  std::vector<char> out_, in_;
};

// Of t(m, cf) in microseconds, the same in all ranks of the communicator. `share_s` limits the
// time.
Quartiles measure(MPI_Comm comm, int peer, std::size_t num_bytes, double share_s) {
  Exchange exchange(comm, peer, num_bytes);
  exchange.run(1);
  const double once_s = exchange.run(1);
  const int repetitions = std::clamp(static_cast<int>(kSample_s / once_s), 1, kMostRepetitions);
  const int num_samples =
      std::clamp(static_cast<int>(share_s / (once_s * repetitions)), kFewestSamples, kMostSamples);
  std::vector<double> samples_us;
  // A network may stall for seconds; the times are the same in all ranks, and so is the end.
  double spent_s = 0;
  for (int i = 0; i < num_samples && spent_s <= kMostShares * share_s; ++i) {
    const double sample_s = exchange.run(repetitions);
    spent_s += sample_s;
    samples_us.push_back(sample_s * 1e6 / (2.0 * repetitions));
  }
  return quartiles_of(samples_us);
}

class Measuring {
 public:
  explicit Measuring(Job& job) : job_(job) {}

  void run() {
    const std::vector<std::uint64_t>& sizes = job_.plan.sizes;
    std::size_t num_rows = sizes.size() * job_.plan.channels.size();
    last_us_.assign(job_.plan.channels.size(), 0);
    for (const std::uint64_t size : sizes) {
      for (std::size_t index = 0; index < job_.plan.channels.size(); ++index)
        row(index, size, num_rows--);
    }
  }

 private:
  // t(size, 1..K) of a channel, if the time that is left allows it: larger messages are left out
  // first.
  void row(std::size_t index, std::uint64_t size, std::size_t rows_left) {
    const WorkerChannel& channel = job_.plan.channels[index];
    const int pairs = most_pairs(job_, channel);
    // With more pairs, and of a larger message, a cell takes at least as long as the last one.
    if (!is_time_left(2e-6 * last_us_[index] * (kFewestSamples + 2) * pairs)) {
      if (job_.rank == 0) {
        std::printf("%s%s from %llu on\n", network::kLeftOutLine, channel.name.c_str(),
                    static_cast<unsigned long long>(size));
      }
      return;
    }
    double share_s =
        (job_.end_s - MPI_Wtime()) / static_cast<double>(rows_left) / std::max(1, pairs);
    MPI_Bcast(&share_s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int cf = 1; cf <= pairs && is_time_left(0); ++cf) cell(index, size, cf, share_s);
  }

  // Rank 0 decides for all.
  bool is_time_left(double needed_s) const {
    int is_left = job_.end_s - MPI_Wtime() > needed_s ? 1 : 0;
    MPI_Bcast(&is_left, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return is_left != 0;
  }

  void cell(std::size_t index, std::uint64_t size, int cf, double share_s) {
    const WorkerChannel& channel = job_.plan.channels[index];
    int peer = -1;
    for (int i = 0; i < cf; ++i) {
      const Pair pair = pair_of(job_, channel, i);
      if (job_.rank != pair.first && job_.rank != pair.second) continue;
      // Members keep the order of their ranks, so each finds the other one by counting.
      peer = job_.rank == pair.first ? pair.second : pair.first;
      // More ranks than cpus stay where they are: two that share one would wait for each other.
      if (!job_.plan.oversubscribed && !channel.cpu_pairs.empty()) {
        const auto& cpus = channel.cpu_pairs[static_cast<std::size_t>(i)];
        bind_this_thread(job_.rank == pair.first ? cpus.first : cpus.second);
      }
    }
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, peer < 0 ? MPI_UNDEFINED : 0, job_.rank, &comm);
    Quartiles time_us;
    if (peer >= 0) {
      time_us = measure(comm, rank_in(comm, peer), size, share_s);
      MPI_Comm_free(&comm);
    }
    launched_cpus_.bind();
    meet_all();
    // Rank 0 is the first rank of the first node, so it is in the first pair of every channel.
    MPI_Bcast(&time_us, sizeof time_us, MPI_BYTE, 0, MPI_COMM_WORLD);
    last_us_[index] = time_us.median;
    if (job_.rank != 0) return;
    std::printf("%s%s %llu %d %.6g %.6g %.6g\n", network::kCellLine, channel.name.c_str(),
                static_cast<unsigned long long>(size), cf, time_us.lower, time_us.median,
                time_us.upper);
    std::fflush(stdout);
  }

  static int rank_in(MPI_Comm comm, int world_rank) {
    MPI_Group all, own;
    int rank = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(comm, &own);
    MPI_Group_translate_ranks(all, 1, &world_rank, own, &rank);
    MPI_Group_free(&all);
    MPI_Group_free(&own);
    return rank;
  }

  Job& job_;
  const KernelMask launched_cpus_ =
      KernelMask::of_thread();   // as the launcher gave them, for messages between nodes
  std::vector<double> last_us_;  // of each channel, with all its pairs
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Job job;
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  const Result<WorkerPlan> plan =
      network::read_worker_plan(std::vector<std::string>(argv + 1, argv + argc));
  if (!plan) {
    if (job.rank == 0) std::printf("%s%s\n", network::kContentionRefusalLine, plan.error().c_str());
    MPI_Finalize();
    return 2;
  }
  job.plan = *plan;
  job.places = find_places();
  job.end_s = MPI_Wtime() + job.plan.time_limit_s;
  alarm(static_cast<unsigned>(job.plan.time_limit_s) + kGrace_s);
  if (const std::string why = refusal(job); !why.empty()) {
    if (job.rank == 0) std::printf("%s%s\n", network::kContentionRefusalLine, why.c_str());
  } else {
    Measuring(job).run();
    if (job.rank == 0) std::printf("%s\n", network::kContentionEndLine);
  }
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
