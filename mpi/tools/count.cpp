// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libhierbar_count.so: counts what a program sends, by pair of ranks. It is preloaded, and off
// unless HIERBAR_COUNT=FILE is set: then rank 0 writes the file in MPI_Finalize.
//
// Counted are the calls in C that name a receiver: sends of all modes, MPI_Sendrecv, and
// MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw as messages to each rank. Other collectives have no
// pairs that the standard would name.
//
// Each wrapper adds to the counts and calls the next definition of the function, which may be a
// tool's.

#include <dlfcn.h>
#include <mpi.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "base/trusted_variable.hpp"

namespace hierbar::mpi {

// What this rank has sent to each rank of MPI_COMM_WORLD. Threads may add at the same time.
class PairCounts {
 public:
  explicit PairCounts(int num_ranks)
      : num_ranks_(num_ranks), cells_(new Cell[static_cast<std::size_t>(num_ranks)]) {}

  int num_ranks() const { return num_ranks_; }

  // Ranks outside are left out: MPI_PROC_NULL, and those of other worlds.
  void add(int rank, std::uint64_t num_bytes) {
    if (rank < 0 || rank >= num_ranks_) return;
    // Relaxed: nothing else depends on the counts, and they are read after all sends.
    cells_[rank].bytes.fetch_add(num_bytes, std::memory_order_relaxed);
    cells_[rank].messages.fetch_add(1, std::memory_order_relaxed);
  }

  void copy_to(std::uint64_t* bytes, std::uint64_t* messages) const {
    for (int i = 0; i < num_ranks_; ++i) {
      bytes[i] = cells_[i].bytes.load(std::memory_order_relaxed);
      messages[i] = cells_[i].messages.load(std::memory_order_relaxed);
    }
  }

 private:
  struct Cell {
    std::atomic<std::uint64_t> bytes = 0;
    std::atomic<std::uint64_t> messages = 0;
  };
  const int num_ranks_;
  std::unique_ptr<Cell[]> cells_;
};

// Writes two matrices of num_ranks x num_ranks numbers, in the form that parse_matrix() reads
// (network/contention/traffic.hpp). False if it could not; errno tells why.
inline bool write_matrices(const char* path, const std::uint64_t* bytes,
                           const std::uint64_t* messages, int num_ranks) {
  FILE* file = std::fopen(path, "we");
  if (file == nullptr) return false;
  const auto write = [&](const char* heading, const std::uint64_t* cells) {
    std::fprintf(file, "%s\n", heading);
    for (int i = 0; i < num_ranks * num_ranks; ++i) {
      std::fprintf(file, "%llu%c", static_cast<unsigned long long>(cells[i]),
                   (i + 1) % num_ranks == 0 ? '\n' : ',');
    }
  };
  write("# bytes: a line for each sender, a column for each receiver", bytes);
  write("# messages", messages);
  const bool ok = std::ferror(file) == 0;
  return std::fclose(file) == 0 && ok;
}

}  // namespace hierbar::mpi

#if defined(OMPI_MAJOR_VERSION)
// Objects of the library. A process that has no MPI must be able to load this one as well.
#pragma weak ompi_mpi_comm_self
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_uint64_t
#endif

#define HIERBAR_EXPORT extern "C" __attribute__((visibility("default")))

