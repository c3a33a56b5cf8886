// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// What collectives_fuzz draws: its communicators, the operations that can be trusted, and rounds of
// calls. All ranks draw the same.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "bench/common/random.hpp"
#include "collectives_calls.hpp"
#include "mpi_test.hpp"

namespace hierbar::test {

struct FuzzOptions {
  long rounds = 500;
  double seconds = 0;
  std::uint64_t seed = 1;
  long first = 0;
  unsigned limit_s = 120;
  std::vector<CallKind> served;  // empty: all calls are drawn
};

inline constexpr std::uint32_t kMostCallsInRound = 10;
inline constexpr std::size_t kMostServedBytes = 4096;
inline constexpr std::size_t kMostGappyBytes = 8192;

// Whether ranks may describe what they bring and get by datatypes with gaps. In gathers and
// scatters MPICH 4.0.2 says "Message truncated" if the library sends more than 10 KiB of such data
// in one message.
inline bool may_have_gaps(const FuzzedCall& call, int num_ranks) {
  if (call.count == 0) return false;
  if (is_one_of(call.kind, {CallKind::kAllgather, CallKind::kAlltoall})) return true;
  return is_one_of(call.kind, {CallKind::kGather, CallKind::kScatter}) &&
         static_cast<std::size_t>(call.count) * static_cast<std::size_t>(num_ranks) *
                 call.type->bytes <=
             kMostGappyBytes;
}

// ---- communicators ----

// Several that live at once, and one that is made for a round.
class FuzzComms {
 public:
  FuzzComms() {
    const int me = rank_in(MPI_COMM_WORLD), num_ranks = size_of(MPI_COMM_WORLD);
    add("MPI_COMM_WORLD", 0, MPI_COMM_WORLD);
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    add("a duplicate", 0, made);
    add_split("the ranks reversed", 0, -me);
    add_split("every other rank", me % 2, me);
    add_split("pairs of ranks", me / 2, me);
    add_split("all ranks but the first", me == 0 && num_ranks > 1 ? MPI_UNDEFINED : 0, me);
    MPI_Comm_dup(MPI_COMM_SELF, &made);
    add("each rank alone", me, made);
    add("a duplicate for a round", 0, MPI_COMM_NULL);
  }
  ~FuzzComms() {
    for (std::size_t i = 1; i < all_.size(); ++i) {
      if (all_[i].comm != MPI_COMM_NULL) MPI_Comm_free(&all_[i].comm);
    }
  }
  FuzzComms(const FuzzComms&) = delete;
  FuzzComms& operator=(const FuzzComms&) = delete;

  std::size_t size() const { return all_.size(); }
  std::size_t fresh_index() const { return all_.size() - 1; }
  MPI_Comm comm(std::size_t i) const { return all_[i].comm; }  // null: this rank is not in it
  const char* name(std::size_t i) const { return all_[i].name; }
  // Tells the communicators of one index apart.
  int color(std::size_t i) const { return all_[i].color; }

  void make_fresh() { MPI_Comm_dup(MPI_COMM_WORLD, &all_.back().comm); }
  void free_fresh() { MPI_Comm_free(&all_.back().comm); }

 private:
  struct Named {
    const char* name;
    int color;
    MPI_Comm comm;
  };
  void add(const char* name, int color, MPI_Comm comm) { all_.push_back({name, color, comm}); }
  void add_split(const char* name, int color, int key) {
    MPI_Comm made;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &made);
    add(name, color, made);
  }

  std::vector<Named> all_;
};

// ---- what the MPI library does rightly ----

