// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/entry/collectives.hpp"

#include <concepts>

#include "mpi/barrier/before_set_up.hpp"
#include "mpi/barrier/cross_with.hpp"
#include "mpi/barrier/make_collectives.hpp"
#include "mpi/barrier/process_state.hpp"
#include "mpi/entry/mpi_barrier.hpp"
#include "mpi/entry/verdicts.hpp"
#include "mpi/library/family.hpp"
#include "mpi/library/progress.hpp"
#include "mpi/reduction/packing.hpp"
#include "mpi/reduction/reduction.hpp"
#include "mpi/team/threadcomm.hpp"

namespace hierbar::mpi {
namespace {

static_assert(NodeCollectives::kMostBytes <= kMostPairBytes, "cross_without_gaps()");
static_assert(NodeOneWay::kMostBytes <= kMostPairBytes, "cross_without_gaps()");

// Of those that the engine has served.
constinit thread_local LastComm last_of_collectives;

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
  const auto count = static_cast<std::size_t>(call.count);
  const FoldBuffers buffers{call.brought(), count, call.out, count};
  cross_without_gaps(*reduction, buffers, [&](const void* from, void* to) {
    return state.collectives.memory->allreduce(state.waiting, duties, from, to, count,
                                               reduction->element_bytes, *reduction);
  });
  return MPI_SUCCESS;
}

int run(const Running& running, const ReduceScatterBlockCall& call, FoldVerdict reduction) {
  CommState& state = running.state;
  OverdueData overdue = overdue_of(running, call);
  const WaitDuties duties = duties_of(overdue, &report_overdue_data);
  const auto count = static_cast<std::size_t>(call.count);
  const FoldBuffers buffers{call.brought(), count * state.node->plan().num_participants, call.out,
                            count};
  cross_without_gaps(*reduction, buffers, [&](const void* from, void* to) {
    return state.collectives.memory->reduce_scatter(state.waiting, duties, from, to, count,
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
  cross_without_gaps(*reduction, {in, count, out, count}, [&](const void* from, void* to) {
    return state.one_way.memory->reduce(state.waiting, duties,
                                        static_cast<std::uint32_t>(call.root), from, to, count,
                                        reduction->element_bytes, *reduction);
  });
  return MPI_SUCCESS;
}

// Another rank's bytes are not this one's. The other rank, which waits for nobody, does not know of
// it.
[[gnu::cold, gnu::noinline]] int raise_length_error(const Running& running, std::size_t came,
                                                    std::size_t bytes) {
  const int status = came > bytes ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
  running.pmpi.Comm_call_errhandler(running.comm, status);
  return status;
}

// Where values lie as they travel, some of these may be missing.
int check_came(const Running& running, std::size_t came, std::size_t bytes) {
  if (came == bytes || (kTakesFewerBytes && came < bytes)) [[likely]]
    return MPI_SUCCESS;
  return raise_length_error(running, came, bytes);
}

// Returns how many bytes the root brought.
std::size_t bcast_bytes(const Running& running, const BcastCall& call, void* data,
                        std::size_t bytes) {
  CommState& state = running.state;
  OverdueData overdue = overdue_of(running, call);
  if (!is_root(call.root, *state.node)) overdue.awaited = call.root;
  return state.one_way.memory->bcast(state.waiting, duties_of(overdue, &report_overdue_data),
                                     static_cast<std::uint32_t>(call.root), data, bytes);
}

// The values travel without gaps. Part of them cannot be unpacked.
[[gnu::noinline]] int bcast_packed(const Running& running, const BcastCall& call,
                                   std::size_t bytes) {
  std::byte packed[NodeOneWay::kMostBytes];
  const TypedData data{call.data, call.count, call.type};
  const bool brings = is_root(call.root, *running.state.node);
  if (brings) {
    const int status = pack(running.pmpi, running.comm, data, packed, bytes);
    if (status != MPI_SUCCESS) return status;
  }
  const std::size_t bytes_of_root = bcast_bytes(running, call, packed, bytes);
  if (bytes_of_root != bytes) return raise_length_error(running, bytes_of_root, bytes);
  return brings ? MPI_SUCCESS : unpack(running.pmpi, running.comm, packed, bytes, data);
}

int run(const Running& running, const BcastCall& call, const BytesVerdict& verdict) {
  if (!verdict.layout.is_dense) [[unlikely]]
    return bcast_packed(running, call, verdict.bytes);
  return check_came(running, bcast_bytes(running, call, call.data, verdict.bytes), verdict.bytes);
}

// `bytes` of one rank's part.
void exchange_bytes(const Running& running, const AllgatherCall& call, const void* in, void* out,
                    std::size_t bytes) {
  OverdueData overdue = overdue_of(running, call);
  running.state.collectives.memory->allgather(
      running.state.waiting, duties_of(overdue, &report_overdue_data), in, out, bytes);
}
void exchange_bytes(const Running& running, const AlltoallCall& call, const void* in, void* out,
                    std::size_t bytes) {
  OverdueData overdue = overdue_of(running, call);
  running.state.collectives.memory->alltoall(
      running.state.waiting, duties_of(overdue, &report_overdue_data), in, out, bytes);
}

// Where that which the rank brings lies in what it gets, with MPI_IN_PLACE.
std::byte* brought_in(const AllgatherCall&, void* out, const ExchangeVerdict& verdict,
                      const NodeBarrier& node) noexcept {
  return own_part(out, verdict.out.bytes, node);
}
std::byte* brought_in(const AlltoallCall&, void* out, const ExchangeVerdict&,
                      const NodeBarrier&) noexcept {
  return static_cast<std::byte*>(out);
}
// How many parts the rank brings.
MPI_Count num_brought(const AllgatherCall&, const NodeBarrier&) noexcept { return 1; }
MPI_Count num_brought(const AlltoallCall&, const NodeBarrier& node) noexcept {
  return node.plan().num_participants;
}

// The values travel without gaps. With MPI_IN_PLACE all of `out` is packed: where a part begins
// there, only the library knows.
template <class Call>
[[gnu::noinline]] int exchange_packed(const Running& running, const Call& call,
                                      const ExchangeVerdict& verdict) {
  const NodeBarrier& node = *running.state.node;
  const MPI_Count num_ranks = node.plan().num_participants;
  const TypedData out{call.out.address, call.out.count * num_ranks, call.out.type};
  const std::size_t out_bytes = verdict.out.bytes * node.plan().num_participants;
  std::byte brought[NodeCollectives::kMostBytes], got[NodeCollectives::kMostBytes];
  const std::byte* from = brought;
  int status = MPI_SUCCESS;
  if (call.is_in_place()) {
    status = pack(running.pmpi, running.comm, out, got, out_bytes);
    from = brought_in(call, got, verdict, node);
  } else {
    const MPI_Count num_parts = num_brought(call, node);
    status =
        pack(running.pmpi, running.comm, {call.in.address, call.in.count * num_parts, call.in.type},
             brought, verdict.in.bytes * static_cast<std::size_t>(num_parts));
  }
  if (status != MPI_SUCCESS) return status;
  exchange_bytes(running, call, from, got, verdict.out.bytes);
  return unpack(running.pmpi, running.comm, got, out_bytes, out);
}

template <std::derived_from<ExchangeCall> Call>
int run(const Running& running, const Call& call, const ExchangeVerdict& verdict) {
  if (!verdict.is_dense()) [[unlikely]]
    return exchange_packed(running, call, verdict);
  const void* const in = call.is_in_place()
                             ? brought_in(call, call.out.address, verdict, *running.state.node)
                             : call.in.address;
  exchange_bytes(running, call, in, call.out.address, verdict.out.bytes);
  return MPI_SUCCESS;
}

// `bytes` of one rank's part. Returns how many of the others came.
std::size_t move_bytes(const Running& running, const GatherCall& call, const void* own, void* all,
                       std::size_t bytes) {
  OverdueData overdue = overdue_of(running, call);
  return running.state.one_way.memory->gather(
      running.state.waiting, duties_of(overdue, &report_overdue_data),
      static_cast<std::uint32_t>(call.root), own, all, bytes);
}
std::size_t move_bytes(const Running& running, const ScatterCall& call, void* own, const void* all,
                       std::size_t bytes) {
  OverdueData overdue = overdue_of(running, call);
  if (!is_root(call.root, *running.state.node)) overdue.awaited = call.root;
  return running.state.one_way.memory->scatter(
      running.state.waiting, duties_of(overdue, &report_overdue_data),
      static_cast<std::uint32_t>(call.root), all, own, bytes);
}

// The values travel without gaps. With MPI_IN_PLACE all of the root's are packed, as in
// exchange_packed(). Part of what comes cannot be unpacked. `all` is empty in other ranks, whose
// count of it may be any number.
[[gnu::noinline]] int gather_packed(const Running& running, const GatherCall& call,
                                    std::size_t bytes) {
  const NodeBarrier& node = *running.state.node;
  const bool is_roots = is_root(call.root, node);
  const MPI_Count num_ranks = is_roots ? node.plan().num_participants : 0;
  const TypedData all{call.out.address, call.out.count * num_ranks, call.out.type};
  const std::size_t all_bytes = bytes * node.plan().num_participants;
  std::byte packed[NodeOneWay::kMostBytes];
  std::byte* const own = own_part(packed, bytes, node);
  const int status = call.is_in_place() ? pack(running.pmpi, running.comm, all, packed, all_bytes)
                                        : pack(running.pmpi, running.comm, call.in, own, bytes);
  if (status != MPI_SUCCESS) return status;
  const std::size_t came = move_bytes(running, call, own, packed, bytes);
  if (came != bytes) return raise_length_error(running, came, bytes);
  return is_roots ? unpack(running.pmpi, running.comm, packed, all_bytes, all) : MPI_SUCCESS;
}

int run(const Running& running, const GatherCall& call, const BytesVerdict& verdict) {
  const NodeBarrier& node = *running.state.node;
  const bool is_roots = is_root(call.root, node);
  const std::size_t bytes = verdict.bytes;
  if (!verdict.layout.is_dense || (is_roots && !find_layout(running.pmpi, call.out.type).is_dense))
      [[unlikely]]
    return gather_packed(running, call, bytes);
  const void* const own =
      call.is_in_place() ? own_part(call.out.address, bytes, node) : call.in.address;
  return check_came(running, move_bytes(running, call, own, call.out.address, bytes), bytes);
}

// The same the other way. The root's own part goes through its memory only if it is packed.
[[gnu::noinline]] int scatter_packed(const Running& running, const ScatterCall& call,
                                     std::size_t bytes) {
  const NodeBarrier& node = *running.state.node;
  const bool is_roots = is_root(call.root, node);
  std::byte packed[NodeOneWay::kMostBytes];
  std::byte* const own = own_part(packed, bytes, node);
  if (is_roots) {
    const MPI_Count num_ranks = node.plan().num_participants;
    const int status =
        pack(running.pmpi, running.comm, {call.in.address, call.in.count * num_ranks, call.in.type},
             packed, bytes * node.plan().num_participants);
    if (status != MPI_SUCCESS) return status;
  }
  const std::size_t came = move_bytes(running, call, own, packed, bytes);
  if (came != bytes) return raise_length_error(running, came, bytes);
  return call.is_in_place() ? MPI_SUCCESS
                            : unpack(running.pmpi, running.comm, own, bytes, call.out);
}

int run(const Running& running, const ScatterCall& call, const BytesVerdict& verdict) {
  const NodeBarrier& node = *running.state.node;
  const bool is_roots = is_root(call.root, node);
  const std::size_t bytes = verdict.bytes;
  if (!verdict.layout.is_dense || (is_roots && !find_layout(running.pmpi, call.in.type).is_dense))
      [[unlikely]]
    return scatter_packed(running, call, bytes);
  void* const own = call.is_in_place() ? nullptr : call.out.address;
  return check_came(running, move_bytes(running, call, own, call.in.address, bytes), bytes);
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
  if (!fits(call, verdict, *state.node) || !suits(pmpi, call, verdict, *state.node)) [[unlikely]]
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
template <class Call, class Verdict>
CommState* find_ready_state(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm,
                            const Call& call, const Verdict& verdict, int& status) {
  CommState* const state =
      find_state(process, pmpi, comm, BeforeSetUp::kMayCount, status, name_of(Call::kCall));
  if (status != MPI_SUCCESS) return nullptr;
  if (state != nullptr && state->route == Route::kBeforeSetUp) {
    status = pass_on_before_set_up(process, pmpi, comm, *state, Call::kCall,
                                   [&] { return call.call(pmpi, comm); });
    return nullptr;
  }
  if (state != nullptr && part_for(call, *state).route == DataRoute::kUndecided &&
      fits(call, verdict, *state->node)) {
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
  CommState* const state = find_ready_state(process, pmpi, comm, call, verdict, status);
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
int call_collective(const Pmpi& pmpi, MPI_Comm comm, const AllgatherCall& call) {
  return serve_or_pass_on(pmpi, comm, call);
}
int call_collective(const Pmpi& pmpi, MPI_Comm comm, const AlltoallCall& call) {
  return serve_or_pass_on(pmpi, comm, call);
}
int call_collective(const Pmpi& pmpi, MPI_Comm comm, const GatherCall& call) {
  return serve_or_pass_on(pmpi, comm, call);
}
int call_collective(const Pmpi& pmpi, MPI_Comm comm, const ScatterCall& call) {
  return serve_or_pass_on(pmpi, comm, call);
}
int call_collective(const Pmpi& pmpi, MPI_Comm comm, const ReduceScatterBlockCall& call) {
  return serve_or_pass_on(pmpi, comm, call);
}

void forget_last_collective() noexcept { last_of_collectives.state = nullptr; }

}  // namespace hierbar::mpi
