// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C interface of the collective calls with data: MPI_Allgather, MPI_Allreduce, MPI_Alltoall,
// MPI_Bcast, MPI_Gather, MPI_Reduce, MPI_Reduce_scatter_block and MPI_Scatter, each with counts of
// 32 bits and, where the header has them, of 64.

#include <mpi.h>

#include "mpi/entry/collectives.hpp"
#include "mpi/entry/entry_points.hpp"
#include "mpi/library/pmpi.hpp"

using hierbar::mpi::AllgatherCall;
using hierbar::mpi::AllreduceCall;
using hierbar::mpi::AlltoallCall;
using hierbar::mpi::BcastCall;
using hierbar::mpi::find_pmpi;
using hierbar::mpi::GatherCall;
using hierbar::mpi::handle_in;
using hierbar::mpi::Pmpi;
using hierbar::mpi::RawHandle;
using hierbar::mpi::ReduceCall;
using hierbar::mpi::ReduceScatterBlockCall;
using hierbar::mpi::ScatterCall;

namespace {

template <class Call>
const hierbar::mpi::CallTool& tool_of(const Pmpi& pmpi, const Call& call) {
  return pmpi.*(call.is_large ? Call::kLargeTool : Call::kTool);
}

// A program's call.
template <class Call>
int call_of_program(const Pmpi& pmpi, const Call& call, RawHandle comm) {
  const auto handle = handle_in<MPI_Comm>(comm);
  if (!hierbar::mpi::serves_collectives() || tool_of(pmpi, call).is_behind)
    return call.call(pmpi.next, handle);
  return hierbar::mpi::call_collective(pmpi, handle, call);
}

// A call of the profiling function: the library's own, or what a tool calls in the end.
template <class Call>
int call_of_tool(const Pmpi& pmpi, const Call& call, RawHandle comm, const void* caller) {
  const auto handle = handle_in<MPI_Comm>(comm);
  if (!tool_of(pmpi, call).exists() || !hierbar::mpi::serves_collectives() ||
      pmpi.extent.has(caller))
    return call.call(pmpi, handle);
  return hierbar::mpi::call_collective(pmpi, handle, call);
}

}  // namespace

#define HIERBAR_UNPACK(...) __VA_ARGS__

// Both functions of a name. `parameters` and `arguments` are lists in parentheses, and `call` is
// the call in them.
#define HIERBAR_COLLECTIVE(name, parameters, arguments, call)                                 \
  HIERBAR_ENTRY(int, MPI_##name, HIERBAR_UNPACK parameters) {                                 \
    const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));                          \
    if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_##name, PMPI_##name, HIERBAR_UNPACK arguments);  \
    if (pmpi->name == nullptr) return MPI_ERR_OTHER;                                          \
    return call_of_program(*pmpi, HIERBAR_UNPACK call, comm);                                 \
  }                                                                                           \
  HIERBAR_ENTRY(int, PMPI_##name, HIERBAR_UNPACK parameters) {                                \
    const void* const caller = __builtin_return_address(0);                                   \
    const Pmpi* const pmpi = find_pmpi(caller);                                               \
    if (pmpi == nullptr) HIERBAR_PASS_ON(PMPI_##name, PMPI_##name, HIERBAR_UNPACK arguments); \
    if (pmpi->name == nullptr) return MPI_ERR_OTHER;                                          \
    return call_of_tool(*pmpi, HIERBAR_UNPACK call, comm, caller);                            \
  }

#define HIERBAR_FOLD(name, Call, Count, is_large)                                             \
  HIERBAR_COLLECTIVE(                                                                         \
      name,                                                                                   \
      (const void* in, void* out, Count count, RawHandle type, RawHandle op, RawHandle comm), \
      (in, out, count, type, op, comm),                                                       \
      (Call{{in, out, count, handle_in<MPI_Datatype>(type), handle_in<MPI_Op>(op), is_large}}))

#define HIERBAR_BCAST(name, Count, is_large)                                                    \
  HIERBAR_COLLECTIVE(name, (void* data, Count count, RawHandle type, int root, RawHandle comm), \
                     (data, count, type, root, comm),                                           \
                     (BcastCall{data, count, handle_in<MPI_Datatype>(type), root, is_large}))

#define HIERBAR_REDUCE(name, Count, is_large)                                               \
  HIERBAR_COLLECTIVE(name,                                                                  \
                     (const void* in, void* out, Count count, RawHandle type, RawHandle op, \
                      int root, RawHandle comm),                                            \
                     (in, out, count, type, op, root, comm),                                \
                     (ReduceCall{in, out, count, handle_in<MPI_Datatype>(type),             \
                                 handle_in<MPI_Op>(op), root, is_large}))

#define HIERBAR_EXCHANGE(name, Call, Count, is_large)                                            \
  HIERBAR_COLLECTIVE(name,                                                                       \
                     (const void* in, Count in_count, RawHandle in_type, void* out,              \
                      Count out_count, RawHandle out_type, RawHandle comm),                      \
                     (in, in_count, in_type, out, out_count, out_type, comm),                    \
                     (Call{{{const_cast<void*>(in), in_count, handle_in<MPI_Datatype>(in_type)}, \
                            {out, out_count, handle_in<MPI_Datatype>(out_type)},                 \
                            is_large}}))

#define HIERBAR_ROOTED(name, Call, Count, is_large)                                              \
  HIERBAR_COLLECTIVE(name,                                                                       \
                     (const void* in, Count in_count, RawHandle in_type, void* out,              \
                      Count out_count, RawHandle out_type, int root, RawHandle comm),            \
                     (in, in_count, in_type, out, out_count, out_type, root, comm),              \
                     (Call{{{const_cast<void*>(in), in_count, handle_in<MPI_Datatype>(in_type)}, \
                            {out, out_count, handle_in<MPI_Datatype>(out_type)},                 \
                            root,                                                                \
                            is_large}}))

HIERBAR_EXCHANGE(Allgather, AllgatherCall, int, false)
HIERBAR_EXCHANGE(Alltoall, AlltoallCall, int, false)
HIERBAR_FOLD(Allreduce, AllreduceCall, int, false)
HIERBAR_BCAST(Bcast, int, false)
HIERBAR_ROOTED(Gather, GatherCall, int, false)
HIERBAR_REDUCE(Reduce, int, false)
HIERBAR_FOLD(Reduce_scatter_block, ReduceScatterBlockCall, int, false)
HIERBAR_ROOTED(Scatter, ScatterCall, int, false)

#ifdef HIERBAR_HEADER_HAS_LARGE_COUNTS
HIERBAR_EXCHANGE(Allgather_c, AllgatherCall, MPI_Count, true)
HIERBAR_EXCHANGE(Alltoall_c, AlltoallCall, MPI_Count, true)
HIERBAR_FOLD(Allreduce_c, AllreduceCall, MPI_Count, true)
HIERBAR_BCAST(Bcast_c, MPI_Count, true)
HIERBAR_ROOTED(Gather_c, GatherCall, MPI_Count, true)
HIERBAR_REDUCE(Reduce_c, MPI_Count, true)
HIERBAR_FOLD(Reduce_scatter_block_c, ReduceScatterBlockCall, MPI_Count, true)
HIERBAR_ROOTED(Scatter_c, ScatterCall, MPI_Count, true)
#endif
