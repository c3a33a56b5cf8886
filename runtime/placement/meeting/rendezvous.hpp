// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "placement/meeting/meeting_memory.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// What a rank brings to the meeting of its job's ranks on one node. They meet before MPI_Init and
// without MPI, to exchange what they need.
struct MeetingRequest {
  // The same for these ranks and for nobody else (see Launch::job_key).
  std::string job_key;
  std::uint32_t rank = 0;
  std::uint32_t num_ranks = 0;
  RankFacts facts = {};
  // How long the first rank waits for the last.
  std::uint64_t patience_ns = 2'000'000'000;
  // Where the ranks meet. Tests use another directory.
  std::string directory = "/dev/shm";
};

// How a meeting has ended.
struct Meeting {
  Verdict verdict = Verdict::kNobody;
  // kComplete: the facts of all ranks, by rank. Otherwise of those that came.
  std::vector<RankFacts> facts;
  // What the maker has loaded, in the other ranks. Nothing if the maker could not load it.
  std::optional<Machine> machine;
  // This rank came first and loaded the machine.
  bool is_maker = false;
};

// Waits until all ranks have come, at most for the patience of the first one and the time that it
// takes to load the machine. A rank that comes later has a meeting of its own, which ends the same
// way.
//
// The memory has a name from the first rank's arrival to the verdict. The name is made of the user,
// the job, the boot and the namespaces. The memory is complete when it gets the name: it is made
// without one and then linked, which fails where the name exists. It belongs to this user alone.
// Every rank removes the name before it goes on. What a killed job leaves is recognised by its dead
// owners or by its age, and the next meeting that starts removes it
// (docs/design/placement.md#d0046).
//
// `load` is called in one of the ranks and returns its machine, or null. `late` decides when not
// all ranks have come (see MeetingMemory::wait).
//
// Errors: /proc does not show this process; the directory cannot hold the memory; another rank of
// the job was given another number of ranks; a mask has cpus from MeetingMemory::kMaxCpus on.
Result<Meeting> meet(const MeetingRequest& request, const std::function<const Machine*()>& load,
                     const std::function<Verdict(const std::vector<RankFacts>&)>& late);

// Looks for something that has the meeting's name and is not a file of this user. Returns a text
// with its path and its owner's number; nothing if there is no such thing. It keeps all ranks from
// meeting until it is removed. Anybody can have made it, because the name is predictable. To be
// called after meet() has failed.
std::optional<std::string> find_squatter(const MeetingRequest& request);

// Removes the names of this user's stale meetings. Returns how many.
int sweep_meetings(const std::string& directory = "/dev/shm");

}  // namespace hierbar
