// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The PMPI functions that the shim looks for (mpi/library/pmpi.hpp), on the stub; those of
// attributes and requests are in stub_mpi.cpp. Each of them fails where the process's script says
// so.
// No MPIX_Stream_progress: the other way of making progress has more to it.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "stub_mpi.hpp"

using namespace hierbar::test;

namespace {

int free_comm(MPI_Comm* comm) {
  if (StubProcess::is_thread_seated(*comm)) return free_duplicate(comm);
  here().drop(*comm);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

// The tests and the shim have bytes, and integers of 64 bits.
std::size_t bytes_of(MPI_Datatype type) { return type == MPI_BYTE ? 1 : sizeof(std::uint64_t); }

// The other ranks of the root's group, between two groups.
bool takes_no_part(int root) { return root == MPI_PROC_NULL; }

}  // namespace

extern "C" {

// ---- collective ----

int PMPI_Barrier(MPI_Comm comm) {
  return here().call("Barrier", [&] {
    ++here().num_barriers;
    const StubProcess::Seat* seat = here().find(comm);
    if (seat == nullptr) return MPI_ERR_COMM;
    // Between groups the stub lets everybody go: nobody is at the other end.
    if (!seat->comm->between_groups) seat->comm->exchange(seat->rank, {});
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(here().barrier_ms.load());
    while (std::chrono::steady_clock::now() < end) sched_yield();
    return MPI_SUCCESS;
  });
}

int PMPI_Allgather(const void* send, int count, MPI_Datatype type, void* receive, int, MPI_Datatype,
                   MPI_Comm comm) {
  return here().call("Allgather", [&] {
    const StubProcess::Seat* seat = here().find(comm);
    const auto parts = seat->comm->exchange(
        seat->rank, part_of(send, static_cast<std::size_t>(count) * bytes_of(type)));
    auto* to = static_cast<std::byte*>(receive);
    for (const StubComm::Part& part : *parts) {
      to = std::copy(part.bytes.begin(), part.bytes.end(), to);
    }
    return MPI_SUCCESS;
  });
}

int PMPI_Alltoall(const void* send, int count, MPI_Datatype type, void* receive, int, MPI_Datatype,
                  MPI_Comm comm) {
  return here().call("Alltoall", [&] {
    const StubProcess::Seat* seat = here().find(comm);
    const std::size_t bytes = static_cast<std::size_t>(count) * bytes_of(type);
    const auto parts = seat->comm->exchange(
        seat->rank, part_of(send, bytes * static_cast<std::size_t>(seat->comm->size)));
    auto* to = static_cast<std::byte*>(receive);
    for (const StubComm::Part& part : *parts) {
      to = std::copy_n(part.bytes.begin() + static_cast<std::ptrdiff_t>(bytes) * seat->rank, bytes,
                       to);
    }
    return MPI_SUCCESS;
  });
}

int PMPI_Gather(const void* send, int count, MPI_Datatype type, void* receive, int, MPI_Datatype,
                int root, MPI_Comm comm) {
  return here().call("Gather", [&] {
    if (takes_no_part(root)) return MPI_SUCCESS;
    const StubProcess::Seat* seat = here().find(comm);
    const auto parts = seat->comm->collect(
        seat->rank, root, part_of(send, static_cast<std::size_t>(count) * bytes_of(type)));
    if (parts == nullptr) return MPI_SUCCESS;
    auto* to = static_cast<std::byte*>(receive);
    for (const StubComm::Part& part : *parts) {
      to = std::copy(part.bytes.begin(), part.bytes.end(), to);
    }
    return MPI_SUCCESS;
  });
}

int PMPI_Scatter(const void* send, int, MPI_Datatype, void* receive, int count, MPI_Datatype type,
                 int root, MPI_Comm comm) {
  return here().call("Scatter", [&] {
    if (takes_no_part(root)) return MPI_SUCCESS;
    const StubProcess::Seat* seat = here().find(comm);
    const std::size_t bytes = static_cast<std::size_t>(count) * bytes_of(type);
    const std::size_t brought =
        seat->rank == root ? bytes * static_cast<std::size_t>(seat->comm->size) : 0;
    const auto parts = seat->comm->exchange(seat->rank, part_of(send, brought));
    std::memcpy(receive,
                &(*parts)[static_cast<std::size_t>(root)]
                     .bytes[bytes * static_cast<std::size_t>(seat->rank)],
                bytes);
    return MPI_SUCCESS;
  });
}

// Sums of words.
int PMPI_Reduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op,
                              MPI_Comm comm) {
  return here().call("Reduce_scatter_block", [&] {
    const StubProcess::Seat* seat = here().find(comm);
    const std::size_t bytes = static_cast<std::size_t>(count) * bytes_of(type);
    const auto parts = seat->comm->exchange(
        seat->rank, part_of(send, bytes * static_cast<std::size_t>(seat->comm->size)));
    auto* sums = static_cast<std::uint64_t*>(receive);
    std::fill_n(sums, count, 0);
    for (const StubComm::Part& part : *parts) {
      for (int i = 0; i < count; ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word,
                    &part.bytes[bytes * static_cast<std::size_t>(seat->rank) +
                                static_cast<std::size_t>(i) * sizeof(word)],
                    sizeof(word));
        sums[i] += word;
      }
    }
    return MPI_SUCCESS;
  });
}

