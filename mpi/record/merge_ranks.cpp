// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/record/merge_ranks.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mpi/settings/message.hpp"
#include "report/merge.hpp"

namespace hierbar::mpi {
namespace {

// What rank 0 receives at a time at most.
constexpr long long kMostBytes = 64LL << 20;

void merge_one(report::Merger& merged, int rank, const std::string& json) try {
  merged.add(report::parse_report(json));
} catch (const std::runtime_error& error) {
  print_line("the report of rank " + std::to_string(rank) + " is missing in that of all: " + error.what());
}

// Collective. Returns the same in all ranks. A rank in which the call fails assumes that the others
// are as it is itself.
bool is_well_everywhere(const Pmpi& pmpi, bool is_well_here) {
  const long long own = is_well_here ? 1 : 0;
  long long least = own;
  const bool agreed = pmpi.Allreduce(&own, &least, 1, pmpi.long_long, pmpi.min, pmpi.comm_world) == MPI_SUCCESS;
  return agreed ? least != 0 : is_well_here;
}

// One round: ranks send their reports, from rank `begin` on, as many as fit. Returns the first rank
// of the next round.
int receive_some(const Pmpi& pmpi, int begin, const std::vector<long long>& sizes, const std::string& own, int rank,
                 report::Merger& merged) {
  const int num_ranks = static_cast<int>(sizes.size());
  // Only rank 0 needs them.
  std::vector<int> counts(rank == 0 ? sizes.size() : 0), places(counts.size());
  const auto count_of = [&](int of) {  // a report that does not fit is missing
    const long long size = sizes[static_cast<std::size_t>(of)];
    return size > kMostBytes ? 0 : static_cast<int>(size);
  };
  long long total = 0;
  int end = begin;
  for (; end < num_ranks; ++end) {
    if (end > begin && total + count_of(end) > kMostBytes) break;
    if (rank == 0) {
      counts[static_cast<std::size_t>(end)] = count_of(end);
      places[static_cast<std::size_t>(end)] = static_cast<int>(total);
    }
    total += count_of(end);
  }
  std::string received(rank == 0 ? static_cast<std::size_t>(total) : 0, '\0');
  const int count = rank >= begin && rank < end ? count_of(rank) : 0;
  const int status =
      pmpi.Gatherv(own.data(), count, pmpi.byte, received.data(), counts.data(), places.data(), pmpi.byte, 0, pmpi.comm_world);
  if (rank == 0 && status != MPI_SUCCESS) {
    print_line("the reports of ranks " + std::to_string(begin) + " to " + std::to_string(end - 1) +
               " are missing in that of all: they could not be received");
  }
  for (int i = begin; rank == 0 && status == MPI_SUCCESS && i < end; ++i) {
    const auto index = static_cast<std::size_t>(i);
    if (i != 0)
      merge_one(merged, i, received.substr(static_cast<std::size_t>(places[index]), static_cast<std::size_t>(counts[index])));
  }
  return end;
}

}  // namespace

Merged merge_ranks(const Pmpi& pmpi, report::Report& report) {
  int rank = 0, num_ranks = 1;
  if (!ask([&] { return pmpi.Comm_rank(pmpi.comm_world, &rank); }) ||
      !ask([&] { return pmpi.Comm_size(pmpi.comm_world, &num_ranks); })) {
    return Merged::kNowhere;
  }
  const std::string json = rank == 0 ? "" : report::to_json_of_rank(report);
  const auto bytes = static_cast<long long>(json.size());
  std::vector<long long> sizes(static_cast<std::size_t>(num_ranks));
  const int status = pmpi.Allgather(&bytes, sizeof(bytes), pmpi.byte, sizes.data(), sizeof(bytes), pmpi.byte, pmpi.comm_world);
  if (!is_well_everywhere(pmpi, status == MPI_SUCCESS)) return Merged::kNowhere;
  report::Merger merger(report);
  for (int begin = 0; begin < num_ranks;) begin = receive_some(pmpi, begin, sizes, json, rank, merger);
  if (rank != 0) return Merged::kInRank0;
  report::sort_sites(report);
  return Merged::kHere;
}

}  // namespace hierbar::mpi
