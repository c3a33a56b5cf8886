// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "placement/board.hpp"
#include "topology/machine.hpp"
#include "topology/result.hpp"

namespace hierbar {

// The ranks of a job on one node tell each other what they need, before MPI_Init and without MPI.
struct MeetingRequest {
  std::string job_key;  // the same for all of them and for nobody else, see Launch::job_key
  std::uint32_t rank = 0;
  std::uint32_t num_ranks = 0;
  RankFacts facts = {};
  std::uint64_t patience_ns = 2'000'000'000;  // how long the first waits for the last
  std::string directory = "/dev/shm";         // where they meet; another for tests
};

struct Meeting {
  Verdict verdict = Verdict::kNobody;
  std::vector<RankFacts> facts;    // kComplete: of all, by rank; else of those who came
  std::optional<Machine> machine;  // what the maker has loaded, in the others; nothing if it could not
  bool is_maker = false;           // this rank came first, and loaded the machine
};

// Waits until all ranks have come, but no longer than the patience of the first one, plus what its load of the machine takes; a
// rank that comes after that has a meeting of its own, with the same end.
//
// The memory has a name, made of the user, the job, the boot and the namespaces, from the first rank's arrival to the verdict.
// It appears under it complete (it is made without a name and then linked, which fails where there is one), so nobody can see it
// half made, and it belongs to the user alone. Every rank removes the name before it goes on. What a killed job leaves is told by
// its dead owners, or by its age, and removed by the next one that starts.
//
// `load` is called in one of the ranks and gives its machine, or null; `late` decides when not all have come (see Board::wait).
//
// Errors: /proc does not show this process; the directory cannot hold the memory; the job's other ranks speak of another number
// of ranks; a mask has cpus from Board::kMaxCpus on.
Result<Meeting> meet(const MeetingRequest& request, const std::function<const Machine*()>& load,
                     const std::function<Verdict(const std::vector<RankFacts>&)>& late);

// What has the meeting's name and is not this user's file, with its path and its owner's number. Such
// a thing keeps all ranks from meeting until it is removed; its name can be foreseen, so anybody may
// have made it. Nothing if there is none, which is worth asking after meet() has failed.
std::optional<std::string> find_squatter(const MeetingRequest& request);

// Removes the names of this user's meetings that are stale. Returns how many.
int sweep_meetings(const std::string& directory = "/dev/shm");

}  // namespace hierbar