int PMPI_Gatherv(const void* send, int count, MPI_Datatype, void* receive, const int*,
                 const int* places, MPI_Datatype, int root, MPI_Comm comm) {
  return here().call("Gatherv", [&] {
    const StubProcess::Seat* seat = here().find(comm);
    const auto parts =
        seat->comm->collect(seat->rank, root, part_of(send, static_cast<std::size_t>(count)));
    if (parts == nullptr) return MPI_SUCCESS;
    for (const StubComm::Part& part : *parts) {
      std::copy(part.bytes.begin(), part.bytes.end(), static_cast<std::byte*>(receive) + *places++);
    }
    return MPI_SUCCESS;
  });
}

// There is one world.
int PMPI_Group_translate_ranks(MPI_Group, int count, const int* ranks, MPI_Group, int* translated) {
  return here().call("Group_translate_ranks", [&] {
    std::copy_n(ranks, count, translated);
    return MPI_SUCCESS;
  });
}

#ifdef HIERBAR_MPI_ABI_H
int PMPI_Abi_get_version(int* major, int* minor) {
  *major = MPI_ABI_VERSION;
  *minor = MPI_ABI_SUBVERSION;
  return MPI_SUCCESS;
}
int PMPI_Abi_get_fortran_info(MPI_Info* info) {
  *info = MPI_INFO_NULL;
  return MPI_SUCCESS;
}
MPI_Comm PMPI_Comm_fromint(int comm) { return handle_in<MPI_Comm>(static_cast<RawHandle>(comm)); }
#else
// What programs of MPICH's ABI can refer to, and what shows that a library has this ABI.
int MPIR_Dup_fn(MPI_Comm, int, void*, void*, void*, int*) { return MPI_SUCCESS; }
#endif

// The stub's errors are their own classes.
int PMPI_Error_class(int status, int* error_class) {
  *error_class = status;
  return MPI_SUCCESS;
}

// No session says what its thread level is.
int PMPI_Info_get(MPI_Info, const char*, int, char*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}
int PMPI_Info_free(MPI_Info*) { return MPI_SUCCESS; }

int PMPI_Abort(MPI_Comm, int) { std::abort(); }

int PMPI_Buffer_attach(void*, int) { return MPI_SUCCESS; }

// The smallest, of long longs.
int PMPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype, MPI_Op,
                   MPI_Comm comm) {
  return here().call("Allreduce", [&] {
    const StubProcess::Seat* seat = here().find(comm);
    const auto num_words = static_cast<std::size_t>(count);
    const auto parts = seat->comm->exchange(
        seat->rank, part_of(send == MPI_IN_PLACE ? receive : send, num_words * sizeof(long long)));
    std::vector<long long> smallest(num_words, std::numeric_limits<long long>::max());
    for (const StubComm::Part& part : *parts) {
      for (std::size_t i = 0; i < num_words; ++i)
        smallest[i] = std::min(smallest[i], value_in<long long>(part, i));
    }
    std::memcpy(receive, smallest.data(), num_words * sizeof(long long));
    return MPI_SUCCESS;
  });
}

