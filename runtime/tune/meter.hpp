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

// Measures the barriers of one team, for each of several plans.
class TeamMeter {
 public:
  virtual ~TeamMeter() = default;
  // The period of a plan in ns: from one barrier to the next, without work in between, over one
  // short batch.
  virtual double period_ns(std::size_t plan) = 0;
};

// The measurements that tuning needs. It is an interface because tests tune machines on which they
// do not run.
class Meter {
 public:
  virtual ~Meter() = default;
  virtual double pause_ns() = 0;
  virtual OneWay one_way(std::uint32_t cpu, std::uint32_t other_cpu) = 0;
  // Participant i runs on cpus[i]. Every plan has as many participants as there are cpus.
  virtual std::unique_ptr<TeamMeter> team(const std::vector<std::uint32_t>& cpus, const std::vector<EnginePlan>& plans) = 0;
};

// A meter with threads of this machine. Its functions throw std::system_error if the threads cannot
// be made, and std::bad_alloc.
std::unique_ptr<Meter> make_thread_meter();

}  // namespace hierbar
