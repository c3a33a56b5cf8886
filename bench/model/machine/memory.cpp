// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/machine/memory.hpp"

#include <algorithm>
#include <utility>

namespace hierbar::bench::model {
namespace {

constexpr double kVariation = 0.08;
constexpr double kHit = 1;  // ns for a write of a line of which no other core has a copy

}  // namespace

void Memory::reset(const Parameters& parameters, const Places& places,
                   std::vector<std::uint32_t> domain_of_line, std::uint64_t seed) {
  parameters_ = parameters;
  places_ = &places;
  domain_of_line_ = std::move(domain_of_line);
  lines_.resize(domain_of_line_.size());
  for (Line& line : lines_) {
    line.busy_until = 0;
    line.writer = kNobody;
    line.num_waiting = 0;
    line.copies.clear();
    line.domains.clear();
  }
  exit_busy_until_.assign(places.num_domains(), 0);
  link_busy_until_ = 0;
  random_ = test::Random(seed);
}

double Memory::vary(double cost) {
  return cost * (1 + kVariation * (static_cast<double>(random_.next() >> 11) * 0x1p-52 - 1));
}

Memory::Poll Memory::poll(std::uint32_t reader, std::uint32_t line, Time now) const {
  for (const Copy& copy : lines_[line].copies) {
    if (copy.owner != reader || copy.valid_until <= now) continue;
    return {copy.arrives > now ? Presence::kComing : Presence::kHere, copy.arrives};
  }
  return {Presence::kAbsent, 0};
}

Memory::DomainCopy* Memory::domain_copy(Line& line, std::uint32_t domain) {
  const auto found =
      std::find_if(line.domains.begin(), line.domains.end(),
                   [domain](const DomainCopy& copy) { return copy.domain == domain; });
  return found == line.domains.end() ? nullptr : &*found;
}

// The latency to the source that answers a read: the last writer, or the nearest domain with a
// copy, or the memory of the line's home.
double Memory::nearest_copy(const Line& line, std::uint32_t reader, std::uint32_t home) const {
  if (line.writer != kNobody) {
    if (line.domains.size() <= 1) return latency(places_->between(reader, line.writer));
    double nearest = kForever;
    for (const DomainCopy& copy : line.domains) {
      nearest = std::min(nearest,
                         latency(places_->between_domains((*places_)[reader].domain, copy.domain)));
    }
    return nearest;
  }
  return latency(places_->between_domains((*places_)[reader].domain, home));
}

// Each miss leaves through the exit of the reader's domain, and that of the home's domain
// if it is another one.
Time Memory::pass_exits(std::uint32_t participant, std::uint32_t home, Time now) {
  const std::uint32_t own = (*places_)[participant].domain;
  Time& busy = exit_busy_until_[own];
  Time start = std::max(now, busy);
  busy = start + parameters_.agent;
  if (home == own) return start;
  Time& home_busy = exit_busy_until_[home];
  start = std::max(start, home_busy);
  home_busy = start + parameters_.agent;
  if (places_->package_of(own) != places_->package_of(home)) {
    start = std::max(start, link_busy_until_);
    link_busy_until_ = start + parameters_.link;
  }
  return start;
}

Time Memory::read(std::uint32_t reader, std::uint32_t line_index, Time now) {
  Line& line = lines_[line_index];
  const std::uint32_t home = domain_of_line_[line_index];
  const std::uint32_t domain = (*places_)[reader].domain;
  const Time ready = pass_exits(reader, home, now);
  DomainCopy* own =
      parameters_.read_queue == ReadQueue::kPerDomain ? domain_copy(line, domain) : nullptr;
  Time arrives = 0;
  if (own != nullptr) {
    const Time start = std::max(ready, own->busy_until);
    own->busy_until = start + parameters_.occupy_local;
    arrives = std::max(start, own->arrives) + vary(latency(Distance::kDomain) * parameters_.read);
  } else {
    const Time start = std::max(ready, line.busy_until);
    const double cost = nearest_copy(line, reader, home);
    const bool near = cost <= latency(Distance::kDomain);
    line.busy_until = start + (near ? parameters_.occupy_local : parameters_.occupy_remote);
    arrives = start + vary(cost * parameters_.read);
    if (domain_copy(line, domain) == nullptr)
      line.domains.push_back(DomainCopy{domain, arrives, start});
  }
  line.copies.push_back(Copy{reader, arrives, kForever});
  return arrives;
}

Memory::Sharing Memory::sharing(const Line& line, std::uint32_t writer) const {
  Sharing result;
  for (const Copy& copy : line.copies) {
    if (copy.valid_until < kForever) continue;
    if (copy.owner == writer) {
      result.mine = true;
    } else {
      ++result.num_others;
      result.other = copy.owner;
    }
  }
  return result;
}

// If there is one other copy and the writer has none, the cost is an exclusive transfer. Otherwise
// the farthest copy must be invalidated first.
double Memory::write_cost(const Line& line, const Sharing& sharing, std::uint32_t writer,
                          std::uint32_t home) const {
  if (sharing.alone()) return kHit;
  if (sharing.num_others == 0)
    return latency(places_->between_domains((*places_)[writer].domain, home));
  if (sharing.num_others == 1) {
    const double there = latency(places_->between(writer, sharing.other));
    return sharing.mine ? there * parameters_.upgrade + parameters_.invalidate : there;
  }
  double farthest = 0;
  for (const DomainCopy& copy : line.domains) {
    farthest = std::max(farthest,
                        latency(places_->between_domains((*places_)[writer].domain, copy.domain)));
  }
  return farthest * parameters_.upgrade + sharing.num_others * parameters_.invalidate;
}

void Memory::take(Line& line, std::uint32_t writer, Time start, Time complete) {
  std::erase_if(line.copies, [start](const Copy& copy) { return copy.valid_until <= start; });
  for (Copy& copy : line.copies) copy.valid_until = std::min(copy.valid_until, complete);
  line.copies.push_back(Copy{writer, complete, kForever});
  line.domains.assign(1, DomainCopy{(*places_)[writer].domain, complete, complete});
  line.writer = writer;
  line.busy_until = complete;
}

Time Memory::write(std::uint32_t writer, std::uint32_t line_index, Time now, Time not_before) {
  Line& line = lines_[line_index];
  const Sharing shared = sharing(line, writer);
  if (shared.alone() && std::max(line.busy_until, not_before) <= now) return now;
  const std::uint32_t home = domain_of_line_[line_index];
  const Time start = std::max(pass_exits(writer, home, now), line.busy_until);
  const Time complete = std::max(start + vary(write_cost(line, shared, writer, home)), not_before);
  take(line, writer, now, complete);
  return complete;
}

Time Memory::read_modify_write(std::uint32_t writer, std::uint32_t line_index, Time now) {
  Line& line = lines_[line_index];
  const std::uint32_t num_before = line.num_waiting++;
  const Sharing shared = sharing(line, writer);
  if (shared.alone() && line.busy_until <= now) {
    line.busy_until = now + vary(parameters_.rmw);
    return line.busy_until;
  }
  const std::uint32_t home = domain_of_line_[line_index];
  const Time start = std::max(pass_exits(writer, home, now), line.busy_until);
  // The first one that waits is the partner of a ping-pong, and the latency includes it.
  const double contention = num_before > 1 ? parameters_.contention * (num_before - 1) : 0;
  const Time complete = start + vary(write_cost(line, shared, writer, home) + contention);
  take(line, writer, now, complete);
  return complete;
}

}  // namespace hierbar::bench::model
