// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random collective calls, each checked against an oracle of its own; kHelp is the manual.
//
// A round is some calls back to back, on communicators that are drawn for each, with something
// around them: messages that are under way, a rank that sends a long one first, barriers, other
// collectives of the library. All ranks draw the same rounds from the seed; what a rank may choose
// for itself it draws from its number too. After kRoundsInChapter rounds the ranks send what they
// got to rank 0, by messages, which compares the bits.

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "collectives_rounds.hpp"
#include "mpi_test.hpp"

namespace hierbar::test {
namespace {

constexpr const char* kHelp =
    R"(mpiexec -n N collectives_fuzz [--rounds N | --seconds S] [--seed N] [--first N]
    [--served CALL,...] [--limit-s S]

Draws collective calls: operation, datatype, count, root, communicator, MPI_IN_PLACE, and what else
happens around them. Checks every element, that the bits are the same in all ranks where MPI wants
it, and that no other byte is written. Results are not compared with the MPI library's.

  --rounds N     so many rounds; default: 500
  --seconds S    rounds for so long instead
  --seed N       of what is drawn; default: 1
  --first N      begin with this round, as it is with the same seed
  --served LIST  draw only these calls, and only what a library in front of MPI may serve: at most
                 4096 bytes, predefined operations. Also demand what MPI does not: values for which
                 the MPI library itself is wrong, ranks with different names of one datatype, and
                 sums in the documented order, bit for bit. LIST is of allreduce, bcast, reduce,
                 allgather, alltoall, gather, scatter, reduce_scatter_block, scan
  --limit-s S    a rank that is in one round for longer says so, and the program fails; default: 120

The last line has the number of rounds and calls, and a checksum over all results of floating-point
types. With the same seed, rounds and ranks it is the same for every plan and binding.

Exit status: 0 all was right, 1 something was wrong, 2 wrong arguments.
)";

constexpr int kRoundsInChapter = 8;
constexpr int kTag = 7;

// ---- options ----

std::optional<FuzzOptions> wrong(const std::string& what) {
  std::fprintf(stderr, "collectives_fuzz: %s; --help says what is allowed\n", what.c_str());
  return std::nullopt;
}

// Nothing if a name is none of a call that a library may serve.
std::optional<std::vector<CallKind>> parse_calls(const std::string& text) {
  std::vector<CallKind> calls;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto found =
        std::find(kCallNames.begin(), kCallNames.end(), text.substr(begin, end - begin));
    const auto kind = static_cast<CallKind>(found - kCallNames.begin());
    if (found == kCallNames.end() || kind == CallKind::kBarrier) return std::nullopt;
    calls.push_back(kind);
    begin = end + 1;
  }
  return calls;
}

std::optional<FuzzOptions> parse_options(int argc, char** argv) {
  FuzzOptions options;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--served") {
      const auto calls = parse_calls(value);
      if (!calls) return wrong("--served '" + value + "'");
      options.served = *calls;
      continue;
    }
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0' || !(number >= 0 && number < 1e18))
      return wrong(option + " '" + value + "'");
    if (option == "--rounds") {
      options.rounds = static_cast<long>(number);
    } else if (option == "--seconds") {
      options.seconds = number;
    } else if (option == "--seed") {
      options.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (option == "--first") {
      options.first = static_cast<long>(number);
    } else if (option == "--limit-s") {
      options.limit_s = static_cast<unsigned>(number);
    } else {
      return wrong(option);
    }
  }
  return options;
}

// ---- messages ----

std::string described(const FuzzedCall& call, const FuzzComms& comms) {
  std::string text = kCallNames[static_cast<std::size_t>(call.kind)];
  if (call.kind != CallKind::kBarrier) {
    text += " of " + std::to_string(call.count) + " " + call.type->name;
    if (reduces(call.kind)) text += std::string(", ") + kOpNames[static_cast<std::size_t>(call.op)];
    if (has_root(call.kind)) text += ", root " + std::to_string(call.root);
  }
  return text + " on " + comms.name(call.comm_index);
}

// What a rank is doing, for the handler of SIGALRM.
const char* volatile what_runs = "";

