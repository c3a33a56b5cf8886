// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include "mpi/barrier/comm_state.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/reduction/packing.hpp"

namespace hierbar::mpi {

// A collective call with data: what a program gives it, beside the communicator. `Mpi` is Pmpi or
// NextMpi, whose function is called.

#ifdef HIERBAR_HEADER_HAS_LARGE_COUNTS
#define HIERBAR_CALL_LARGE(...) \
  if (is_large) return __VA_ARGS__
#else
#define HIERBAR_CALL_LARGE(...) static_cast<void>(is_large)
#endif

// A call that combines what all ranks bring.
struct FoldCall {
  const void* in;  // may be MPI_IN_PLACE
  void* out;
  MPI_Count count;  // of what a rank gets
  MPI_Datatype type;
  MPI_Op op;
  bool is_large;  // MPI_Allreduce_c, say

  const void* brought() const noexcept { return in == MPI_IN_PLACE ? out : in; }
};

#define HIERBAR_FOLD_CALL(Kind, Name, lower)                                    \
  struct Kind##Call : FoldCall {                                                \
    static constexpr DataCall kCall = DataCall::k##Kind;                        \
    static constexpr CallTool Pmpi::* kTool = &Pmpi::lower##_tool;              \
    static constexpr CallTool Pmpi::* kLargeTool = &Pmpi::large_##lower##_tool; \
                                                                                \
    template <class Mpi>                                                        \
    int call(const Mpi& mpi, MPI_Comm comm) const {                             \
      HIERBAR_CALL_LARGE(mpi.Name##_c(in, out, count, type, op, comm));         \
      return mpi.Name(in, out, static_cast<int>(count), type, op, comm);        \
    }                                                                           \
  }
HIERBAR_FOLD_CALL(Allreduce, Allreduce, allreduce);
// A rank brings `count` elements for each one, with MPI_IN_PLACE in `out`.
HIERBAR_FOLD_CALL(ReduceScatterBlock, Reduce_scatter_block, reduce_scatter_block);
#undef HIERBAR_FOLD_CALL

struct BcastCall {
  static constexpr DataCall kCall = DataCall::kBcast;
  static constexpr CallTool Pmpi::* kTool = &Pmpi::bcast_tool;
  static constexpr CallTool Pmpi::* kLargeTool = &Pmpi::large_bcast_tool;

  void* data;
  MPI_Count count;
  MPI_Datatype type;
  int root;
  bool is_large;

  template <class Mpi>
  int call(const Mpi& mpi, MPI_Comm comm) const {
    HIERBAR_CALL_LARGE(mpi.Bcast_c(data, count, type, root, comm));
    return mpi.Bcast(data, static_cast<int>(count), type, root, comm);
  }
};

struct ReduceCall {
  static constexpr DataCall kCall = DataCall::kReduce;
  static constexpr CallTool Pmpi::* kTool = &Pmpi::reduce_tool;
  static constexpr CallTool Pmpi::* kLargeTool = &Pmpi::large_reduce_tool;

  const void* in;  // may be MPI_IN_PLACE in the root
  void* out;       // means something in the root only
  MPI_Count count;
  MPI_Datatype type;
  MPI_Op op;
  int root;
  bool is_large;

  template <class Mpi>
  int call(const Mpi& mpi, MPI_Comm comm) const {
    HIERBAR_CALL_LARGE(mpi.Reduce_c(in, out, count, type, op, root, comm));
    return mpi.Reduce(in, out, static_cast<int>(count), type, op, root, comm);
  }
};

// A call in which each rank gets what all ranks bring, or the parts of it that are for this rank.
// Count and datatype are those of one rank's part.
struct ExchangeCall {
  TypedData in;  // at MPI_IN_PLACE: what the rank brings is in `out`, and the rest means nothing
  TypedData out;
  bool is_large;

  bool is_in_place() const noexcept { return in.address == MPI_IN_PLACE; }
};

struct AllgatherCall : ExchangeCall {
  static constexpr DataCall kCall = DataCall::kAllgather;
  static constexpr CallTool Pmpi::* kTool = &Pmpi::allgather_tool;
  static constexpr CallTool Pmpi::* kLargeTool = &Pmpi::large_allgather_tool;