// For each type and operation, the values for which the library's own reduction of two arrays is
// right. MPICH 4.0.2 compares unsigned integers as signed ones, and Open MPI 4.1.4 saturates short
// ones in parts of an array.
class UsableOps {
 public:
  explicit UsableOps(const std::vector<ElementType>& types) {
    MPI_Errhandler world, self;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &world);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &self);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (const ElementType& type : types) {
      for (int op = 0; op < kNumOps; ++op) try_out(type, static_cast<TestedOp>(op));
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, world);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, self);
    MPI_Errhandler_free(&world);
    MPI_Errhandler_free(&self);
  }

  struct Usable {
    TestedOp op;
    ValueRange range;
  };
  // Those of a type, which has at least one.
  const std::vector<Usable>& of(const ElementType& type) const { return usable_.at(type.name); }
  bool has_any(const ElementType& type) const { return usable_.count(type.name) != 0; }
  // For how many types and operations the library is wrong.
  int num_wrong() const { return num_wrong_; }

 private:
  enum class Verdict : std::uint8_t { kRight, kWrong, kRefused };

  void try_out(const ElementType& type, TestedOp op) {
    if (!has(type.ops, op)) return;
    const Verdict verdict = verdict_of(type, op, ValueRange::kAny);
    if (verdict == Verdict::kRight) usable_[type.name].push_back({op, ValueRange::kAny});
    if (verdict != Verdict::kWrong) return;
    ++num_wrong_;
    if (verdict_of(type, op, ValueRange::kZeroOrOne) == Verdict::kRight)
      usable_[type.name].push_back({op, ValueRange::kZeroOrOne});
  }

  static Verdict verdict_of(const ElementType& type, TestedOp op, ValueRange range) {
    constexpr int kCount = 131;  // several vectors and a rest
    GuardedBuffer in(type, kCount, 0, 1), out(type, kCount, 0, 1);
    for (std::size_t i = 0; i < kCount; ++i) {
      type.fill(in.at(i), mix(i), op, range);
      type.fill(out.at(i), mix(i + kCount), op, range);
    }
    const GuardedBuffer before = out;
    if (PMPI_Reduce_local(in.data(), out.data(), kCount, type.type, mpi_op(op)) != MPI_SUCCESS)
      return Verdict::kRefused;
    for (std::size_t i = 0; i < kCount; ++i) {
      std::array<OneElement, 2> inputs{};
      std::memcpy(inputs[0].data(), in.at(i), type.bytes);
      std::memcpy(inputs[1].data(), before.at(i), type.bytes);
      if (!type.is_right(out.at(i), inputs, op, false)) return Verdict::kWrong;
    }
    return Verdict::kRight;
  }

  std::map<std::string, std::vector<Usable>> usable_;
  int num_wrong_ = 0;
};

// ---- rounds ----

// What happens beside the calls of a round, on a duplicate of MPI_COMM_WORLD.
enum class Around : std::uint8_t {
  kNothing,
  kShortMessages,  // each rank's message to the next one is under way
  kLongMessages,   // the same, by rendezvous
  kSender,         // one rank sends a long message first, to one that is in the calls already
  kBarriers,
  kNonblocking,  // MPI_Iallreduce and MPI_Ibarrier are under way
  kBlocking,     // MPI_Allgatherv
};
inline constexpr std::uint32_t kNumArounds = 7;
inline constexpr std::array<const char*, kNumArounds> kAroundNames{
    "nothing",  "short messages",          "long messages",     "a sender",
    "barriers", "nonblocking collectives", "another collective"};

struct FuzzRound {
  std::vector<FuzzedCall> calls;
  Around around = Around::kNothing;
  std::uint32_t who = 0;  // the rank that sends or is late, before it is reduced to one of them
  std::uint32_t late_us = 0;
  bool has_fresh = false;  // a communicator that is made for it
};

class RoundSource {
 public:
  RoundSource(const FuzzOptions& options, const std::vector<ElementType>& types,
              const UsableOps& usable, std::size_t num_comms, int num_ranks)
      : options_(options),
        types_(types),
        usable_(usable),
        num_comms_(num_comms),
        num_ranks_(static_cast<std::size_t>(num_ranks)) {}