void tell_and_end(int) {
  const char* const parts[] = {"collectives_fuzz: ", what_runs, ": it takes too long\n"};
  for (const char* part : parts) {
    if (write(STDERR_FILENO, part, std::strlen(part)) < 0) _exit(2);
  }
  _exit(1);
}

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  std::fprintf(stderr, "collectives_fuzz: %s: %s\n", where.c_str(), what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

// ---- around ----

// One round's messages and other collectives: begin(), the calls, end(). They are checked too.
class Beside {
 public:
  Beside(MPI_Comm comm, const FuzzRound& round)
      : comm_(comm), kind_(round.around), me_(rank_in(comm)), num_ranks_(size_of(comm)) {
    const auto ranks = static_cast<std::uint32_t>(num_ranks_);
    sender_ = static_cast<int>(round.who % ranks);
    receiver_ =
        static_cast<int>((round.who + 1 + round.who / ranks % std::max(1U, ranks - 1)) % ranks);
    if (num_ranks_ == 1 && kind_ == Around::kSender) kind_ = Around::kNothing;
  }

  void begin() {
    constexpr std::size_t kLong = 50000;  // by rendezvous with every transport
    switch (kind_) {
      case Around::kShortMessages:
        send_to_next(16);
        break;
      case Around::kLongMessages:
        send_to_next(kLong);
        break;
      case Around::kSender:
        send_first(kLong);
        break;
      case Around::kBarriers:
        for (int i = 0; i < 3; ++i) MPI_Barrier(comm_);
        break;
      case Around::kNonblocking:
        own_.assign(3, me_ + 1);
        others_.assign(3, 0);
        MPI_Iallreduce(own_.data(), others_.data(), 3, MPI_INT, MPI_SUM, comm_, &requests_[0]);
        MPI_Ibarrier(comm_, &requests_[1]);
        break;
      case Around::kBlocking:
        gather_all();
        break;
      case Around::kNothing:
        break;
    }
  }

  // What is wrong; empty if nothing is.
  std::string end() {
    if (receives_later_) {
      MPI_Recv(others_.data(), static_cast<int>(others_.size()), MPI_INT, previous(), kTag, comm_,
               MPI_STATUS_IGNORE);
    }
    MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < others_.size(); ++i) {
      if (others_[i] != wanted(i)) return "what came beside the calls is wrong";
    }
    return "";
  }

 private:
  int next() const { return (me_ + 1) % num_ranks_; }
  int previous() const { return (me_ + num_ranks_ - 1) % num_ranks_; }
  static std::vector<int> data_of(int rank, std::size_t count) {
    std::vector<int> data(count);
    for (std::size_t i = 0; i < count; ++i) data[i] = rank * 1000 + static_cast<int>(i);
    return data;
  }

  void send_to_next(std::size_t count) {
    own_ = data_of(me_, count);
    others_.assign(count, 0);
    MPI_Isend(own_.data(), static_cast<int>(count), MPI_INT, next(), kTag, comm_, &requests_[0]);
    receives_later_ = true;
  }
  // The receiver has to help while it waits in the calls.
  void send_first(std::size_t count) {
    if (me_ == receiver_) {
      others_.assign(count, 0);
      MPI_Irecv(others_.data(), static_cast<int>(count), MPI_INT, sender_, kTag, comm_,
                &requests_[0]);
    }
    if (me_ == sender_) {
      own_ = data_of(me_, count);
      MPI_Ssend(own_.data(), static_cast<int>(count), MPI_INT, receiver_, kTag, comm_);
    }
  }
  void gather_all() {
    const std::vector<int> counts(static_cast<std::size_t>(num_ranks_), 1);
    std::vector<int> places;
    for (int rank = 0; rank < num_ranks_; ++rank) places.push_back(rank);
    others_.assign(places.size(), -1);
    MPI_Allgatherv(&me_, 1, MPI_INT, others_.data(), counts.data(), places.data(), MPI_INT, comm_);
  }
  int wanted(std::size_t i) const {
    const int index = static_cast<int>(i);
    if (kind_ == Around::kNonblocking) return num_ranks_ * (num_ranks_ + 1) / 2;
    if (kind_ == Around::kBlocking) return index;
    return (kind_ == Around::kSender ? sender_ : previous()) * 1000 + index;
  }

  MPI_Comm comm_;
  Around kind_;
  int me_;
  int num_ranks_;
  int sender_ = 0;
  int receiver_ = 0;
  bool receives_later_ = false;
  std::vector<int> own_, others_;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

// ---- results of all ranks ----

// What one call gave in one rank.
struct CallResult {
  std::uint64_t call;  // its number in the run
  std::uint64_t color;
  std::uint64_t hash;
  std::uint64_t flags;

  static constexpr std::uint64_t kAlike = 1, kFloat = 2;
};

class Results {
 public:
  void add(const CallResult& result) { own_.push_back(result); }

  // At the end of a chapter. Rank 0 returns the first pair of ranks that differ where they must
  // not: call, rank, rank; and it answers whether to `go_on`, which all return.
  using Difference = std::optional<std::tuple<std::uint64_t, int, int>>;
  Difference exchange(bool& go_on) {
    const int me = rank_in(MPI_COMM_WORLD), num_ranks = size_of(MPI_COMM_WORLD);
    Difference difference;
    int word = go_on ? 1 : 0;
    if (me != 0) {
      MPI_Send(own_.data(), static_cast<int>(own_.size() * sizeof(CallResult)), MPI_BYTE, 0, kTag,
               MPI_COMM_WORLD);
      MPI_Recv(&word, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      difference = compare(num_ranks);
      for (int rank = 1; rank < num_ranks; ++rank)
        MPI_Send(&word, 1, MPI_INT, rank, kTag, MPI_COMM_WORLD);
    }
    own_.clear();
    go_on = word != 0;
    return difference;
  }

  std::uint64_t checksum() const { return checksum_; }  // in rank 0

 private:
  static std::vector<CallResult> receive(int rank) {
    MPI_Status status;
    MPI_Probe(rank, kTag, MPI_COMM_WORLD, &status);
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    std::vector<CallResult> results(static_cast<std::size_t>(bytes) / sizeof(CallResult));
    MPI_Recv(results.data(), bytes, MPI_BYTE, rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return results;
  }

  Difference compare(int num_ranks) {
    Difference difference;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::uint64_t, int>> seen;
    for (int rank = 0; rank < num_ranks; ++rank) {
      for (const CallResult& result : rank == 0 ? own_ : receive(rank)) {
        if ((result.flags & CallResult::kFloat) != 0)
          checksum_ = mix(checksum_ ^ result.hash) + result.call;
        if ((result.flags & CallResult::kAlike) == 0) continue;
        const auto [found, is_first] =
            seen.insert({{result.call, result.color}, {result.hash, rank}});
        if (!is_first && found->second.first != result.hash && !difference)
          difference = {result.call, found->second.second, rank};
      }
    }
    return difference;
  }

  std::vector<CallResult> own_;
  std::uint64_t checksum_ = 0;
};

// ---- the run ----

class Fuzzer {
 public:
  explicit Fuzzer(const FuzzOptions& options)
      : options_(options),
        types_(element_types()),
        usable_(types_),
        source_(options, types_, usable_, comms_.size(), size_of(MPI_COMM_WORLD)),
        me_(rank_in(MPI_COMM_WORLD)) {
    MPI_Comm_dup(MPI_COMM_WORLD, &beside_);
  }
  ~Fuzzer() { MPI_Comm_free(&beside_); }
  Fuzzer(const Fuzzer&) = delete;
  Fuzzer& operator=(const Fuzzer&) = delete;

  void run() {
    if (me_ == 0 && usable_.num_wrong() > 0) {
      std::printf(
          "the MPI library's own reductions are wrong for %d pairs of datatype and "
          "operation; 0 and 1 are reduced there\n",
          usable_.num_wrong());
    }
    const auto start = std::chrono::steady_clock::now();
    long number = 0;
    for (bool go_on = true; go_on;) {
      for (int i = 0; i < kRoundsInChapter && has_more(number); ++i, ++number)
        run_round(options_.first + number);
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      go_on = options_.seconds > 0 ? spent.count() < options_.seconds : has_more(number);
      if (const auto difference = results_.exchange(go_on)) report(*difference);
    }
    if (me_ == 0) {
      std::printf(
          "collectives_fuzz: %ld rounds, %ld calls, seed %llu: all were right; checksum "
          "%016llx\n",
          number, num_calls_, static_cast<unsigned long long>(options_.seed),
          static_cast<unsigned long long>(results_.checksum()));
    }
  }

 private:
  static constexpr std::uint64_t kCallsInRound = 16;  // room for their numbers
  static_assert(kMostCallsInRound <= kCallsInRound);

  bool has_more(long number) const { return options_.seconds > 0 || number < options_.rounds; }

  std::string where(long number, const FuzzedCall& call) const {
    return "seed " + std::to_string(options_.seed) + ", round " + std::to_string(number) +
           ", rank " + std::to_string(me_) + " of " + std::to_string(size_of(MPI_COMM_WORLD)) +
           ", " + described(call, comms_);
  }

  // A name of the same datatype, where ranks may use different ones.
  MPI_Datatype synonym(const ElementType& type, Random& random) const {
    if (options_.served.empty() || !random.one_in(4)) return type.type;
    for (const ElementType& other : types_) {
      if (other.fill == type.fill && other.ops == type.ops && random.one_in(2)) return other.type;
    }
    return type.type;
  }

  // MPICH 4.0.2 reads from MPI_IN_PLACE in its algorithm for long reductions to another rank than
  // 0.
  bool crashes_in_place(const FuzzedCall& call) const {
    return call.kind == CallKind::kReduce && call.root != 0 && options_.served.empty() &&
           static_cast<std::size_t>(call.count) * call.type->bytes > 2048;
  }

  OwnChoice draw_own(const FuzzedCall& call, Random& random) const {
    OwnChoice choice;
    choice.offset = random.below(8);
    if (call.kind == CallKind::kBarrier) return choice;
    // In these the libraries take it as a rank's own matter, though MPI wants it in all or in none.
    const bool is_free = call.kind == CallKind::kAllreduce || call.kind == CallKind::kScan;
    choice.in_place = is_free ? random.one_in(3) : call.in_place;
    // Open MPI 4.1.4 hangs if some ranks give no elements, and others one element of no bytes.
    if (call.kind == CallKind::kBcast && call.count > 0 && random.one_in(3))
      (random.one_in(2) ? choice.strided : choice.backwards) = true;
    if (may_have_gaps(call, size_of(MPI_COMM_WORLD))) {
      choice.strided = random.one_in(4);
      choice.strided_in = random.one_in(4);
    }
    choice.type = synonym(*call.type, random);
    return choice;
  }

  // This rank's part of a round, on those communicators that it is in.
  void run_round(long number) {
    FuzzRound round = source_.draw(number);
    Random random(mix(mix(options_.seed) + static_cast<std::uint64_t>(number)) + 1 +
                  static_cast<std::uint64_t>(me_));
    if (round.has_fresh) comms_.make_fresh();
    std::vector<OwnCall> calls;
    std::vector<std::string> names;
    for (FuzzedCall& call : round.calls) {
      const MPI_Comm comm = comms_.comm(call.comm_index);
      if (comm == MPI_COMM_NULL) continue;
      call.root %= size_of(comm);
      call.in_place &= !crashes_in_place(call);
      calls.emplace_back(call, comm, draw_own(call, random));
      names.push_back(where(number, call));
    }
    const std::string beside_name = where(number, round.calls.front()) + ", with " +
                                    kAroundNames[static_cast<std::size_t>(round.around)] +
                                    " beside it";
    Beside beside(beside_, round);
    what_runs = beside_name.c_str();
    alarm(options_.limit_s);
    beside.begin();
    const auto ranks = static_cast<std::uint32_t>(size_of(MPI_COMM_WORLD));
    if (round.late_us > 0 && round.who % ranks == static_cast<std::uint32_t>(me_))
      usleep(round.late_us);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      what_runs = names[i].c_str();
      calls[i].run();
      if (random.one_in(16)) usleep(random.below(200));
    }
    what_runs = beside_name.c_str();
    const std::string problem = beside.end();
    alarm(0);
    if (!problem.empty()) fail(beside_name, problem);
    check(number, round, calls);
    if (round.has_fresh) comms_.free_fresh();
  }

  void check(long number, const FuzzRound& round, const std::vector<OwnCall>& calls) {
    num_calls_ += static_cast<long>(calls.size());
    std::uint64_t index = 0;
    for (const OwnCall& own : calls) {
      const FuzzedCall& call = own.call();
      const std::string problem = own.problem();
      if (!problem.empty()) fail(where(number, call), problem);
      // The same number in all ranks, whichever communicators they are in.
      while (round.calls[index].seed != call.seed) ++index;
      if (call.kind == CallKind::kBarrier) continue;
      results_.add({static_cast<std::uint64_t>(number) * kCallsInRound + index,
                    static_cast<std::uint64_t>(comms_.color(call.comm_index)), own.result_hash(),
                    (gives_all_the_same(call.kind) ? CallResult::kAlike : 0) |
                        (call.type->is_float ? CallResult::kFloat : 0)});
    }
  }

  [[noreturn]] void report(const std::tuple<std::uint64_t, int, int>& difference) const {
    const auto& [call, rank, other] = difference;
    const long number = static_cast<long>(call / kCallsInRound);
    const FuzzRound round = source_.draw(number);
    fail(
        where(number, round.calls[call % kCallsInRound]),
        "ranks " + std::to_string(rank) + " and " + std::to_string(other) + " have different bits");
  }

  FuzzOptions options_;
  FuzzComms comms_;
  std::vector<ElementType> types_;
  UsableOps usable_;
  RoundSource source_;
  MPI_Comm beside_ = MPI_COMM_NULL;
  Results results_;
  int me_;
  long num_calls_ = 0;
};

}  // namespace
}  // namespace hierbar::test

int main(int argc, char** argv) {
  using namespace hierbar::test;
  if (argc > 1 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  const auto options = parse_options(argc, argv);
  if (!options) return 2;
  MPI_Init(&argc, &argv);
  std::signal(SIGALRM, tell_and_end);
  Fuzzer(*options).run();
  MPI_Finalize();
  return 0;
}
