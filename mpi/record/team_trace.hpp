// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi/record/rank_trace.hpp"
#include "mpi/record/rank_tree.hpp"
#include "report/timeline.hpp"

namespace hierbar::mpi {

struct Pmpi;
class Recorder;

// The recorded barriers of a team of threads, in one of its ranks (docs/design/teams.md#d0152).
//
// 1. record   Each thread keeps its own stamps and nothing else. When its memory is full it drops
//             every second record, and from then on it records half as many. So the records are
//             spread over the team's whole life, and all threads keep those of the same episodes.
// 2. settle   When the team ends, one thread of each rank exchanges the stamps, as CommTrace does:
//             each rank works out who arrived last in its share of the episodes.
// 3. account  Each rank adds up the figures of its threads.
//
// A time line has a thread's last barriers one by one, as those of other barriers do. So with one
// to be drawn, a thread stamps all of them, and keeps each in its row before it drops the record.
//
// Left out are the first barrier, which comes after the set-up, and those before the last change of
// the barrier's tree on some node.
//
// Thread safety: functions with a thread's number are called by that thread only, the others when
// no thread is in the team's barrier.
class TeamTrace {
 public:
  // threads_of_ranks: by rank of the communicator. `me` is this process's rank there.
  TeamTrace(Recorder& recorder, std::vector<std::uint32_t> threads_of_ranks, std::uint32_t me,
            bool several_nodes, std::uint64_t every);
  ~TeamTrace();
  TeamTrace(const TeamTrace&) = delete;
  TeamTrace& operator=(const TeamTrace&) = delete;

  // The thread has joined, from where it runs.
  void set_cpus(std::uint32_t thread);

  // Around a barrier. Episodes are counted from 1 on. open() is called only if is_due().
  bool is_due(std::uint32_t thread, std::uint64_t episode) const noexcept {
    return (episode - 1) % (rows_.empty() ? threads_[thread].stride : every_) == 0;
  }
  RankTrace open(std::uint32_t thread, const void* caller);
  // leads: nobody releases the thread.
  void close(std::uint32_t thread, std::uint64_t episode, bool leads);
  // The next barrier has another tree.
  void tree_changes(std::uint32_t thread) noexcept {
    threads_[thread].first = threads_[thread].entries.size();
  }

  // Where a participant of this node is in the barrier's tree. `participant` and `parent` are
  // numbers in the whole team (participant_of()). For the root of a node, and for a leader of the
  // exchange where there are no other nodes, the parent is the participant itself.
  struct Place {
    std::uint32_t participant, parent;
    std::uint8_t unit;  // as in RankTree
  };
  struct Places {
    std::vector<Place> of_node;  // in one rank of each node; the others have none
    std::uint8_t exchange;       // the unit of the exchange
    bool outnumbered;            // the threads of the node outnumber its cpus
  };
  std::uint32_t participant_of(std::uint32_t rank, std::uint32_t thread) const {
    return first_of_[rank] + thread;
  }

  // Collective over the team's communicator. num_barriers: of each thread.
  void settle(const Pmpi& pmpi, MPI_Comm comm, const Places& places, std::uint64_t num_barriers);

 private:
  struct Entry {
    Stamps stamps;
    const void* caller;
  };
  struct alignas(128) Thread {
    std::vector<Entry> entries;
    std::uint64_t stride;   // the record of one barrier in so many is kept
    std::size_t first = 1;  // the entries before are left out
    std::string cpus;
  };
  // The entries that count, and how many of them each rank works out.
  struct Episodes {
    std::size_t begin, end, share;
    std::size_t of_rank(std::size_t rank) const { return begin + rank * share; }
  };

  std::uint32_t num_participants() const { return first_of_.back(); }
  bool agree(const Pmpi& pmpi, MPI_Comm comm, bool has_tree, Episodes& episodes) const;
  std::unique_ptr<RankTree> gather_tree(const Pmpi& pmpi, MPI_Comm comm,
                                        const Places& places) const;
  void summarise(const RankTree& tree, const Episodes& episodes, const std::vector<Stamps>& stamps,
                 std::vector<RankTree::Sight>& to_others);
  void account(const Episodes& episodes, const std::vector<RankTree::Sight>& sights);
  void keep_for_time_line(std::uint32_t thread, const Entry& entry, std::uint64_t episode,
                          bool leads);

  Recorder& recorder_;
  const std::vector<std::uint32_t> threads_of_ranks_;
  const std::uint32_t me_;
  const bool several_nodes_;
  const std::uint32_t kind_;  // of its barriers
  const std::uint64_t every_;
  std::vector<std::uint32_t> first_of_;  // participant, by rank; at the end their number
  std::uint32_t most_threads_;           // of a rank
  std::size_t most_entries_;             // of a thread
  std::vector<Thread> threads_;
  std::vector<report::RawRing*> rows_;  // of the time line, by thread; empty: there is none
};

}  // namespace hierbar::mpi