  template <class Mpi>
  int call(const Mpi& mpi, MPI_Comm comm) const {
    HIERBAR_CALL_LARGE(
        mpi.Allgather_c(in.address, in.count, in.type, out.address, out.count, out.type, comm));
    return mpi.Allgather(in.address, static_cast<int>(in.count), in.type, out.address,
                         static_cast<int>(out.count), out.type, comm);
  }
};

struct AlltoallCall : ExchangeCall {
  static constexpr DataCall kCall = DataCall::kAlltoall;
  static constexpr CallTool Pmpi::* kTool = &Pmpi::alltoall_tool;
  static constexpr CallTool Pmpi::* kLargeTool = &Pmpi::large_alltoall_tool;

  template <class Mpi>
  int call(const Mpi& mpi, MPI_Comm comm) const {
    HIERBAR_CALL_LARGE(
        mpi.Alltoall_c(in.address, in.count, in.type, out.address, out.count, out.type, comm));
    return mpi.Alltoall(in.address, static_cast<int>(in.count), in.type, out.address,
                        static_cast<int>(out.count), out.type, comm);
  }
};

// A call that moves a part of each rank's to the root, or from there. Count and datatype are those
// of one part.
struct RootedCall {
  TypedData in;
  TypedData out;
  int root;
  bool is_large;
};

// `out` means something in the root only, where `in` may be at MPI_IN_PLACE.
struct GatherCall : RootedCall {
  static constexpr DataCall kCall = DataCall::kGather;
  static constexpr CallTool Pmpi::* kTool = &Pmpi::gather_tool;
  static constexpr CallTool Pmpi::* kLargeTool = &Pmpi::large_gather_tool;

  const TypedData& own() const noexcept { return in; }
  const TypedData& all() const noexcept { return out; }
  bool is_in_place() const noexcept { return in.address == MPI_IN_PLACE; }

  template <class Mpi>
  int call(const Mpi& mpi, MPI_Comm comm) const {
    HIERBAR_CALL_LARGE(
        mpi.Gather_c(in.address, in.count, in.type, out.address, out.count, out.type, root, comm));
    return mpi.Gather(in.address, static_cast<int>(in.count), in.type, out.address,
                      static_cast<int>(out.count), out.type, root, comm);
  }
};

// `in` means something in the root only, where `out` may be at MPI_IN_PLACE: its own part stays in
// `in`.
struct ScatterCall : RootedCall {
  static constexpr DataCall kCall = DataCall::kScatter;
  static constexpr CallTool Pmpi::* kTool = &Pmpi::scatter_tool;
  static constexpr CallTool Pmpi::* kLargeTool = &Pmpi::large_scatter_tool;

  const TypedData& own() const noexcept { return out; }
  const TypedData& all() const noexcept { return in; }
  bool is_in_place() const noexcept { return out.address == MPI_IN_PLACE; }

  template <class Mpi>
  int call(const Mpi& mpi, MPI_Comm comm) const {
    HIERBAR_CALL_LARGE(
        mpi.Scatter_c(in.address, in.count, in.type, out.address, out.count, out.type, root, comm));
    return mpi.Scatter(in.address, static_cast<int>(in.count), in.type, out.address,
                       static_cast<int>(out.count), out.type, root, comm);
  }
};

#undef HIERBAR_CALL_LARGE

// Whether such calls are served at all; if not, an entry point passes its call on.
bool serves_collectives() noexcept;

// The call, for all entry points. The engine serves it where all ranks find out alike that it can:
// by what MPI makes equal in all of them, and by the communicator, of which they have agreed on it.
// Which arguments these are is in docs/design/mpi-calls.md#d0197, #d0211, #d0171 and #d0221. Where
// one is wrong in this rank, the library raises the error. May be left by a jump or an exception of
// the program's error handler.
int call_collective(const Pmpi& pmpi, MPI_Comm comm, const AllreduceCall& call);
int call_collective(const Pmpi& pmpi, MPI_Comm comm, const BcastCall& call);
int call_collective(const Pmpi& pmpi, MPI_Comm comm, const ReduceCall& call);
int call_collective(const Pmpi& pmpi, MPI_Comm comm, const AllgatherCall& call);
int call_collective(const Pmpi& pmpi, MPI_Comm comm, const AlltoallCall& call);
int call_collective(const Pmpi& pmpi, MPI_Comm comm, const GatherCall& call);
int call_collective(const Pmpi& pmpi, MPI_Comm comm, const ScatterCall& call);
int call_collective(const Pmpi& pmpi, MPI_Comm comm, const ReduceScatterBlockCall& call);

// The calling thread's next such call looks for its communicator's state again.
void forget_last_collective() noexcept;

}  // namespace hierbar::mpi
