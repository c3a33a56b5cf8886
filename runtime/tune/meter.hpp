// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plan/shape.hpp"
#include "tune/ping_pong.hpp"

namespace hierbar {

// The barriers of one team, for each of some plans.
class TeamMeter {
 public:
  virtual ~TeamMeter() = default;
  // ns from one barrier to the next, back to back, in one short batch.
  virtual double period_ns(std::size_t plan) = 0;
};

// What tuning measures with. An interface, because tests tune machines that they do not run on.
class Meter {
 public:
  virtual ~Meter() = default;
  virtual double pause_ns() = 0;
  virtual OneWay one_way(std::uint32_t cpu, std::uint32_t other_cpu) = 0;
  // Participant i runs on cpus[i]; each plan is of as many participants.
  virtual std::unique_ptr<TeamMeter> team(const std::vector<std::uint32_t>& cpus, const std::vector<EnginePlan>& plans) = 0;
};

// Threads on this machine. Its functions throw std::system_error where there cannot be so many, and std::bad_alloc.
std::unique_ptr<Meter> make_thread_meter();

}  // namespace hierbar
