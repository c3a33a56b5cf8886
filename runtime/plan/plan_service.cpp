// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/plan_service.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/locality.hpp"
#include "plan/plan_text.hpp"
#include "plan/settings.hpp"
#include "plan/shape.hpp"
#include "topology/load.hpp"
#include "topology/machine.hpp"
#include "topology/machine_text.hpp"

#define HIERBAR_EXPORT extern "C" __attribute__((visibility("default")))

namespace hierbar {
namespace {

// What an adapter holds is the base; the arrays behind it go with it.
struct OwnedPlan : hierbar_plan {
  explicit OwnedPlan(EnginePlan plan) : hierbar_plan(), arrays(std::move(plan)) {
    static_cast<hierbar_plan&>(*this) = arrays.view();
  }

  const EnginePlan arrays;
};

// A machine of which only the line size is known, which needs no file of the system to be read.
Machine unknown_machine() {
  Machine machine;
  machine.units.resize(1);
  machine.units[0].labels = 1U << static_cast<int>(Level::kMachine);
  machine.line_bytes = static_cast<std::uint32_t>(std::max(64L, sysconf(_SC_LEVEL1_DCACHE_LINESIZE)));
  machine.name = "unknown machine";
  return machine;
}

// Guards Knowledge. Made at compile time and never destroyed, and locked over fork(): a child never finds it taken by a thread
// that it does not have, nor the state half made. (std::call_once and the guards of local static objects would leave it so.)
constinit std::mutex knowledge_mutex;

__attribute__((constructor)) void guard_knowledge_over_fork() {
  pthread_atfork([] { knowledge_mutex.lock(); }, [] { knowledge_mutex.unlock(); }, [] { knowledge_mutex.unlock(); });
}

// What the process knows: its settings and the machine, each read once.
class Knowledge {
 public:
  struct Settings {
    PlanSettings plan;
    int num_bad = 0;
    bool topology_is_unreadable = false;
  };
  struct Place {
    Machine machine;
    PlanLevels levels;
  };

  // Both report what is new; references stay valid and unchanged for the life of the process.
  static const Settings& settings(hierbar_line_fn report, void* context) {
    return get([](Knowledge& knowledge) -> const Settings& { return knowledge.read_settings(); }, report, context);
  }
  static const Place& place(hierbar_line_fn report, void* context) {
    return get([](Knowledge& knowledge) -> const Place& { return knowledge.read_place(); }, report, context);
  }

 private:
  // Reads under the lock, then reports without it: the listener may call back.
  template <typename Read>
  static auto get(const Read& read, hierbar_line_fn report, void* context) -> decltype(read(std::declval<Knowledge&>())) {
    std::unique_lock lock(knowledge_mutex);
    if (instance_ == nullptr) instance_ = new Knowledge;
    auto& result = read(*instance_);
    std::vector<std::string> lines;
    if (report != nullptr) lines.swap(instance_->unreported_);
    lock.unlock();
    for (const std::string& line : lines) report(context, line.c_str());
    return result;
  }

  const Settings& read_settings() {
    if (settings_) return *settings_;
    Settings settings;
    std::vector<std::string> problems;
    settings.plan = read_plan_settings(problems);
    const std::string topology_problem = unreadable_topology();
    settings.topology_is_unreadable = !topology_problem.empty();
    if (settings.topology_is_unreadable) problems.push_back(topology_problem);
    settings.num_bad = static_cast<int>(problems.size());
    std::move(problems.begin(), problems.end(), std::back_inserter(unreported_));
    return settings_.emplace(std::move(settings));
  }

  const Place& read_place() {
    if (place_) return *place_;
    const Settings& settings = read_settings();
    Result<Machine> machine =
        settings.topology_is_unreadable ? load_live_machine() : load_machine(std::getenv(kTopologyVariable));
    std::vector<std::string> problems;
    Place place;
    if (machine) {
      place.machine = *std::move(machine);
      problems = place.machine.warnings;
      place.levels = plan_levels(place.machine, settings.plan, problems);
    } else {
      place.machine = unknown_machine();
      problems.push_back(machine.error() + "; plans follow the order of the participants instead");
    }
    std::move(problems.begin(), problems.end(), std::back_inserter(unreported_));
    return place_.emplace(std::move(place));
  }

  static inline constinit Knowledge* instance_ = nullptr;  // never deleted: libomp's threads may outlive static objects

  std::optional<Settings> settings_;
  std::optional<Place> place_;
  std::vector<std::string> unreported_;
};

Result<EnginePlan> make_plan(std::uint32_t num_participants, const hierbar_cpus* cpus, hierbar_line_fn report, void* context) {
  if (const std::string problem = team_size_problem(num_participants); !problem.empty()) return Error{problem};
  ShapeOptions options;
  options.release = Knowledge::settings(report, context).plan.release;
  options.page_bytes = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE));
  std::vector<LocalityPath> paths(num_participants);
  if (num_participants <= kMaxAlwaysFlat) return build_engine_plan(paths, unknown_machine(), options);

  const Knowledge::Place& place = Knowledge::place(report, context);
  options.domain_level = place.levels.domain;
  for (std::uint32_t i = 0; cpus != nullptr && i < num_participants; ++i) {
    paths[i] = locate(place.machine, CpuSet(cpus[i].bits, cpus[i].num_words));
  }
  return build_engine_plan(paths, place.machine, options);
}

void tell(hierbar_line_fn report, void* context, const char* line) {
  if (report != nullptr) report(context, line);
}

void tell_all(hierbar_line_fn report, void* context, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) tell(report, context, line.c_str());
}

}  // namespace
}  // namespace hierbar

HIERBAR_EXPORT uint32_t hierbar_plan_abi_version(void) { return HIERBAR_PLAN_ABI_VERSION; }

HIERBAR_EXPORT int hierbar_check_settings(hierbar_line_fn report, void* context) try {
  return hierbar::Knowledge::settings(report, context).num_bad;
} catch (const std::exception& error) {
  hierbar::tell(report, context, error.what());
  return 0;
}

HIERBAR_EXPORT int hierbar_plan_create(uint32_t num_participants, const hierbar_cpus* cpus, hierbar_line_fn report, void* context,
                                       const hierbar_plan** plan) try {
  *plan = nullptr;
  hierbar::Result<hierbar::EnginePlan> made = hierbar::make_plan(num_participants, cpus, report, context);
  if (!made) {
    hierbar::tell(report, context, made.error().c_str());
    return EINVAL;
  }
  *plan = new hierbar::OwnedPlan(*std::move(made));
  return 0;
} catch (const std::exception& error) {
  hierbar::tell(report, context, error.what());
  return ENOMEM;
}

HIERBAR_EXPORT void hierbar_plan_destroy(const hierbar_plan* plan) { delete static_cast<const hierbar::OwnedPlan*>(plan); }

HIERBAR_EXPORT void hierbar_describe_machine(hierbar_line_fn print, void* context) try {
  const hierbar::Machine& machine = hierbar::Knowledge::place(print, context).machine;
  hierbar::tell_all(print, context, hierbar::describe(machine, hierbar::Detail::kCollapsed));
} catch (const std::exception& error) {
  hierbar::tell(print, context, error.what());
}

HIERBAR_EXPORT void hierbar_describe_plan(const hierbar_plan* plan, hierbar_line_fn print, void* context) try {
  hierbar::tell_all(print, context, hierbar::describe_engine_plan(*plan));
} catch (const std::exception& error) {
  hierbar::tell(print, context, error.what());
}
