// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

// Makes the MPI library progress: by its own function if it exports one, otherwise by asking for
// the status of a receive to which nothing is ever sent (docs/design/mpi-calls.md#d0028).

// Chooses between the two. Local: a communicator is made from the calling process's place in `comm`
// alone. Thread-safe. Must be called where this process is in no other collective call. Returns
// false if the library refuses, for instance because it has no memory left.
bool prepare_progress(const Pmpi& pmpi, MPI_Comm comm);
// Frees what prepare_progress() has made. After that, prepare_progress() may be called again.
void end_progress(const Pmpi& pmpi);
// A rank that waits makes progress. The one that comes last waits for nobody. It may come last in
// every barrier, while a message of its own to a third rank is pending. So each rank makes progress
// in every so many barriers, as MPI promises of its blocking calls. With 16 a barrier costs on
// average a sixteenth of a call.
inline constexpr std::uint64_t kBarriersPerProgress = 16;
// Does nothing unless prepare_progress() has returned true.
void make_progress() noexcept;

// The process has made a window of its memory, by which peers may access it at any time. Many an
// access needs the progress of this process. It stays so when the window is freed: then the process
// waits as the library does, which never sleeps.
void window_comes() noexcept;
// Relaxed: who waits before it sees the window sees it in a later round.
bool has_windows() noexcept;

// For reports: "PMPI_Request_get_status" or the library's function; "none" before
// prepare_progress().
const char* progress_name();

}  // namespace hierbar::mpi
