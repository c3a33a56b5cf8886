// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "service/process_plans.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/trusted_variable.hpp"
#include "base/variables.hpp"
#include "placement/evidence/kernel_cpus.hpp"
#include "plan/groups.hpp"
#include "plan/locality.hpp"
#include "topology/hwloc_opened.hpp"
#include "topology/load.hpp"

namespace hierbar {
namespace {

// glibc opens and reads a file for it. Asked once; cpus that come later make no plan better.
long count_online_cpus() {
  static constinit std::atomic<long> known{0};
  // relaxed, both: it publishes nothing but itself, and whoever finds 0 asks for the same number.
  long online = known.load(std::memory_order_relaxed);
  if (online <= 0) {
    online = sysconf(_SC_NPROCESSORS_ONLN);
    known.store(online, std::memory_order_relaxed);
  }
  return online;
}

}  // namespace

std::uint32_t count_cpus(const std::vector<CpuSet>& bindings) {
  CpuSet cpus;
  bool all_are_bound = !bindings.empty();
  for (const CpuSet& binding : bindings) {
    cpus |= binding;
    all_are_bound = all_are_bound && !binding.empty();
  }
  // The process's main thread: the caller may have bound itself to one cpu already.
  if (!all_are_bound) {
    if (const Result<CpuSet> own = own_cpus(getpid()); own.ok()) cpus |= *own;
  }
  // Bindings may name cpus that do not exist: a bitmap of ones is a usual way to say "anywhere".
  return static_cast<std::uint32_t>(std::min<long>(cpus.count(), count_online_cpus()));
}

namespace {

// A machine of which only the line size is known. No file has to be read for it.
Machine unknown_machine() {
  Machine machine;
  machine.units.resize(1);
  machine.units[0].labels = label_bit(Level::kMachine);
  machine.line_bytes =
      static_cast<std::uint32_t>(std::max(64L, sysconf(_SC_LEVEL1_DCACHE_LINESIZE)));
  machine.name = "unknown machine";
  return machine;
}

// The complaint about a HIERBAR_TOPOLOGY that names a file which cannot be read; else empty. Only
// the file's permissions are checked, so it costs next to nothing.
std::string unreadable_topology(const Environment& environment) {
  const std::string value = value_of(environment, kTopologyVariable);
  const bool is_file_name = value.starts_with('/') || value.starts_with("./") ||
                            value.starts_with("../") || value.ends_with(".xml");
  if (!is_file_name || access(value.c_str(), R_OK) == 0) return {};
  return bad_setting(kTopologyVariable, value, std::strerror(errno), kAllowedTopologies,
                     "the live machine is");
}

// Guards ProcessPlans. It is made at compile time, never destroyed, and locked across fork(). So a
// child never finds it taken by a thread that the child does not have, nor the state half made.
// std::call_once and the guards of local static objects would leave it so.
constinit std::mutex process_plans_mutex;

__attribute__((constructor)) void guard_process_plans_over_fork() {
  pthread_atfork([] { process_plans_mutex.lock(); }, [] { process_plans_mutex.unlock(); },
                 [] { process_plans_mutex.unlock(); });
}

// What the process knows: its settings and its machine, each read once.
class ProcessPlans {
 public:
  struct Settings {
    PlanSettings plan;
    std::optional<Profile> profile;
    int num_bad = 0;
    bool topology_is_unreadable = false;
  };
  struct Place {
    Machine machine;
    PlanLevels levels;
    bool profile_fits = false;  // the settings' profile is of this machine
  };

  // Both report what is new. References stay valid and unchanged for the life of the process.
  static const Settings& settings(const Listener& report) {
    return get([](ProcessPlans& plans) -> const Settings& { return plans.read_settings(); },
               report);
  }
  static const Place& place(const Listener& report) {
    return get([](ProcessPlans& plans) -> const Place& { return plans.read_place(); }, report);
  }
  static const Place& adopt(Machine machine) {
    return get([&](ProcessPlans& plans) -> const Place& { return plans.keep(std::move(machine)); },
               {});
  }

 private:
  // Reads under the lock, then reports without it, because the listener may call back.
  template <typename Read>
  static auto get(const Read& read, const Listener& report)
      -> decltype(read(std::declval<ProcessPlans&>())) {
    std::unique_lock lock(process_plans_mutex);
    if (instance_ == nullptr) instance_ = new ProcessPlans;
    auto& result = read(*instance_);
    std::vector<std::string> lines;
    if (report) lines.swap(instance_->unreported_);
    lock.unlock();
    for (const std::string& line : lines) report(line.c_str());
    return result;
  }

