// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <atomic>
#include <compare>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mpi/entry/entry_points.hpp"

// An MPI library whose ranks are threads of one process, as far as the shim calls it: what a
// sanitizer can look through. The program that links it exports its PMPI functions, where the shim
// finds them as it finds those of any MPI library. It is compiled against mpi.h of MPICH's family,
// or against that of the standard ABI.
//
// Collective calls order the ranks exactly as MPI promises: all of them wait for all, but
// MPI_Reduce, in which only the root does.
namespace hierbar::test {

using mpi::handle_in;
using mpi::RawHandle;

// A communicator; all its ranks have the same one.
class StubComm {
 public:
  struct Part {
    std::vector<std::byte> bytes;
    std::shared_ptr<StubComm> comm;
  };
  using Parts = std::vector<Part>;

  explicit StubComm(int num_ranks, bool is_between_groups = false)
      : size(num_ranks), between_groups(is_between_groups) {}

  // Collective: everybody's part, by rank.
  std::shared_ptr<const Parts> exchange(int rank, Part own);
  // Collective over all, but only the root waits and gets the parts.
  std::shared_ptr<const Parts> collect(int rank, int root, Part own);

  // A message of no bytes or of one; and the receipt of one, empty if none is there.
  using Message = std::vector<unsigned char>;
  struct Path {
    int from, to, tag;
    auto operator<=>(const Path&) const = default;
  };
  void send(const Path& path, Message message);
  std::optional<Message> receive(const Path& path);
  // Messages that nobody has received.
  std::size_t num_left_over();

  const int size;
  const bool between_groups;

 private:
  struct Round {
    Parts parts;
    int num_arrived = 0;
  };
  std::shared_ptr<Round> arrive(int rank, Part own);
  std::shared_ptr<const Parts> await(const std::shared_ptr<Round>& round);

  std::map<Path, std::deque<Message>> in_flight_;
  std::mutex mutex_;
  std::condition_variable complete_;
  std::vector<int> rounds_of_ =
      std::vector<int>(static_cast<std::size_t>(size));  // collective calls of each rank
  std::map<int, std::shared_ptr<Round>> rounds_;         // those that somebody has not come to
};

// Which calls of a process fail.
struct StubScript {
  std::string function;          // without PMPI_; empty: none
  int first_call = 1;            // that fails, counted from StubProcess::obey()
  bool lasts = false;            // all later ones fail as well
  bool has_taken_place = false;  // the call does what it should, and fails for this process only
};

// What one process has of MPI.
class StubProcess {
 public:
  static constexpr int kScriptedError = MPI_ERR_INTERN;

  struct Attribute {
    MPI_Comm_delete_attr_function* forget;
    void* value;
    void* extra;
  };
  // A handle's communicator, this process's rank in it, and what hangs on it.
  struct Seat {
    std::shared_ptr<StubComm> comm;
    int rank;
    std::map<int, Attribute> attributes;
  };

  StubProcess(std::shared_ptr<StubComm> world, int rank, int thread_level);

  // The process that the calling thread belongs to.
  static StubProcess& current();
  // The first thread that belongs to a process is MPI's main thread.
  void make_current();
  bool is_main_thread() const { return std::this_thread::get_id() == main_thread_; }

  MPI_Comm add(std::shared_ptr<StubComm> comm, int rank);
  // Null: no such communicator. Valid until it is freed.
  Seat* find(MPI_Comm comm);
  // The library has seen the message of such a request, or has none to see.
  bool complete(MPI_Request request);
  MPI_Request expect(std::shared_ptr<StubComm> comm, const StubComm::Path& path, void* buffer);
  void forget(MPI_Request request);
  // Runs the callbacks of the attributes.
  void drop(MPI_Comm comm);

  // In a communicator of threads the calling thread has a seat of its own, which find() returns. To
  // leave it runs the callbacks of the thread's attributes.
  void seat_thread(MPI_Comm comm, std::shared_ptr<StubComm> all, int rank);
  void unseat_thread(MPI_Comm comm);
  static bool is_thread_seated(MPI_Comm comm);
  // Requires `mutex`.
  std::map<int, Attribute>& attributes_of(MPI_Comm comm);

  void obey(const StubScript& script);
  // Every function of the library does its work through this; `body` returns its status.
  template <class Body>
  int call(const char* function, Body body) {
    const bool fails = count_call(function);
    if (fails && !script_.has_taken_place) return kScriptedError;
    const int status = body();
    return fails ? kScriptedError : status;
  }
  // Since obey().
  std::map<std::string, int> num_calls();
  // On communicators that this process has freed. Nobody else may be using them.
  std::size_t num_left_over();

  const int thread_level;
  bool refuses_to_split = false;  // out of communicators; the same in all processes
  std::atomic<bool> initialized{true}, finalized{false};
  std::atomic<int> num_barriers{0};  // of the library's own
  std::atomic<int> barrier_ms{0};    // what one of them takes beside the waiting
  std::atomic<int> num_open{0};      // groups, requests and error handlers that are not freed
  std::mutex mutex;
  std::map<int, Attribute> keyvals;  // the value is not used
  std::map<MPI_Comm, Seat> seats;

 private:
  struct Receive {
    std::shared_ptr<StubComm> comm;
    StubComm::Path path;
    void* buffer;
  };
  bool count_call(const char* function);
  static void forget_all(MPI_Comm comm, const std::map<int, Attribute>& attributes);

  std::once_flag has_main_thread_;
  std::thread::id main_thread_;
  std::map<MPI_Request, Receive> receives_;
  RawHandle next_request_ = 0x100000;

  std::mutex script_mutex_;
  StubScript script_{};
  std::map<std::string, int> num_calls_;
  RawHandle next_handle_ = 0x1000;
  std::vector<std::shared_ptr<StubComm>>
      freed_;  // their counts of references would order the ranks, which MPI_Comm_free does not
};

// Handles of objects that have nothing in them. They are counted while they are open.
inline constexpr RawHandle kErrhandler = 0x2001, kGroup = 0x2002, kRequest = 0x2003,
                           kSession = 0x2004;

inline StubProcess& here() { return StubProcess::current(); }

template <class Handle>
int open(RawHandle kind, Handle* handle) {
  ++here().num_open;
  *handle = handle_in<Handle>(kind);
  return MPI_SUCCESS;
}

template <class Handle>
int close(Handle null, Handle* handle) {
  --here().num_open;
  *handle = null;
  return MPI_SUCCESS;
}

// What a rank gives to a collective call, and what is in it.
inline StubComm::Part part_of(const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  return {{begin, begin + bytes}, nullptr};
}
template <class T>
T value_in(const StubComm::Part& part, std::size_t index = 0) {
  T value;
  std::memcpy(&value, part.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

// MPI_Comm_free of a duplicate of a communicator of threads: by all threads of the process.
int free_duplicate(MPI_Comm* comm);

}  // namespace hierbar::test

// Debian's mpi.h is older than these.
extern "C" {
int PMPIX_Threadcomm_init(MPI_Comm comm, int num_threads, MPI_Comm* made);
int PMPIX_Threadcomm_start(MPI_Comm comm);
int PMPIX_Threadcomm_finish(MPI_Comm comm);
int PMPIX_Threadcomm_free(MPI_Comm* comm);
int PMPIX_Comm_test_threadcomm(MPI_Comm comm, int* flag);
}