// Calls what the program would call without this library. The PMPI function is called and not asked
// for its address: that would be resolved when a shell loads this library.
#define HIERBAR_CALL_NEXT(NAME, ...)                                              \
  [&] {                                                                           \
    static const auto next =                                                      \
        reinterpret_cast<decltype(&PMPI_##NAME)>(dlsym(RTLD_NEXT, "MPI_" #NAME)); \
    return next != nullptr ? next(__VA_ARGS__) : PMPI_##NAME(__VA_ARGS__);        \
  }()

namespace {

using hierbar::mpi::PairCounts;

constexpr const char* kVariable = "HIERBAR_COUNT";

PairCounts* counts = nullptr;  // null: nothing is counted
int table_key = MPI_KEYVAL_INVALID;
int self_key = MPI_KEYVAL_INVALID;

std::mutex tables;  // of communicators: two threads may use one for the first time

int copy_no_table(MPI_Comm, int, void*, void*, void*, int* is_copied) {
  *is_copied = 0;
  return MPI_SUCCESS;
}

int free_table(MPI_Comm, int, void* table, void*) {
  delete[] static_cast<int*>(table);
  return MPI_SUCCESS;
}

void end();

// The callback of an attribute of MPI_COMM_SELF, which MPI_Finalize deletes before all else,
// however it is called. So all ranks that count come here, and may call MPI together.
int end_inside(MPI_Comm, int, void*, void*) {
  end();
  return MPI_SUCCESS;
}

void begin() {
  const char* path = hierbar::trusted_variable(kVariable);
  if (path == nullptr || *path == '\0' || counts != nullptr) return;
  int num_ranks = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  // Copies of a communicator get no table: they make one of their own.
  PMPI_Comm_create_keyval(copy_no_table, free_table, &table_key, nullptr);
  PMPI_Comm_create_keyval(copy_no_table, end_inside, &self_key, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, self_key, nullptr);
  counts = new PairCounts(num_ranks);
}

// The ranks in MPI_COMM_WORLD of the ranks to which this communicator sends. Made at its first use.
const int* world_ranks(MPI_Comm comm) {
  const std::lock_guard lock(tables);
  void* known = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, table_key, &known, &found);
  if (found != 0) return static_cast<int*>(known);
  MPI_Group group, world;
  int is_inter = 0, size = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  // Calls, not addresses of functions: those would be resolved when a shell loads this library.
  if (is_inter != 0) {
    PMPI_Comm_remote_group(comm, &group);
  } else {
    PMPI_Comm_group(comm, &group);
  }
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_size(group, &size);
  std::vector<int> own(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) own[static_cast<std::size_t>(i)] = i;
  int* table = new int[static_cast<std::size_t>(size) + 1];
  PMPI_Group_translate_ranks(group, size, own.data(), world, table);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  PMPI_Comm_set_attr(comm, table_key, table);
  return table;
}

std::uint64_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

void add(int count, MPI_Datatype type, int receiver, MPI_Comm comm) {
  if (counts == nullptr || receiver < 0) return;
  counts->add(comm == MPI_COMM_WORLD ? receiver : world_ranks(comm)[receiver],
              bytes_of(count, type));
}

// To whom a rank sends in an all-to-all. Between two groups it is every rank of the other group,
// among whom it is not itself, although one has its number.
struct Receivers {
  explicit Receivers(MPI_Comm comm) {
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter != 0) {
      PMPI_Comm_remote_size(comm, &number);
    } else {
      PMPI_Comm_size(comm, &number);
      PMPI_Comm_rank(comm, &self);
    }
  }
  int number = 0;
  int self = -1;
};

void end() {
  if (counts == nullptr) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int n = counts->num_ranks();
  const std::size_t cells =
      rank == 0 ? static_cast<std::size_t>(n) * static_cast<std::size_t>(n) : 0;
  std::vector<std::uint64_t> own_bytes(static_cast<std::size_t>(n)), own_messages(own_bytes),
      bytes(cells), messages(cells);
  counts->copy_to(own_bytes.data(), own_messages.data());
  PMPI_Gather(own_bytes.data(), n, MPI_UINT64_T, bytes.data(), n, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  PMPI_Gather(own_messages.data(), n, MPI_UINT64_T, messages.data(), n, MPI_UINT64_T, 0,
              MPI_COMM_WORLD);
  const char* path = hierbar::trusted_variable(kVariable);
  if (rank == 0 && path != nullptr &&
      !hierbar::mpi::write_matrices(path, bytes.data(), messages.data(), n)) {
    std::fprintf(stderr, "hierbar: %s: '%s' cannot be written: %s; allowed: the path of a file\n",
                 kVariable, path, std::strerror(errno));
  }
  delete counts;
  counts = nullptr;
  PMPI_Comm_free_keyval(&table_key);
  PMPI_Comm_free_keyval(&self_key);
}

}  // namespace

HIERBAR_EXPORT int MPI_Init(int* argc, char*** argv) {
  const int result = HIERBAR_CALL_NEXT(Init, argc, argv);
  if (result == MPI_SUCCESS) begin();
  return result;
}

HIERBAR_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int result = HIERBAR_CALL_NEXT(Init_thread, argc, argv, required, provided);
  if (result == MPI_SUCCESS) begin();
  return result;
}

// The routines in Fortran, of which those of Open MPI do not call the functions in C. Ranks in
// Fortran then count nothing, but take part in the end. The status, which may be absent, has the
// length that the library knows.
#define HIERBAR_FORTRAN_INIT(NAME, ...)                                        \
  static const auto next =                                                     \
      reinterpret_cast<void (*)(void*, void*, void*)>(dlsym(RTLD_NEXT, NAME)); \
  if (next == nullptr) return;                                                 \
  next(__VA_ARGS__);                                                           \
  int is_initialized = 0;                                                      \
  PMPI_Initialized(&is_initialized);                                           \
  if (is_initialized != 0) begin();
