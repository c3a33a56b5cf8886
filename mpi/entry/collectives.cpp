// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/entry/collectives.hpp"

#include "mpi/barrier/before_set_up.hpp"
#include "mpi/barrier/cross_with.hpp"
#include "mpi/barrier/make_collectives.hpp"
#include "mpi/barrier/process_state.hpp"
#include "mpi/entry/mpi_barrier.hpp"
#include "mpi/library/family.hpp"
#include "mpi/library/progress.hpp"
#include "mpi/reduction/reduction.hpp"
#include "mpi/reduction/type_layout.hpp"
#include "mpi/team/threadcomm.hpp"

namespace hierbar::mpi {
namespace {

static_assert(NodeCollectives::kMostBytes <= kMostPairBytes, "cross_without_gaps()");
static_assert(NodeOneWay::kMostBytes <= kMostPairBytes, "cross_without_gaps()");

// Of those that the engine has served.
constinit thread_local LastComm last_of_collectives;

// ---- what differs between the calls ----

// What follows from arguments that are alike in all ranks; false: the library serves the call.
using FoldVerdict = const Reduction*;
struct BytesVerdict {
  TypeLayout layout;
  std::size_t bytes = 0;
  explicit operator bool() const noexcept { return bytes != 0; }
};

FoldVerdict verdict_on_fold(const Pmpi& pmpi, MPI_Count count, MPI_Datatype type, MPI_Op op,
                            std::size_t most_bytes) {
  const Reduction* const reduction = find_reduction(pmpi, type, op);
  return reduction != nullptr && is_small(count, reduction->element_bytes, most_bytes) ? reduction
                                                                                       : nullptr;
}
FoldVerdict verdict_on(const Pmpi& pmpi, const AllreduceCall& call) {
  return verdict_on_fold(pmpi, call.count, call.type, call.op, NodeCollectives::kMostBytes);
}
FoldVerdict verdict_on(const Pmpi& pmpi, const ReduceCall& call) {
  return verdict_on_fold(pmpi, call.count, call.type, call.op, NodeOneWay::kMostBytes);
}
BytesVerdict verdict_on(const Pmpi& pmpi, const BcastCall& call) {
  const TypeLayout layout = find_layout(pmpi, call.type);
  return is_small(call.count, layout.element_bytes, NodeOneWay::kMostBytes)
             ? BytesVerdict{layout, static_cast<std::size_t>(call.count) * layout.element_bytes}
             : BytesVerdict{};
}

// By this rank's own arguments. If not, they are wrong, and the others wait as they would without
// the shim.
bool has_good_buffers(const AllreduceCall& call, FoldVerdict) noexcept {
  const void* const in = call.in;
  return in != nullptr && call.out != nullptr && call.out != MPI_IN_PLACE &&
         (in != call.out || (call.count == 1 && kTakesOneElementTwice));
}
// Of a datatype with addresses in it MPI_BOTTOM is the buffer, which is null.
bool has_good_buffers(const BcastCall& call, const BytesVerdict& verdict) noexcept {
  return call.data != nullptr || !verdict.layout.is_dense;
}
bool has_good_buffers(const ReduceCall& call, FoldVerdict) noexcept { return call.in != nullptr; }

// The same for what only a communicator of the engine's tells. It is on one node, so its ranks are
// the participants.
bool is_rank(int root, const NodeBarrier& node) noexcept {
  return root >= 0 && static_cast<std::uint32_t>(root) < node.plan().num_participants;
}
bool is_root(int root, const NodeBarrier& node) noexcept {
  return static_cast<std::uint32_t>(root) == node.me();
}
bool has_good_root(const AllreduceCall&, const NodeBarrier&) noexcept { return true; }
bool has_good_root(const BcastCall& call, const NodeBarrier& node) noexcept {
  return is_rank(call.root, node);
}
bool has_good_root(const ReduceCall& call, const NodeBarrier& node) noexcept {
  if (!is_rank(call.root, node)) return false;
  if (!is_root(call.root, node)) return call.in != MPI_IN_PLACE;
  return call.out != nullptr && call.out != MPI_IN_PLACE && call.in != call.out;
}

// Which part of the engine serves the call.
DataPart<NodeCollectives>& part_for(const AllreduceCall&, CommState& state) noexcept {
  return state.collectives;
}
DataPart<NodeOneWay>& part_for(const BcastCall&, CommState& state) noexcept {
  return state.one_way;
}
DataPart<NodeOneWay>& part_for(const ReduceCall&, CommState& state) noexcept {
  return state.one_way;
}

// What a call is run with.
struct Running {
  CommState& state;
  const Pmpi& pmpi;
  MPI_Comm comm;
};

template <class Call>
OverdueData overdue_of(const Running& running, const Call&) {
  return {{&running.pmpi, running.comm, &running.state}, Call::kCall};
}

// The calls themselves. They are always released: if a rank has died, MPI's launcher ends the
// program. They return MPI's status.

int run(const Running& running, const AllreduceCall& call, FoldVerdict reduction) {
  CommState& state = running.state;
  OverdueData overdue = overdue_of(running, call);
  const WaitDuties duties = duties_of(overdue, &report_overdue_data);
  const void* const in = call.in == MPI_IN_PLACE ? call.out : call.in;
  const auto count = static_cast<std::size_t>(call.count);
  cross_without_gaps(*reduction, in, call.out, count, [&](const void* from, void* to) {
    return state.collectives.memory->allreduce(state.waiting, duties, from, to, count,
                                               reduction->element_bytes, *reduction);
  });
  return MPI_SUCCESS;
}

int run(const Running& running, const ReduceCall& call, FoldVerdict reduction) {
  CommState& state = running.state;
  OverdueData overdue = overdue_of(running, call);
  const WaitDuties duties = duties_of(overdue, &report_overdue_data);
  const void* const in = call.in == MPI_IN_PLACE ? call.out : call.in;
  void* const out = is_root(call.root, *state.node) ? call.out : nullptr;
  const auto count = static_cast<std::size_t>(call.count);
  cross_without_gaps(*reduction, in, out, count, [&](const void* from, void* to) {
    return state.one_way.memory->reduce(state.waiting, duties,
                                        static_cast<std::uint32_t>(call.root), from, to, count,
                                        reduction->element_bytes, *reduction);
  });
  return MPI_SUCCESS;
}

void bcast_bytes(const Running& running, const BcastCall& call, void* data, std::size_t bytes) {
  CommState& state = running.state;
  OverdueData overdue = overdue_of(running, call);
  if (!is_root(call.root, *state.node)) overdue.awaited = call.root;
  state.one_way.memory->bcast(state.waiting, duties_of(overdue, &report_overdue_data),
                              static_cast<std::uint32_t>(call.root), data, bytes);
}

// The values travel without gaps. The library raises an error of MPI_Pack or MPI_Unpack. Behind the
// former this rank has not come to the call, and the others wait.
int bcast_packed(const Running& running, const BcastCall& call, std::byte* packed,
                 std::size_t bytes) {
  const Pmpi& pmpi = running.pmpi;
  const bool brings = is_root(call.root, *running.state.node);
  const auto count = static_cast<int>(call.count);
  const auto packed_bytes = static_cast<int>(bytes);
  int position = 0;
  if (brings) {
    const int status =
        pmpi.Pack(call.data, count, call.type, packed, packed_bytes, &position, running.comm);
    if (status != MPI_SUCCESS) return status;
  }
  bcast_bytes(running, call, packed, bytes);
  return brings ? MPI_SUCCESS
                : pmpi.Unpack(packed, packed_bytes, &position, call.data, count, call.type,
                              running.comm);
}

// The same from MPI_BOTTOM, which is null, and which MPICH's MPI_Unpack takes for an error. So the
// values are described by their distances from another address.
int bcast_addresses(const Running& running, BcastCall call, std::byte* packed, std::size_t bytes) {
  const Pmpi& pmpi = running.pmpi;
  const auto count = static_cast<int>(call.count);
  const MPI_Aint distance = -reinterpret_cast<MPI_Aint>(packed);
  MPI_Datatype type = call.type;
  int status = pmpi.Type_create_hindexed(1, &count, &distance, call.type, &type);
  if (status != MPI_SUCCESS) return status;
  status = pmpi.Type_commit(&type);
  if (status == MPI_SUCCESS) {
    call.data = packed;
    call.count = 1;
    call.type = type;
    status = bcast_packed(running, call, packed, bytes);
  }
  pmpi.Type_free(&type);
  return status;
}

[[gnu::noinline]] int bcast_values(const Running& running, const BcastCall& call,
                                   std::size_t bytes) {
  std::byte packed[NodeOneWay::kMostBytes];
  return call.data == nullptr ? bcast_addresses(running, call, packed, bytes)
                              : bcast_packed(running, call, packed, bytes);
}

int run(const Running& running, const BcastCall& call, const BytesVerdict& verdict) {
  if (!verdict.layout.is_dense) [[unlikely]]
    return bcast_values(running, call, verdict.bytes);
  bcast_bytes(running, call, call.data, verdict.bytes);
  return MPI_SUCCESS;
}

// ---- what they have in common ----

template <class Call>
[[gnu::noinline]] int pass_on(const Pmpi& pmpi, MPI_Comm comm, const Call& call) {
  ProcessState::get().states.count_passed(Call::kCall);
  return call.call(pmpi, comm);
}

// Progress comes behind, where it holds up this rank alone.
template <class Call, class Verdict>
int serve(CommState& state, const Pmpi& pmpi, MPI_Comm comm, const Call& call,
          const Verdict& verdict) {
  if (!has_good_root(call, *state.node)) [[unlikely]]
    return pass_on(pmpi, comm, call);
  const std::uint64_t number = count_one(state.num_data_calls[index_of(Call::kCall)]);
  const int status = run({state, pmpi, comm}, call, verdict);
  if (number % kBarriersPerProgress == 0) [[unlikely]]
    make_progress();
  return status;
}

// The state of a communicator whose calls of this kind the engine serves, which is made ready for
// that if it was not. Null: the library is to serve the call, or has served it; `status` is its
// status then.
template <class Call>
CommState* find_ready_state(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm,
                            const Call& call, int& status) {
  CommState* const state =
      find_state(process, pmpi, comm, BeforeSetUp::kMayCount, status, name_of(Call::kCall));
  if (status != MPI_SUCCESS) return nullptr;
  if (state != nullptr && state->route == Route::kBeforeSetUp) {
    status = pass_on_before_set_up(process, pmpi, comm, *state, Call::kCall,
                                   [&] { return call.call(pmpi, comm); });
    return nullptr;
  }
  if (state != nullptr && part_for(call, *state).route == DataRoute::kUndecided) {
    forget_last_collective();
    make_collectives(process, pmpi, comm, *state, part_for(call, *state));
  }
  if (state != nullptr && part_for(call, *state).route == DataRoute::kEngine) return state;
  status = pass_on(pmpi, comm, call);
  return nullptr;
}

// On a communicator that is not the thread's last one, or whose part for the call is not ready.
template <class Call, class Verdict>
[[gnu::noinline]] int serve_elsewhere(const Pmpi& pmpi, MPI_Comm comm, const Call& call,
                                      const Verdict& verdict) {
  ProcessState& process = ProcessState::get();
  if (InsideGuard::is_held() || pmpi.has_user_threads || find_seat(comm).team != nullptr)
    return pass_on(pmpi, comm, call);
  const std::uint64_t num_removals = process.states.num_removals();
  int status = MPI_SUCCESS;
  CommState* const state = find_ready_state(process, pmpi, comm, call, status);
  if (state == nullptr) return status;
  if (process.has_send_buffer()) {
    status = serve(*state, pmpi, comm, call, verdict);
    free_send_buffer();
    return status;
  }
  last_of_collectives = {comm, state, num_removals};
  return serve(*state, pmpi, comm, call, verdict);
}

template <class Call>
int serve_or_pass_on(const Pmpi& pmpi, MPI_Comm comm, const Call& call) {
  const auto verdict = verdict_on(pmpi, call);
  if (!verdict || !has_good_buffers(call, verdict)) return pass_on(pmpi, comm, call);
  const LastComm& last = last_of_collectives;
  if (!last.is(comm, ProcessState::get().states) || part_for(call, *last.state).memory == nullptr)
    return serve_elsewhere(pmpi, comm, call, verdict);
  return serve(*last.state, pmpi, comm, call, verdict);
}

}  // namespace

bool serves_collectives() noexcept { return ProcessState::get().settings.serves_collectives(); }

int call_collective(const Pmpi& pmpi, MPI_Comm comm, const AllreduceCall& call) {
  return serve_or_pass_on(pmpi, comm, call);
}
int call_collective(const Pmpi& pmpi, MPI_Comm comm, const BcastCall& call) {
  return serve_or_pass_on(pmpi, comm, call);
}
int call_collective(const Pmpi& pmpi, MPI_Comm comm, const ReduceCall& call) {
  return serve_or_pass_on(pmpi, comm, call);
}

void forget_last_collective() noexcept { last_of_collectives.state = nullptr; }

}  // namespace hierbar::mpi