  // The same in all ranks.
  FuzzRound draw(long number) const {
    Random random(mix(options_.seed) + static_cast<std::uint64_t>(number));
    FuzzRound round;
    round.around = static_cast<Around>(random.one_in(2) ? 0 : random.below(kNumArounds));
    round.who = random.below(1 << 20);
    if (random.one_in(4)) round.late_us = random.below(random.one_in(8) ? 20000 : 500);
    round.has_fresh = random.one_in(16);
    const std::uint32_t num_calls = random.one_in(2) ? 1 : 1 + random.below(kMostCallsInRound);
    // Mostly several calls on one communicator.
    std::size_t comm_index = draw_comm(random, round.has_fresh);
    for (std::uint32_t i = 0; i < num_calls; ++i) {
      if (random.one_in(4)) comm_index = draw_comm(random, round.has_fresh);
      round.calls.push_back(draw_call(random));
      round.calls.back().comm_index = comm_index;
    }
    return round;
  }

 private:
  std::size_t draw_comm(Random& random, bool has_fresh) const {
    return random.one_in(2) ? 0 : random.below(static_cast<std::uint32_t>(num_comms_ - !has_fresh));
  }

  CallKind draw_kind(Random& random) const {
    if (random.one_in(12)) return CallKind::kBarrier;
    const auto& served = options_.served;
    if (!served.empty()) return served[random.below(static_cast<std::uint32_t>(served.size()))];
    if (random.one_in(2)) return CallKind::kAllreduce;
    return static_cast<CallKind>(random.below(kNumCallKinds));
  }

  FuzzedCall draw_call(Random& random) const {
    FuzzedCall call;
    call.kind = draw_kind(random);
    do {
      // The first one in a third of all calls, as in programs.
      call.type = &types_[random.one_in(3) ? 0 : random.below(num_types())];
    } while (!usable_.has_any(*call.type));
    const auto& usable = usable_.of(*call.type);
    const auto& [op, range] = usable[random.below(static_cast<std::uint32_t>(usable.size()))];
    call.op = op;
    call.range = range;
    call.in_place = random.one_in(3);
    call.has_large_count = random.one_in(8);
    if (!options_.served.empty()) {
      call.range =
          call.type->is_float && random.one_in(8) ? ValueRange::kSpecial : ValueRange::kAny;
      call.ordered = call.kind != CallKind::kScan;
    }
    call.count = draw_count(random, call);
    call.root = static_cast<int>(random.below(1 << 20));  // reduced to a rank where it is known
    call.seed = random.next();
    return call;
  }
  std::uint32_t num_types() const { return static_cast<std::uint32_t>(types_.size()); }

  // Few elements, or near one of the sizes at which a library may change its way, or any.
  int draw_count(Random& random, const FuzzedCall& call) const {
    constexpr std::array<std::size_t, 13> kLimits{0,   8,   24,   64,   96,   112, 120,
                                                  256, 512, 1024, 1536, 2048, 4096};
    const std::size_t size = call.type->bytes;
    const bool by_ranks = !is_one_of(
        call.kind, {CallKind::kAllreduce, CallKind::kBcast, CallKind::kReduce, CallKind::kScan});
    const std::size_t parts = by_ranks || random.one_in(8) ? num_ranks_ : 1;
    std::size_t count = 1 + random.below(8);
    if (random.one_in(2)) {
      count = kLimits[random.below(kLimits.size())] / size / parts + random.below(3);
      count -= count > 0 ? 1 : 0;
    } else if (random.one_in(4)) {
      const bool is_long = options_.served.empty() && random.one_in(8);
      count = random.below(is_long ? 100000 : 6000) / size / parts;
    }
    if (!options_.served.empty())
      count = std::min(count, kMostServedBytes / size / (by_ranks ? num_ranks_ : 1));
    if (truncates(call)) count = std::min(count, kMostGappyBytes / size / num_ranks_);
    return static_cast<int>(count);
  }

  // MPICH 4.0.2 says "Message truncated" in these calls if a datatype has gaps and the library
  // sends more than 10 KiB in one message.
  static bool truncates(const FuzzedCall& call) {
    int size = 0;
    MPI_Type_size(call.type->type, &size);
    return static_cast<std::size_t>(size) < call.type->bytes &&
           is_one_of(call.kind, {CallKind::kAlltoall, CallKind::kGather, CallKind::kScatter});
  }

  const FuzzOptions& options_;
  const std::vector<ElementType>& types_;
  const UsableOps& usable_;
  std::size_t num_comms_;
  std::size_t num_ranks_;
};

}  // namespace hierbar::test
