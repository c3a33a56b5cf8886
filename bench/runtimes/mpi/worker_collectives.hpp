// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The calls that carry data and that mpi_barrier_worker measures: doubles from one buffer to
// another, sums of them, and rank 0 as the root. The count is what one rank brings, in an alltoall
// and a reduce-scatter what it brings for one rank. Each is a function of a communicator, as
// MPI_Barrier is, so that all are measured alike.

#include <mpi.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace hierbar::bench::mpi {

inline constexpr std::array<std::string_view, 8> kCollectives{
    "allreduce", "bcast", "reduce", "allgather", "alltoall", "gather", "scatter", "reduce-scatter"};
inline constexpr std::size_t kFewestBytes = sizeof(double);
inline constexpr std::size_t kNumSizes = 14;  // each twice as large as the one before

using CollectiveCall = int (*)(MPI_Comm);

inline constexpr std::size_t kMostDoubles = (kFewestBytes << (kNumSizes - 1)) / sizeof(double);
alignas(4096) inline std::array<double, kMostDoubles> sent_doubles;
alignas(4096) inline std::array<double, kMostDoubles> received_doubles;

// The same, with room for what all ranks bring.
inline std::unique_ptr<double[]> sent_to_all, received_from_all;
inline void make_room_for(int num_ranks) {
  const std::size_t num_doubles = kMostDoubles * static_cast<std::size_t>(num_ranks);
  sent_to_all = std::make_unique_for_overwrite<double[]>(num_doubles);
  received_from_all = std::make_unique_for_overwrite<double[]>(num_doubles);
}

// `kOwn`: the MPI library's, whatever is preloaded.
template <std::size_t kCollective, bool kOwn, int kCount>
int call_collective(MPI_Comm comm) {
  double* const in = sent_doubles.data();
  double* const out = received_doubles.data();
  if constexpr (kCollectives[kCollective] == "allreduce") {
    return (kOwn ? PMPI_Allreduce : MPI_Allreduce)(in, out, kCount, MPI_DOUBLE, MPI_SUM, comm);
  } else if constexpr (kCollectives[kCollective] == "bcast") {
    return (kOwn ? PMPI_Bcast : MPI_Bcast)(out, kCount, MPI_DOUBLE, 0, comm);
  } else if constexpr (kCollectives[kCollective] == "allgather") {
    return (kOwn ? PMPI_Allgather : MPI_Allgather)(in, kCount, MPI_DOUBLE, received_from_all.get(),
                                                   kCount, MPI_DOUBLE, comm);
  } else if constexpr (kCollectives[kCollective] == "alltoall") {
    return (kOwn ? PMPI_Alltoall : MPI_Alltoall)(sent_to_all.get(), kCount, MPI_DOUBLE,
                                                 received_from_all.get(), kCount, MPI_DOUBLE, comm);
  } else if constexpr (kCollectives[kCollective] == "gather") {
    return (kOwn ? PMPI_Gather : MPI_Gather)(in, kCount, MPI_DOUBLE, received_from_all.get(),
                                             kCount, MPI_DOUBLE, 0, comm);
  } else if constexpr (kCollectives[kCollective] == "scatter") {
    return (kOwn ? PMPI_Scatter : MPI_Scatter)(sent_to_all.get(), kCount, MPI_DOUBLE, out, kCount,
                                               MPI_DOUBLE, 0, comm);
  } else if constexpr (kCollectives[kCollective] == "reduce-scatter") {
    return (kOwn ? PMPI_Reduce_scatter_block : MPI_Reduce_scatter_block)(
        sent_to_all.get(), out, kCount, MPI_DOUBLE, MPI_SUM, comm);
  } else {
    return (kOwn ? PMPI_Reduce : MPI_Reduce)(in, out, kCount, MPI_DOUBLE, MPI_SUM, 0, comm);
  }
}

template <std::size_t kCollective, bool kOwn, std::size_t... kSize>
CollectiveCall call_of_size(std::size_t bytes, std::index_sequence<kSize...>) {
  CollectiveCall found = nullptr;
  ((found =
        bytes == kFewestBytes << kSize ? &call_collective<kCollective, kOwn, 1 << kSize> : found),
   ...);
  return found;
}

template <bool kOwn, std::size_t... kCollective>
CollectiveCall call_named(std::string_view name, std::size_t bytes,
                          std::index_sequence<kCollective...>) {
  constexpr auto kSizes = std::make_index_sequence<kNumSizes>();
  CollectiveCall found = nullptr;
  ((found =
        name == kCollectives[kCollective] ? call_of_size<kCollective, kOwn>(bytes, kSizes) : found),
   ...);
  return found;
}

// As "allreduce:64". Null if there is no such call.
inline CollectiveCall find_collective(std::string_view text, bool own) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return nullptr;
  std::size_t bytes = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data() + colon + 1, end, bytes).ptr != end) return nullptr;
  constexpr auto kAll = std::make_index_sequence<kCollectives.size()>();
  const std::string_view name = text.substr(0, colon);
  return own ? call_named<true>(name, bytes, kAll) : call_named<false>(name, bytes, kAll);
}

}  // namespace hierbar::bench::mpi
