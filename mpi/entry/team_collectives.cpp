// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/entry/team_collectives.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "mpi/reduction/reduction.hpp"
#include "mpi/settings/print_line.hpp"

namespace hierbar::mpi {
namespace {

static_assert(HybridTeam::kMostBytesOfBcast <= kMostPairBytes, "a piece fits into a buffer");

// What a thread may do wrong in each step: a line the first time.
int refuse(int code, const char* function, const char* problem) {
  static constinit PrintedProblems printed;
  if (printed.is_new(problem)) print_line(std::string(function) + ": " + problem);
  return code;
}

// How a datatype's elements lie in the program's memory. Those of a piece lie beside each other.
struct Elements {
  PairLayout layout;  // all 0: beside each other, too
  std::size_t bytes;

  bool has_gaps() const noexcept { return layout.extent != 0; }
  std::size_t stride() const noexcept { return has_gaps() ? layout.extent : bytes; }
};

// From begin_call() to end_call().
class InCall {
 public:
  InCall(HybridTeam& team, std::uint32_t thread, DataCall call) : team_(team), thread_(thread) {
    team_.begin_call(thread_, call);
  }
  ~InCall() { team_.end_call(thread_); }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

 private:
  HybridTeam& team_;
  const std::uint32_t thread_;
};

// Calls piece(from, to, count) for each piece of `count` elements, at least once: without elements
// it is a barrier. Where elements have gaps, a piece is packed. Ends at the first error.
template <class Piece>
int for_each_piece(const Elements& elements, const void* in, void* out, std::size_t count,
                   std::size_t most_bytes, const Piece& piece) {
  const std::size_t most = most_bytes / elements.bytes;
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(out);
  std::size_t done = 0;
  do {
    const std::size_t now = std::min(count - done, most);
    const std::size_t at = done * elements.stride();
    int status;
    if (elements.has_gaps()) {
      alignas(16) std::byte packed[kMostPairBytes];
      remove_gaps(elements.layout, from + at, packed, now);
      status = piece(packed, packed, now);
      if (status == MPI_SUCCESS) restore_gaps(elements.layout, packed, to + at, now);
    } else {
      status = piece(from + at, to + at, now);
    }
    if (status != MPI_SUCCESS) return status;
    done += now;
  } while (done < count);
  return MPI_SUCCESS;
}

// Of a predefined datatype; without bytes: it is none.
Elements find_elements(const Pmpi& pmpi, MPI_Datatype type) {
  if (const std::size_t bytes = dense_bytes(pmpi, type); bytes != 0) return {{}, bytes};
  const Reduction* const pair = look_up_pair(pmpi, type);
  return pair != nullptr ? Elements{pair->layout, pair->element_bytes} : Elements{};
}

constexpr const char* kNoType = "the datatype is not predefined";

}  // namespace

int call_in_team(HybridTeam& team, int thread, const TeamAllreduce& call, const void* caller) {
  constexpr const char* kFunction = "hierbar_team_allreduce";
  if (const int status = team.check(thread, kFunction); status != MPI_SUCCESS) return status;
  if (call.count < 0) return refuse(MPI_ERR_COUNT, kFunction, "count is negative");
  const Reduction* const reduction = find_reduction(team.pmpi(), call.type, call.op);
  if (reduction == nullptr) {
    if (find_elements(team.pmpi(), call.type).bytes == 0)
      return refuse(MPI_ERR_TYPE, kFunction, kNoType);
    return refuse(MPI_ERR_OP, kFunction,
                  "op is not predefined, or hierbar does not have it for the datatype");
  }
  const void* const in = call.in == MPI_IN_PLACE ? call.out : call.in;
  if (call.count != 0 && (in == nullptr || call.out == nullptr || call.out == MPI_IN_PLACE))
    return refuse(MPI_ERR_BUFFER, kFunction, "a buffer is NULL, or recvbuf is MPI_IN_PLACE");
  const auto number = static_cast<std::uint32_t>(thread);
  const InCall in_call(team, number, DataCall::kAllreduce);
  const Elements elements{reduction->layout, reduction->element_bytes};
  return for_each_piece(
      elements, in, call.out, static_cast<std::size_t>(call.count), team.most_bytes_of_allreduce(),
      [&](const void* from, void* to, std::size_t count) {
        return team.allreduce(number, from, to, count, elements.bytes, reduction->fold, caller);
      });
}

int call_in_team(HybridTeam& team, int thread, const TeamBcast& call, const void* caller) {
  constexpr const char* kFunction = "hierbar_team_bcast";
  if (const int status = team.check(thread, kFunction); status != MPI_SUCCESS) return status;
  if (call.count < 0) return refuse(MPI_ERR_COUNT, kFunction, "count is negative");
  const Elements elements = find_elements(team.pmpi(), call.type);
  if (elements.bytes == 0) return refuse(MPI_ERR_TYPE, kFunction, kNoType);
  if (!team.has_rank(call.root_rank))
    return refuse(MPI_ERR_ROOT, kFunction, "root_rank is no rank of the team");
  if (!team.has_thread(call.root_rank, call.root_thread))
    return refuse(MPI_ERR_ROOT, kFunction, "root_thread is no thread of rank root_rank");
  if (call.count != 0 && (call.data == nullptr || call.data == MPI_IN_PLACE))
    return refuse(MPI_ERR_BUFFER, kFunction, "buffer is NULL or MPI_IN_PLACE");
  const auto number = static_cast<std::uint32_t>(thread);
  const InCall in_call(team, number, DataCall::kBcast);
  const std::uint32_t root = team.member(call.root_rank, call.root_thread);
  return for_each_piece(elements, call.data, call.data, static_cast<std::size_t>(call.count),
                        HybridTeam::kMostBytesOfBcast,
                        [&](const void*, void* data, std::size_t count) {
                          return team.bcast(number, root, data, count * elements.bytes, caller);
                        });
}

}  // namespace hierbar::mpi
