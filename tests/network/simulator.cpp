// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/network/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <random>
#include <utility>

namespace hierbar::network {
namespace {

using Nanoseconds = std::int64_t;

Nanoseconds to_ns(double us) { return std::llround(us * 1000); }

struct Arrival {
  Nanoseconds time;
  std::uint64_t number;  // messages that arrive together are taken in the order of their sends
  std::uint32_t from;
  std::uint32_t to;
  std::uint32_t num_bytes;
};
struct Later {
  bool operator()(const Arrival& a, const Arrival& b) const {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }
};

struct Process {
  std::size_t step = 0;
  Nanoseconds now = 0;
  Nanoseconds next_send = 0;
  Nanoseconds next_receive = 0;
  bool waits = false;
  std::vector<std::uint32_t> awaited;  // from whom a message is still missing
  std::vector<Arrival> unexpected;     // in order of arrival
  std::vector<double> stamps;
};

class Simulation {
 public:
  Simulation(const std::vector<Program>& programs, const Network& network,
             const Disturbance& disturbance)
      : programs_(programs),
        network_(network),
        disturbance_(disturbance),
        processes_(programs.size()),
        random_(disturbance.seed) {}

  std::vector<std::vector<double>> run() {
    std::uniform_real_distribution<double> entry(0, disturbance_.entry_spread_us);
    for (Process& process : processes_) {
      if (disturbance_.entry_spread_us > 0) process.now = to_ns(entry(random_));
    }
    for (std::uint32_t rank = 0; rank < processes_.size(); ++rank) proceed(rank);
    while (!in_flight_.empty()) {
      const Arrival arrival = in_flight_.top();
      in_flight_.pop();
      Process& process = processes_[arrival.to];
      process.unexpected.push_back(arrival);
      if (process.waits && take_messages(process)) proceed(arrival.to);
    }
    std::vector<std::vector<double>> stamps;
    for (Process& process : processes_) stamps.push_back(std::move(process.stamps));
    return stamps;
  }

 private:
  // Runs a process until it waits for a message that is not there.
  //
  // A process that computes may be ahead of the events in time. It cannot take a message too early:
  // it takes those that have arrived by event order, and each not before its time.
  void proceed(std::uint32_t rank) {
    Process& process = processes_[rank];
    for (process.waits = false; process.step < programs_[rank].size(); ++process.step) {
      const Step& step = programs_[rank][process.step];
      switch (step.what) {
        case Step::Do::kStamp:
          process.stamps.push_back(static_cast<double>(process.now) / 1000);
          break;
        case Step::Do::kDelay:
          process.now += to_ns(step.delay_us);
          break;
        case Step::Do::kSend:
          send(rank, process, step);
          break;
        case Step::Do::kReceive:
          process.awaited = step.peers;
          process.waits = true;
          if (!take_messages(process)) return;
          --process.step;  // take_messages() has gone on already
          process.waits = false;
          break;
      }
    }
  }

  void send(std::uint32_t rank, Process& process, const Step& step) {
    const Nanoseconds start = std::max(process.now, process.next_send);
    const Nanoseconds bytes = to_ns(network_.parameters.gap_per_byte_us * step.num_bytes);
    process.next_send = start + to_ns(network_.parameters.gap_us) + bytes;
    process.now = start + overhead(network_.parameters.send_overhead_us);
    const Nanoseconds time = process.now + latency(rank, step.peers[0]) + bytes;
    in_flight_.push({time, num_messages_++, rank, step.peers[0], step.num_bytes});
  }

  // Takes what is awaited and there. Returns true, and goes to the next step, if nothing is
  // missing.
  bool take_messages(Process& process) {
    std::erase_if(process.unexpected, [&](const Arrival& arrival) {
      const auto found = std::find(process.awaited.begin(), process.awaited.end(), arrival.from);
      if (found == process.awaited.end()) return false;
      process.awaited.erase(found);
      const Nanoseconds start = std::max({process.now, arrival.time, process.next_receive});
      process.next_receive = start + to_ns(network_.parameters.gap_us +
                                           network_.parameters.gap_per_byte_us * arrival.num_bytes);
      process.now = start + overhead(network_.parameters.receive_overhead_us);
      return true;
    });
    if (!process.awaited.empty()) return false;
    ++process.step;
    return true;
  }

  Nanoseconds latency(std::uint32_t from, std::uint32_t to) {
    const double mean_us = network_.latency_between_us(from, to);
    if (disturbance_.latency_tail <= 0 || mean_us <= 0) return to_ns(mean_us);
    std::exponential_distribution<double> tail(1 / (disturbance_.latency_tail * mean_us));
    return to_ns(mean_us + tail(random_));
  }
  Nanoseconds overhead(double mean_us) {
    if (disturbance_.overhead_spread <= 0) return to_ns(mean_us);
    std::uniform_real_distribution<double> share(1 - disturbance_.overhead_spread,
                                                 1 + disturbance_.overhead_spread);
    return to_ns(mean_us * share(random_));
  }

  const std::vector<Program>& programs_;
  const Network& network_;
  const Disturbance& disturbance_;
  std::vector<Process> processes_;
  std::mt19937_64 random_;
  std::priority_queue<Arrival, std::vector<Arrival>, Later> in_flight_;
  std::uint64_t num_messages_ = 0;
};

}  // namespace

Program barrier_program(Kind kind, std::uint32_t rank, std::uint32_t size) {
  Program program{Step{}};
  for (const Round& round : rounds(kind, rank, size)) {
    for (const std::uint32_t to : round.send_to) program.push_back({Step::Do::kSend, {to}, 0, 0});
    if (!round.receive_from.empty())
      program.push_back({Step::Do::kReceive, round.receive_from, 0, 0});
  }
  program.push_back(Step{});
  return program;
}

std::vector<std::vector<double>> simulate(const std::vector<Program>& programs,
                                          const Network& network, const Disturbance& disturbance) {
  return Simulation(programs, network, disturbance).run();
}

double simulate_barrier_us(Kind kind, std::uint32_t size, const Network& network,
                           Disturbance disturbance, std::uint32_t num_barriers) {
  std::vector<Program> programs;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    programs.push_back(barrier_program(kind, rank, size));
  double sum_us = 0;
  for (std::uint32_t i = 0; i < num_barriers; ++i) {
    double entry_us = 0, exit_us = 0;
    for (const std::vector<double>& stamps : simulate(programs, network, disturbance)) {
      entry_us = std::max(entry_us, stamps.front());
      exit_us = std::max(exit_us, stamps.back());
    }
    sum_us += exit_us - entry_us;
    ++disturbance.seed;
  }
  return sum_us / num_barriers;
}

}  // namespace hierbar::network
