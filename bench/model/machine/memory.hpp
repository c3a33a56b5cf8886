// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "bench/common/random.hpp"
#include "bench/model/machine/machine.hpp"

namespace hierbar::bench::model {

using Time = double;  // ns of simulated time

// The cost of an access to a line, and its effect on the other cores' copies: a directory protocol,
// expressed in times. An access is a transaction, whose times are computed when it begins. Each
// line, each exit of a domain, and the link between packages serve one transaction after the
// other, in the order in which these came.
//
//   read   fetches from a copy in the reader's own domain, if there is one and the reads queue per
//          domain (ReadQueue); else from the owner, which leaves a copy in the reader's domain
//   write  takes the line away from all cores that have it; their copies stay readable until the
//          write is complete
class Memory {
 public:
  // Forgets all lines. `domain_of_line` has the domain in whose memory each line is.
  void reset(const Parameters& parameters, const Places& places,
             std::vector<std::uint32_t> domain_of_line, std::uint64_t seed);

  // Whether the reader has a copy. If the copy is on its way, `arrives` is its time.
  enum class Presence : std::uint8_t { kAbsent, kComing, kHere };
  struct Poll {
    Presence presence;
    Time arrives;
  };
  Poll poll(std::uint32_t reader, std::uint32_t line, Time now) const;

  // These return when the transaction is complete. A write completes at `not_before` at the
  // earliest.
  Time read(std::uint32_t reader, std::uint32_t line, Time now);
  Time write(std::uint32_t writer, std::uint32_t line, Time now, Time not_before);
  Time read_modify_write(std::uint32_t writer, std::uint32_t line, Time now);

  // Must be called when a read-modify-write of read_modify_write() is complete.
  void end_read_modify_write(std::uint32_t line) { --lines_[line].num_waiting; }

  // Varies a cost a little, so that participants do not stay in a step in which real ones would not
  // stay.
  double vary(double cost);

 private:
  static constexpr Time kForever = 1e300;
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  struct Copy {
    std::uint32_t owner;
    Time arrives;
    Time valid_until;
  };
  struct DomainCopy {
    std::uint32_t domain;
    Time arrives;
    Time busy_until;
  };
  struct Line {
    Time busy_until = 0;
    std::uint32_t writer = kNobody;   // the last one
    std::uint32_t num_waiting = 0;    // read-modify-writes in flight
    std::vector<Copy> copies;         // including those that a write in flight takes
    std::vector<DomainCopy> domains;  // domains that have a copy once all in flight is complete
  };

  // Who has copies once all that is in flight is complete.
  struct Sharing {
    bool mine = false;
    std::uint32_t num_others = 0;
    std::uint32_t other = kNobody;  // one of them
    bool alone() const { return mine && num_others == 0; }
  };

  double latency(Distance distance) const {
    return parameters_.latency[static_cast<std::size_t>(distance)];
  }
  DomainCopy* domain_copy(Line& line, std::uint32_t domain);
  double nearest_copy(const Line& line, std::uint32_t reader, std::uint32_t home) const;
  Sharing sharing(const Line& line, std::uint32_t writer) const;
  double write_cost(const Line& line, const Sharing& sharing, std::uint32_t writer,
                    std::uint32_t home) const;
  Time pass_exits(std::uint32_t participant, std::uint32_t home, Time now);
  void take(Line& line, std::uint32_t writer, Time start, Time complete);

  Parameters parameters_;
  const Places* places_ = nullptr;
  std::vector<Line> lines_;
  std::vector<std::uint32_t> domain_of_line_;
  std::vector<Time> exit_busy_until_;
  Time link_busy_until_ = 0;
  test::Random random_{0};
};

}  // namespace hierbar::bench::model