  const Settings& read_settings() {
    if (settings_) return *settings_;
    const Environment environment = own_environment();
    Settings settings;
    std::vector<std::string> problems;
    settings.plan = read_plan_settings(environment, problems);
    const std::string topology_problem = unreadable_topology(environment);
    settings.topology_is_unreadable = !topology_problem.empty();
    if (settings.topology_is_unreadable) problems.push_back(topology_problem);
    settings.profile =
        read_profile(environment, !value_of(environment, kTopologyVariable).empty(), problems);
    settings.num_bad = static_cast<int>(problems.size());
    std::move(problems.begin(), problems.end(), std::back_inserter(unreported_));
    return settings_.emplace(std::move(settings));
  }

  const Place& read_place() {
    if (place_) return *place_;
    Result<Machine> machine = read_machine(read_settings());
    if (machine) return keep(*std::move(machine));
    unreported_.push_back(machine.error() + "; plans follow the order of the participants instead");
    return place_.emplace(Place{unknown_machine(), {}, false});
  }

  static Result<Machine> read_machine(const Settings& settings) {
    if (const std::string problem = open_hwloc(); !problem.empty())
      return Error{"hwloc cannot be used (" + problem + ")"};
    return settings.topology_is_unreadable ? load_live_machine()
                                           : load_machine(trusted_variable(kTopologyVariable));
  }

  const Place& keep(Machine machine) {
    if (place_) return *place_;
    std::vector<std::string> problems = machine.warnings;
    const Settings& settings = read_settings();
    const PlanLevels levels = plan_levels(machine, settings.plan, problems);
    const std::string foreign = settings.profile ? foreign_profile(*settings.profile, machine) : "";
    if (!foreign.empty()) problems.push_back(foreign);
    const bool profile_fits = settings.profile && foreign.empty();
    std::move(problems.begin(), problems.end(), std::back_inserter(unreported_));
    return place_.emplace(Place{std::move(machine), levels, profile_fits});
  }

  // Never deleted: libomp's threads may outlive static objects.
  static inline constinit ProcessPlans* instance_ = nullptr;

  std::optional<Settings> settings_;
  std::optional<Place> place_;
  std::vector<std::string> unreported_;
};

// Where the participants of a request are on the known machine, and the levels that it asks for.
struct Located {
  const Machine& machine;
  PlanLevels levels;
  std::vector<LocalityPath> paths;
};

Located locate_participants(const PlanRequest& request, const Listener& report) {
  const ProcessPlans::Place& place = ProcessPlans::place(report);
  Located located{place.machine, place.levels, std::vector<LocalityPath>(request.num_participants)};
  if (request.settings != nullptr) {
    std::vector<std::string> problems;
    located.levels = plan_levels(place.machine, *request.settings, problems);
    for (const std::string& problem : problems) {
      if (report) report(problem.c_str());
    }
  }
  for (std::size_t i = 0; i < request.bindings.size(); ++i)
    located.paths[i] = locate(place.machine, request.bindings[i]);
  return located;
}

}  // namespace

int check_plan_settings(const Listener& report) { return ProcessPlans::settings(report).num_bad; }

const Machine& known_machine(const Listener& report) { return ProcessPlans::place(report).machine; }

const Profile* known_profile(const Listener& report) {
  return ProcessPlans::place(report).profile_fits ? &*ProcessPlans::settings(report).profile
                                                  : nullptr;
}

const Machine& adopt_machine(Machine machine) {
  return ProcessPlans::adopt(std::move(machine)).machine;
}

Result<EnginePlan> make_plan(const PlanRequest& request, const Listener& report) {
  const std::uint32_t num_participants = request.num_participants;
  if (const std::string problem = team_size_problem(num_participants); !problem.empty())
    return Error{problem};
  const ProcessPlans::Settings& known = ProcessPlans::settings(report);
  const PlanSettings& settings = request.settings != nullptr ? *request.settings : known.plan;
  ShapeOptions options;
  options.release = settings.release;
  options.page_bytes = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE));
  if (num_participants <= kMaxAlwaysFlat) {
    return build_engine_plan(std::vector<LocalityPath>(num_participants), unknown_machine(),
                             options);
  }
  const Located located = locate_participants(request, report);
  options.domain_level = located.levels.domain;
  options.num_cpus = count_cpus(request.bindings);
  if (const Profile* profile = known_profile(report)) {
    apply_profile(*profile, located.machine, located.paths, settings, options);
  }
  return build_engine_plan(located.paths, located.machine, options);
}

Result<EnginePlan> make_group_plan(const PlanRequest& request, const EnginePlan& engine,
                                   const Listener& report) {
  const Located located = locate_participants(request, report);
  return build_group_plan(build_group_tree(located.paths, located.machine, located.levels.groups),
                          engine);
}

}  // namespace hierbar