#define HIERBAR_FORTRAN_INITS(SUFFIX)                                                       \
  HIERBAR_EXPORT void mpi_init##SUFFIX(void* status){HIERBAR_FORTRAN_INIT(                  \
      "mpi_init" #SUFFIX, status, nullptr,                                                  \
      nullptr)} HIERBAR_EXPORT void mpi_init_thread##SUFFIX(void* required, void* provided, \
                                                            void* status) {                 \
    HIERBAR_FORTRAN_INIT("mpi_init_thread" #SUFFIX, required, provided, status)             \
  }
HIERBAR_FORTRAN_INITS(_)
HIERBAR_FORTRAN_INITS(__)
HIERBAR_FORTRAN_INITS(_f08_)

// --- Sends. Each has a blocking form and one with a request.

#define HIERBAR_SEND(NAME)                                                                    \
  HIERBAR_EXPORT int MPI_##NAME(const void* data, int count, MPI_Datatype type, int receiver, \
                                int tag, MPI_Comm comm) {                                     \
    add(count, type, receiver, comm);                                                         \
    return HIERBAR_CALL_NEXT(NAME, data, count, type, receiver, tag, comm);                   \
  }
HIERBAR_SEND(Send)
HIERBAR_SEND(Ssend)
HIERBAR_SEND(Rsend)
HIERBAR_SEND(Bsend)

#define HIERBAR_ISEND(NAME)                                                                   \
  HIERBAR_EXPORT int MPI_##NAME(const void* data, int count, MPI_Datatype type, int receiver, \
                                int tag, MPI_Comm comm, MPI_Request* request) {               \
    add(count, type, receiver, comm);                                                         \
    return HIERBAR_CALL_NEXT(NAME, data, count, type, receiver, tag, comm, request);          \
  }
HIERBAR_ISEND(Isend)
HIERBAR_ISEND(Issend)
HIERBAR_ISEND(Irsend)
HIERBAR_ISEND(Ibsend)

HIERBAR_EXPORT int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int receiver,
                                int send_tag, void* received, int receive_count,
                                MPI_Datatype receive_type, int sender, int receive_tag,
                                MPI_Comm comm, MPI_Status* status) {
  add(count, type, receiver, comm);
  return HIERBAR_CALL_NEXT(Sendrecv, data, count, type, receiver, send_tag, received, receive_count,
                           receive_type, sender, receive_tag, comm, status);
}

HIERBAR_EXPORT int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int receiver,
                                        int send_tag, int sender, int receive_tag, MPI_Comm comm,
                                        MPI_Status* status) {
  add(count, type, receiver, comm);
  return HIERBAR_CALL_NEXT(Sendrecv_replace, data, count, type, receiver, send_tag, sender,
                           receive_tag, comm, status);
}

// --- All-to-alls. What a rank sends to itself is no message.

HIERBAR_EXPORT int MPI_Alltoall(const void* data, int count, MPI_Datatype type, void* received,
                                int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  if (counts != nullptr) {
    const Receivers receivers(comm);
    // In place, what is received has the size of what is sent.
    const bool in_place = data == MPI_IN_PLACE;
    for (int i = 0; i < receivers.number; ++i) {
      if (i != receivers.self)
        add(in_place ? receive_count : count, in_place ? receive_type : type, i, comm);
    }
  }
  return HIERBAR_CALL_NEXT(Alltoall, data, count, type, received, receive_count, receive_type,
                           comm);
}

HIERBAR_EXPORT int MPI_Alltoallv(const void* data, const int* send_counts, const int* offsets,
                                 MPI_Datatype type, void* received, const int* receive_counts,
                                 const int* receive_offsets, MPI_Datatype receive_type,
                                 MPI_Comm comm) {
  if (counts != nullptr) {
    const Receivers receivers(comm);
    const bool in_place = data == MPI_IN_PLACE;
    for (int i = 0; i < receivers.number; ++i) {
      if (i != receivers.self)
        add(in_place ? receive_counts[i] : send_counts[i], in_place ? receive_type : type, i, comm);
    }
  }
  return HIERBAR_CALL_NEXT(Alltoallv, data, send_counts, offsets, type, received, receive_counts,
                           receive_offsets, receive_type, comm);
}

HIERBAR_EXPORT int MPI_Alltoallw(const void* data, const int* send_counts, const int* offsets,
                                 const MPI_Datatype* types, void* received,
                                 const int* receive_counts, const int* receive_offsets,
                                 const MPI_Datatype* receive_types, MPI_Comm comm) {
  if (counts != nullptr) {
    const Receivers receivers(comm);
    const bool in_place = data == MPI_IN_PLACE;
    for (int i = 0; i < receivers.number; ++i) {
      if (i != receivers.self)
        add((in_place ? receive_counts : send_counts)[i], (in_place ? receive_types : types)[i], i,
            comm);
    }
  }
  return HIERBAR_CALL_NEXT(Alltoallw, data, send_counts, offsets, types, received, receive_counts,
                           receive_offsets, receive_types, comm);
}
