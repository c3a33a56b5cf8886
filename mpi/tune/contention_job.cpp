// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/tune/contention_job.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>

namespace hierbar::mpi {

using network::WorkerChannel;

int Job::rank_at(int node, int local) const {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].node == node && places[i].local == local) return static_cast<int>(i);
  }
  return -1;
}

int Job::ranks_on(int node) const {
  return static_cast<int>(std::count_if(places.begin(), places.end(), [node](const Place& one) { return one.node == node; }));
}

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
    const auto node_index = std::lower_bound(nodes.begin(), nodes.end(), leaders[i]) - nodes.begin();
    places.push_back({static_cast<int>(node_index), locals[i]});
  }
  return places;
}

Pair pair_of(const Job& job, const WorkerChannel& channel, int index) {
  if (channel.cpu_pairs.empty()) return {job.rank_at(0, index), job.rank_at(1, index)};
  return {job.rank_at(0, 2 * index), job.rank_at(0, 2 * index + 1)};
}

int most_pairs(const Job& job, const WorkerChannel& channel) {
  const int wanted = static_cast<int>(job.plan.most_pairs);
  if (channel.cpu_pairs.empty()) return std::min({wanted, job.ranks_on(0), job.ranks_on(1)});
  const int cpus = job.plan.oversubscribed ? wanted : static_cast<int>(channel.cpu_pairs.size());
  return std::min({wanted, job.ranks_on(0) / 2, cpus});
}

std::string refusal(const Job& job) {
  for (const WorkerChannel& channel : job.plan.channels) {
    if (most_pairs(job, channel) > 0) continue;
    if (channel.cpu_pairs.empty()) return "between nodes at least one rank on each of two nodes is needed";
    return "inside a node at least two ranks on the first node are needed";
  }
  const long num_cpus = sysconf(_SC_NPROCESSORS_ONLN);
  if (!job.plan.oversubscribed && job.ranks_on(0) > num_cpus) {
    return "more ranks than cpus on a node: the scheduler would be measured; start fewer, or add --oversubscribed";
  }
  return "";
}

}  // namespace hierbar::mpi
