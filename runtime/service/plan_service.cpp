// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "service/plan_service.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "base/levels.h"
#include "base/variables.hpp"
#include "plan/groups.hpp"
#include "plan/plan_text.hpp"
#include "service/process_plans.hpp"
#include "topology/export/machine_text.hpp"

#define HIERBAR_EXPORT extern "C" __attribute__((visibility("default")))

namespace hierbar {
namespace {

// The adapter holds the base class. The arrays behind it are destroyed with it.
struct OwnedPlan : hierbar_plan {
  explicit OwnedPlan(EnginePlan plan) : hierbar_plan(), arrays(std::move(plan)) {
    static_cast<hierbar_plan&>(*this) = arrays.view();
  }

  const EnginePlan arrays;
};

Listener listener(hierbar_line_fn report, void* context) {
  if (report == nullptr) return {};
  return [report, context](const char* line) { report(context, line); };
}

PlanRequest request_of(std::uint32_t num_participants, const hierbar_cpus* cpus) {
  PlanRequest request;
  request.num_participants = num_participants;
  if (cpus == nullptr || num_participants > kMaxParticipants) return request;
  request.bindings.reserve(num_participants);
  for (std::uint32_t i = 0; i < num_participants; ++i)
    request.bindings.emplace_back(cpus[i].bits, cpus[i].num_words);
  return request;
}

Result<EnginePlan> make_plan_of_groups(const PlanRequest& request, const Listener& report) {
  Result<EnginePlan> engine = make_plan(request, report);
  return engine ? make_group_plan(request, *engine, report) : std::move(engine);
}

void report_line(hierbar_line_fn report, void* context, const char* line) {
  if (report != nullptr) report(context, line);
}

void report_lines(hierbar_line_fn report, void* context, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) report_line(report, context, line.c_str());
}

// Calls make(request, listener), which makes the plan. See hierbar_plan_create().
template <class Make>
int create_plan(std::uint32_t num_participants, const hierbar_cpus* cpus, hierbar_line_fn report,
                void* context, const hierbar_plan** plan, Make&& make) try {
  *plan = nullptr;
  Result<EnginePlan> made = make(request_of(num_participants, cpus), listener(report, context));
  if (!made) {
    report_line(report, context, made.error().c_str());
    return EINVAL;
  }
  *plan = new OwnedPlan(*std::move(made));
  return 0;
} catch (const std::exception& error) {
  report_line(report, context, error.what());
  return ENOMEM;
}

}  // namespace
}  // namespace hierbar

HIERBAR_EXPORT uint32_t hierbar_plan_abi_version(void) { return HIERBAR_PLAN_ABI_VERSION; }

HIERBAR_EXPORT int hierbar_check_settings(hierbar_line_fn report, void* context) try {
  hierbar::report_lines(report, context, hierbar::untold_misspelt_variables());
  return hierbar::check_plan_settings(hierbar::listener(report, context));
} catch (const std::exception& error) {
  hierbar::report_line(report, context, error.what());
  return 0;
}

HIERBAR_EXPORT int hierbar_plan_create(uint32_t num_participants, const hierbar_cpus* cpus,
                                       hierbar_line_fn report, void* context,
                                       const hierbar_plan** plan) {
  return hierbar::create_plan(num_participants, cpus, report, context, plan, hierbar::make_plan);
}

HIERBAR_EXPORT int hierbar_plan_create_groups(uint32_t num_participants, const hierbar_cpus* cpus,
                                              hierbar_line_fn report, void* context,
                                              const hierbar_plan** plan) {
  return hierbar::create_plan(num_participants, cpus, report, context, plan,
                              hierbar::make_plan_of_groups);
}

HIERBAR_EXPORT void hierbar_plan_destroy(const hierbar_plan* plan) {
  delete static_cast<const hierbar::OwnedPlan*>(plan);
}

HIERBAR_EXPORT void hierbar_plan_units(const hierbar_plan* plan, const hierbar_cpus* cpus,
                                       uint8_t* units, uint8_t* exchange) try {
  std::fill_n(units, plan->num_participants, std::uint8_t{HIERBAR_UNIT_UNKNOWN});
  *exchange = HIERBAR_UNIT_UNKNOWN;
  if (cpus == nullptr) return;
  const hierbar::Machine& machine = hierbar::known_machine({});
  const std::vector<hierbar::CpuSet> bindings =
      hierbar::request_of(plan->num_participants, cpus).bindings;
  const hierbar::GroupUnits found =
      hierbar::find_group_units(*plan, machine, hierbar::locate_all(machine, bindings));
  std::copy(found.gather.begin(), found.gather.end(), units);
  *exchange = found.exchange;
} catch (const std::exception&) {
}

HIERBAR_EXPORT void hierbar_describe_machine(hierbar_line_fn print, void* context) try {
  const hierbar::Machine& machine = hierbar::known_machine(hierbar::listener(print, context));
  hierbar::report_lines(print, context, hierbar::describe(machine, hierbar::Detail::kCollapsed));
  if (const hierbar::Profile* profile = hierbar::known_profile(hierbar::listener(print, context))) {
    hierbar::report_lines(print, context, {"", hierbar::describe_profile(*profile)});
  }
} catch (const std::exception& error) {
  hierbar::report_line(print, context, error.what());
}

HIERBAR_EXPORT void hierbar_describe_plan(const hierbar_plan* plan, hierbar_line_fn print,
                                          void* context) try {
  hierbar::report_lines(print, context, hierbar::describe_engine_plan(*plan));
} catch (const std::exception& error) {
  hierbar::report_line(print, context, error.what());
}
