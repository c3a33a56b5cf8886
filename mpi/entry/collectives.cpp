// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/entry/collectives.hpp"

#include <concepts>

#include "mpi/barrier/before_set_up.hpp"
#include "mpi/barrier/cross_with.hpp"
#include "mpi/barrier/make_collectives.hpp"
#include "mpi/barrier/process_state.hpp"
#include "mpi/entry/mpi_barrier.hpp"
#include "mpi/library/family.hpp"
#include "mpi/library/progress.hpp"
#include "mpi/reduction/packing.hpp"
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
BytesVerdict verdict_on_bytes(MPI_Count count, const TypeLayout& layout, std::size_t most_bytes) {
  return is_small(count, layout.element_bytes, most_bytes)
             ? BytesVerdict{layout, static_cast<std::size_t>(count) * layout.element_bytes}
             : BytesVerdict{};
}
BytesVerdict verdict_on(const Pmpi& pmpi, const BcastCall& call) {
  return verdict_on_bytes(call.count, find_layout(pmpi, call.type), NodeOneWay::kMostBytes);
}

// The bytes of one rank's part, which MPI makes equal for what is brought and for what comes. So a
// rank whose own two descriptions differ is wrong. A part is at most half of the limit, because
// there are two ranks at least. Whether all parts are small enough together is another question
// (fits()).
struct ExchangeVerdict {
  BytesVerdict in;
  BytesVerdict out;
  explicit operator bool() const noexcept { return in && out; }
  bool is_dense() const noexcept { return in.layout.is_dense && out.layout.is_dense; }
};
ExchangeVerdict verdict_on(const Pmpi& pmpi, const ExchangeCall& call) {
  constexpr std::size_t kMost = NodeCollectives::kMostBytes / 2;
  const auto of = [&](const TypedData& data) {
    return verdict_on_bytes(data.count, find_layout(pmpi, data.type), kMost);
  };
  const BytesVerdict out = of(call.out);
  return {call.is_in_place() ? out : of(call.in), out};
}

// By this rank's own arguments. If not, they are wrong, and the others wait as they would without
// the shim.
bool has_good_buffers(const AllreduceCall& call, FoldVerdict) noexcept {
  const void* const in = call.in;
  return in != nullptr && call.out != nullptr && call.out != MPI_IN_PLACE &&
         (in != call.out || (call.count == 1 && kTakesOneElementTwice));
}
// Of a datatype with addresses in it MPI_BOTTOM is the buffer, which is null.
bool is_buffer(const void* address, const BytesVerdict& verdict) noexcept {
  return address != nullptr || !verdict.layout.is_dense;
}
bool has_good_buffers(const BcastCall& call, const BytesVerdict& verdict) noexcept {
  return is_buffer(call.data, verdict);
}
bool has_good_buffers(const ExchangeCall& call, const ExchangeVerdict& verdict) noexcept {
  return verdict.in.bytes == verdict.out.bytes && call.out.address != MPI_IN_PLACE &&
         is_buffer(call.in.address, verdict.in) && is_buffer(call.out.address, verdict.out);
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
// Where this rank's part of what all bring is, if it lies as it travels.
std::byte* own_part(void* all, const ExchangeVerdict& verdict, const NodeBarrier& node) noexcept {
  return static_cast<std::byte*>(all) + node.me() * verdict.out.bytes;
}
bool suits(const AllreduceCall&, FoldVerdict, const NodeBarrier&) noexcept { return true; }
bool suits(const BcastCall& call, const BytesVerdict&, const NodeBarrier& node) noexcept {
  return is_rank(call.root, node);
}
bool suits(const ReduceCall& call, FoldVerdict, const NodeBarrier& node) noexcept {
  if (!is_rank(call.root, node)) return false;
  if (!is_root(call.root, node)) return call.in != MPI_IN_PLACE;
  return call.out != nullptr && call.out != MPI_IN_PLACE && call.in != call.out;
}

// What is brought must not lie where the call puts it, unless it says so. It takes the rank's
// number to tell: only in rank 0 the own part begins where all parts do.
bool suits(const AllgatherCall& call, const ExchangeVerdict& verdict,
           const NodeBarrier& node) noexcept {
  return kTakesOwnPart || call.in.address != own_part(call.out.address, verdict, node) ||
         !verdict.is_dense();
}
bool suits(const AlltoallCall& call, const ExchangeVerdict& verdict, const NodeBarrier&) noexcept {
  return call.in.address != call.out.address || !verdict.is_dense();
}

// Whether the call is small enough on such a communicator, which all of its ranks find alike.
template <class Call, class Verdict>
bool fits(const Call&, const Verdict&, const NodeBarrier&) noexcept {
  return true;
}
template <std::derived_from<ExchangeCall> Call>
bool fits(const Call&, const ExchangeVerdict& verdict, const NodeBarrier& node) noexcept {
  return verdict.out.bytes * node.plan().num_participants <= NodeCollectives::kMostBytes;
}

// Which part of the engine serves the call.
DataPart<NodeCollectives>& part_for(const AllreduceCall&, CommState& state) noexcept {
  return state.collectives;
}
DataPart<NodeCollectives>& part_for(const ExchangeCall&, CommState& state) noexcept {
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

// The root's bytes are not this rank's. The root, which waits for nobody, does not know of it.
[[gnu::cold, gnu::noinline]] int raise_length_error(const Running& running,
                                                    std::size_t bytes_of_root, std::size_t bytes) {
  const int status = bytes_of_root > bytes ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
  running.pmpi.Comm_call_errhandler(running.comm, status);
  return status;
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
  const std::size_t bytes_of_root = bcast_bytes(running, call, call.data, verdict.bytes);
  if (bytes_of_root == verdict.bytes || (kTakesFewerBytes && bytes_of_root < verdict.bytes))
      [[likely]]
    return MPI_SUCCESS;
  return raise_length_error(running, bytes_of_root, verdict.bytes);
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
  return own_part(out, verdict, node);
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
  if (!fits(call, verdict, *state.node) || !suits(call, verdict, *state.node)) [[unlikely]]
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

void forget_last_collective() noexcept { last_of_collectives.state = nullptr; }

}  // namespace hierbar::mpi