// Sums of 64-bit numbers.
int PMPI_Reduce(const void* send, void* receive, int count, MPI_Datatype, MPI_Op, int root,
                MPI_Comm comm) {
  return here().call("Reduce", [&] {
    if (takes_no_part(root)) return MPI_SUCCESS;
    const StubProcess::Seat* seat = here().find(comm);
    const auto num_words = static_cast<std::size_t>(count);
    const auto parts =
        seat->comm->collect(seat->rank, root, part_of(send, num_words * sizeof(std::uint64_t)));
    if (parts == nullptr) return MPI_SUCCESS;
    std::vector<std::uint64_t> sums(num_words);
    for (const StubComm::Part& part : *parts) {
      for (std::size_t i = 0; i < num_words; ++i) sums[i] += value_in<std::uint64_t>(part, i);
    }
    std::memcpy(receive, sums.data(), num_words * sizeof(std::uint64_t));
    return MPI_SUCCESS;
  });
}

int PMPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return here().call("Bcast", [&] {
    if (takes_no_part(root)) return MPI_SUCCESS;
    const StubProcess::Seat* seat = here().find(comm);
    const std::size_t bytes = static_cast<std::size_t>(count) * bytes_of(type);
    const auto parts = seat->comm->exchange(seat->rank, part_of(data, bytes));
    std::memcpy(data, (*parts)[static_cast<std::size_t>(root)].bytes.data(), bytes);
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm* made) {
  return here().call("Comm_split", [&] {
    if (here().refuses_to_split) return MPI_ERR_OTHER;
    const StubProcess::Seat* seat = here().find(comm);
    const int own[2] = {colour, key};
    const auto wishes = seat->comm->exchange(seat->rank, part_of(own, sizeof(own)));
    std::vector<std::pair<int, int>> members;  // key and rank
    for (int rank = 0; rank < seat->comm->size; ++rank) {
      const StubComm::Part& wish = (*wishes)[static_cast<std::size_t>(rank)];
      if (value_in<int>(wish) == colour) members.emplace_back(value_in<int>(wish, 1), rank);
    }
    std::sort(members.begin(), members.end());
    const bool makes = colour != MPI_UNDEFINED && members.front().second == seat->rank;
    const auto results = seat->comm->exchange(
        seat->rank,
        {{}, makes ? std::make_shared<StubComm>(static_cast<int>(members.size())) : nullptr});
    *made = MPI_COMM_NULL;
    if (colour == MPI_UNDEFINED) return MPI_SUCCESS;
    const auto place =
        std::find(members.begin(), members.end(), std::pair(key, seat->rank)) - members.begin();
    *made = here().add((*results)[static_cast<std::size_t>(members.front().second)].comm,
                       static_cast<int>(place));
    return MPI_SUCCESS;
  });
}

// ---- datatypes: all are predefined and without gaps ----

int PMPI_Type_create_hindexed(int, const int*, const MPI_Aint*, MPI_Datatype, MPI_Datatype*) {
  return MPI_ERR_TYPE;
}
int PMPI_Type_commit(MPI_Datatype*) { return MPI_ERR_TYPE; }
int PMPI_Type_free(MPI_Datatype*) { return MPI_ERR_TYPE; }

int PMPI_Type_size(MPI_Datatype type, int* size) {
  return here().call("Type_size", [&] {
    *size = static_cast<int>(bytes_of(type));
    return MPI_SUCCESS;
  });
}

int PMPI_Pack(const void* data, int count, MPI_Datatype type, void* packed, int, int* position,
              MPI_Comm) {
  return here().call("Pack", [&] {
    const std::size_t bytes = static_cast<std::size_t>(count) * bytes_of(type);
    std::memcpy(static_cast<std::byte*>(packed) + *position, data, bytes);
    *position += static_cast<int>(bytes);
    return MPI_SUCCESS;
  });
}

int PMPI_Unpack(const void* packed, int, int* position, void* data, int count, MPI_Datatype type,
                MPI_Comm) {
  return here().call("Unpack", [&] {
    const std::size_t bytes = static_cast<std::size_t>(count) * bytes_of(type);
    std::memcpy(data, static_cast<const std::byte*>(packed) + *position, bytes);
    *position += static_cast<int>(bytes);
    return MPI_SUCCESS;
  });
}

// ---- communicators ----

int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
  return here().call("Comm_rank", [&] {
    *rank = here().find(comm)->rank;
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_size(MPI_Comm comm, int* size) {
  return here().call("Comm_size", [&] {
    *size = here().find(comm)->comm->size;
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  return here().call("Comm_test_inter", [&] {
    *flag = here().find(comm)->comm->between_groups ? 1 : 0;
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_get_name(MPI_Comm, char* name, int* length) {
  return here().call("Comm_get_name", [&] {
    *length = std::snprintf(name, MPI_MAX_OBJECT_NAME, "stub");
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_free(MPI_Comm* comm) {
  return here().call("Comm_free", [&] { return free_comm(comm); });
}

int PMPI_Comm_disconnect(MPI_Comm* comm) {
  return here().call("Comm_disconnect", [&] { return free_comm(comm); });
}

// The shim asks for groups of the calling process alone.
int PMPI_Comm_group(MPI_Comm, MPI_Group* group) {
  return here().call("Comm_group", [&] { return open(kGroup, group); });
}
int PMPI_Group_incl(MPI_Group, int, const int*, MPI_Group* made) {
  return here().call("Group_incl", [&] { return open(kGroup, made); });
}
int PMPI_Group_free(MPI_Group* group) {
  return here().call("Group_free", [&] { return close(MPI_GROUP_NULL, group); });
}

int PMPI_Comm_create_group(MPI_Comm, MPI_Group, int, MPI_Comm* made) {
  return here().call("Comm_create_group", [&] {
    *made = here().add(std::make_shared<StubComm>(1), 0);
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_get_errhandler(MPI_Comm, MPI_Errhandler* handler) {
  return here().call("Comm_get_errhandler", [&] { return open(kErrhandler, handler); });
}
int PMPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler) {
  return here().call("Comm_set_errhandler", [&] { return MPI_SUCCESS; });
}
int PMPI_Errhandler_free(MPI_Errhandler* handler) {
  return here().call("Errhandler_free", [&] { return close(MPI_ERRHANDLER_NULL, handler); });
}
int PMPI_Comm_call_errhandler(MPI_Comm, int) {
  return here().call("Comm_call_errhandler", [&] { return MPI_SUCCESS; });
}

// ---- the process ----

int PMPI_Initialized(int* flag) {
  return here().call("Initialized", [&] {
    *flag = here().initialized ? 1 : 0;
    return MPI_SUCCESS;
  });
}

int PMPI_Finalized(int* flag) {
  return here().call("Finalized", [&] {
    *flag = here().finalized ? 1 : 0;
    return MPI_SUCCESS;
  });
}

int PMPI_Query_thread(int* level) {
  return here().call("Query_thread", [&] {
    *level = here().thread_level;
    return MPI_SUCCESS;
  });
}

int PMPI_Is_thread_main(int* flag) {
  return here().call("Is_thread_main", [&] {
    *flag = here().is_main_thread() ? 1 : 0;
    return MPI_SUCCESS;
  });
}

int PMPI_Get_library_version(char* text, int* length) {
  return here().call("Get_library_version", [&] {
    *length = std::snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "Stub Version:\t1\nmore");
    return MPI_SUCCESS;
  });
}

// As MPICH: frees MPI_COMM_SELF, then MPI_COMM_WORLD; what else the program has left stays.
int PMPI_Finalize() {
  return here().call("Finalize", [&] {
    here().drop(MPI_COMM_SELF);
    here().drop(MPI_COMM_WORLD);
    here().finalized = true;
    return MPI_SUCCESS;
  });
}

int PMPI_Session_init(MPI_Info, MPI_Errhandler, MPI_Session* session) {
  return here().call("Session_init", [&] { return open(kSession, session); });
}
int PMPI_Session_finalize(MPI_Session* session) {
  return here().call("Session_finalize", [&] { return close(MPI_SESSION_NULL, session); });
}

}  // extern "C"
