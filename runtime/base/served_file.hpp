// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "base/trusted_variable.hpp"

namespace hierbar {

// HIERBAR_SERVED_FILE names a file to which each process adds, at its end, how many barriers this
// project served in it. `hierbar run` makes the file, sets the variable and reads the lines. A host
// without libstdc++ can use this header.
inline constexpr const char* kServedFileVariable = "HIERBAR_SERVED_FILE";

// Its name; null where it is not asked for.
inline const char* served_file() {
  const char* path = trusted_variable(kServedFileVariable);
  return path == nullptr || *path == '\0' ? nullptr : path;
}

// Adds a line, which ends with '\n'. The file is not created: on another node it does not exist,
// and nothing is added there. Lines of processes that end at the same time do not mix, because each
// is one write to a file that is open for appending.
inline void add_line_to_served_file(const char* line, std::size_t size) {
  const char* path = served_file();
  if (path == nullptr) return;
  const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return;
  // If it fails, the reader counts fewer barriers. Nobody could be told here.
  if (write(file, line, size) < 0) static_cast<void>(0);
  close(file);
}

// More of a process that has added its line for MPI: barriers that came later.
inline constexpr const char* kMoreOfMpi = "mpi-more";

// The collective calls with data that can be served, MPI_Allreduce and so on, and the kinds of
// their lines. A process that has such calls adds the lines behind that for MPI. There are none
// where they are not served.
struct DataCallWords {
  const char* name;  // of one call, for users; those of several end with an s
  const char* kind;
};
inline constexpr DataCallWords kDataCallsOfMpi[] = {
    {"allreduce", "mpi-allreduces"}, {"bcast", "mpi-bcasts"},
    {"reduce", "mpi-reduces"},       {"allgather", "mpi-allgathers"},
    {"alltoall", "mpi-alltoalls"},   {"gather", "mpi-gathers"},
    {"scatter", "mpi-scatters"},     {"reduce-scatter", "mpi-reduce-scatters"},
};

// "openmp 186 0" or "mpi 20 3": the barriers that were served and those that went to the library's
// own.
inline void add_to_served_file(const char* kind, std::uint64_t num_served,
                               std::uint64_t num_others) {
  char line[64];
  const int size = std::snprintf(line, sizeof line, "%s %llu %llu\n", kind,
                                 static_cast<unsigned long long>(num_served),
                                 static_cast<unsigned long long>(num_others));
  if (size > 0) add_line_to_served_file(line, static_cast<std::size_t>(size));
}

// "other-runtime /opt/lib/libgomp.so.1": the process has an OpenMP runtime beside this project's.
inline constexpr const char* kOtherRuntimeLine = "other-runtime";

}  // namespace hierbar
