// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mpi/barrier/comm_state.hpp"
#include "mpi/barrier/process_state.hpp"
#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

// MPI_Barrier, for all entry points. Whoever is called meanwhile, as an error handler of the
// program's, may leave it by a jump or an exception, and may call it again.
int barrier(const Pmpi& pmpi, MPI_Comm comm);

// The same, recorded as HIERBAR_REPORT says. `caller` is the place in the program from which the
// barrier is called.
int recorded_barrier(const Pmpi& pmpi, MPI_Comm comm, const void* caller);

// The one of the two that HIERBAR_REPORT asks for.
int barrier_as_asked(const Pmpi& pmpi, MPI_Comm comm, const void* caller);

// For a call that goes through a tool behind the shim: the place in the program from which the
// thread's next barrier is recorded to come.
const void*& program_place() noexcept;
// That place, once; `caller` where none is kept.
const void* take_program_place(const void* caller) noexcept;

// Calls what leads to the tool, and returns what that returns.
template <class Call>
auto through_tool(const void* caller, Call call) {
  program_place() = caller;
  return call();
}

// What a thread remembers of its last barrier or its last call with data: the communicator and its
// state, so that the library need not be asked again (docs/design/mpi-calls.md#d0031). Both are
// valid while num_removals is the current number. MPI reuses a handle only after a free, and a free
// raises the number before it. The thread that uses the handle again sees the new number: the
// program itself has ordered this use after the free.
//
// The number is read before the state is found. So a removal in between makes the entry invalid.
struct LastComm {
  MPI_Comm comm{};
  CommState* state = nullptr;
  std::uint64_t num_removals = 0;

  bool is(MPI_Comm other, const States& states) const noexcept {
    return state != nullptr && comm == other && num_removals == states.num_removals();
  }
};

// After a barrier or a call with data of a process that has a buffer for MPI_Bsend. Open MPI frees
// the space of a message when it makes progress and finds that the message has arrived. MPI_Bsend
// itself does not look, and fails where the buffer is full. The library's own collective calls make
// progress, so ours must do that too (docs/design/mpi-calls.md#d0159).
[[gnu::noinline]] void free_send_buffer() noexcept;

// The state of a communicator, which is set up if it was not. With `before` kMayCount, which is for
// collective calls, it may be one that only counts them (barrier/before_set_up.hpp). `call` is the
// kind of call, for users. Null: the library must serve the call itself, because MPI is not in use.
// If `status` is an error then, the handle is no communicator, and the library has called an error
// handler already.
enum class BeforeSetUp { kMayCount, kMustSetUp };
CommState* find_state(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, BeforeSetUp before,
                      int& status, const char* call = "barrier");

}  // namespace hierbar::mpi
