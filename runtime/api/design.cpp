// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "api/design.hpp"

#include <atomic>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "base/trusted_variable.hpp"
#include "base/variables.hpp"
#include "plan/settings.hpp"
#include "service/process_plans.hpp"

namespace hierbar {
namespace {

bool in_range(std::int64_t value, std::int64_t max) {
  return value == HIERBAR_AUTO || (value >= 0 && value <= max);
}

std::string out_of_range(const char* name, std::int64_t value, std::int64_t max) {
  return std::string(name) + ": '" + std::to_string(value) + "': out of range; allowed: 0 to " +
         std::to_string(max) + ", or HIERBAR_AUTO (" + std::to_string(HIERBAR_AUTO) + ")";
}

}  // namespace

WaitLimits limits_of(const hierbar_waiting& waiting) {
  return {waiting.spin_polls, waiting.yields, waiting.sleep_limit_ns};
}

std::string limits_problem(const WaitLimits& limits) {
  if (!in_range(limits.spin_polls, HIERBAR_MAX_POLLS)) {
    return out_of_range("waiting.spin_polls", limits.spin_polls, HIERBAR_MAX_POLLS);
  }
  if (!in_range(limits.yields, HIERBAR_MAX_POLLS))
    return out_of_range("waiting.yields", limits.yields, HIERBAR_MAX_POLLS);
  if (!in_range(limits.sleep_limit_ns, HIERBAR_MAX_SLEEP_NS)) {
    return out_of_range("waiting.sleep_limit_ns", limits.sleep_limit_ns, HIERBAR_MAX_SLEEP_NS);
  }
  return {};
}

WaitPolicy wait_policy(const WaitLimits& of_barrier, const hierbar_waiting* own,
                       bool oversubscribed) {
  WaitLimits limits = of_barrier;
  WaitPolicy policy =
      oversubscribed ? WaitPolicy::of_threads().outnumbered() : WaitPolicy::of_threads();
  policy.pauses_per_poll = measure_pauses_per_poll();
  if (own != nullptr) {
    if (own->spin_polls != HIERBAR_AUTO) limits.spin_polls = own->spin_polls;
    if (own->yields != HIERBAR_AUTO) limits.yields = own->yields;
    if (own->sleep_limit_ns != HIERBAR_AUTO) limits.sleep_limit_ns = own->sleep_limit_ns;
    policy.progress = own->progress;
    policy.progress_context = own->progress_context;
  }
  if (limits.spin_polls != HIERBAR_AUTO && !oversubscribed)
    policy.spin_polls = static_cast<int>(limits.spin_polls);
  if (limits.yields != HIERBAR_AUTO) policy.yields = static_cast<int>(limits.yields);
  // All must agree on whether anybody sleeps: a writer that believes that nobody sleeps wakes
  // nobody (docs/design/waiting.md#d0008).
  policy.sleeps = of_barrier.sleep_limit_ns != 0;
  if (policy.progress != nullptr)
    policy.longest_sleep_ns = WaitPolicy::kLongestSleepWithProgress_ns;
  if (limits.sleep_limit_ns != HIERBAR_AUTO)
    policy.longest_sleep_ns = static_cast<long>(limits.sleep_limit_ns);  // HIERBAR_MAX_SLEEP_NS
  return policy;
}

namespace {

Listener listener_of(const hierbar_attributes& attributes) {
  if (attributes.report == nullptr)
    return [](const char* line) { std::fprintf(stderr, "hierbar: %s\n", line); };
  return [report = attributes.report, context = attributes.report_context](const char* line) {
    report(context, line);
  };
}

Result<CpuSet> read_cpuset(const hierbar_cpuset& from) {
  constexpr std::uint32_t kMaxWords = (CpuSet::kMaxParsedCpu + 1) / 64;
  if (from.num_cpus > 0 && from.cpus == nullptr)
    return Error{"num_cpus is not 0, but cpus is NULL"};
  if (from.num_words > 0 && from.bitmap == nullptr)
    return Error{"num_words is not 0, but bitmap is NULL"};
  if (from.num_words > kMaxWords)
    return Error{"num_words: '" + std::to_string(from.num_words) + "'; allowed: 0 to 16384"};
  CpuSet cpus(from.bitmap, from.num_words);
  for (std::uint32_t i = 0; i < from.num_cpus; ++i) {
    if (from.cpus[i] > CpuSet::kMaxParsedCpu) {
      return Error{"cpu '" + std::to_string(from.cpus[i]) + "'; allowed: 0 to " +
                   std::to_string(CpuSet::kMaxParsedCpu)};
    }
    cpus.set(from.cpus[i]);
  }
  return cpus;
}

Result<std::vector<CpuSet>> read_cpusets(const hierbar_attributes& attributes) {
  std::vector<CpuSet> bindings;
  if (attributes.cpusets == nullptr) return bindings;
  bindings.reserve(attributes.num_participants);
  for (std::uint32_t p = 0; p < attributes.num_participants; ++p) {
    Result<CpuSet> cpus = read_cpuset(attributes.cpusets[p]);
    if (!cpus) return Error{"cpusets[" + std::to_string(p) + "]: " + cpus.error()};
    bindings.push_back(*std::move(cpus));
  }
  return bindings;
}

// The settings of the environment, but with the levels of the attributes.
Result<PlanSettings> settings_with_levels(const char* levels) {
  std::vector<std::string> reported_elsewhere;
  PlanSettings settings = read_plan_settings(own_environment(), reported_elsewhere);
  settings.levels_text = levels;
  Result<std::vector<Level>> parsed = parse_levels(levels);
  if (!parsed)
    return Error{"levels: '" + settings.levels_text + "': " + parsed.error() +
                 "; allowed: " + allowed_level_lists()};
  settings.levels = *std::move(parsed);
  return settings;
}

// The variable's algorithm, or `hier` if it names none. That is reported once in a process: by the
// thread that sets `is_reported` first. It publishes nothing else. A flag, because some processors
// exchange no single bytes (RISC-V), and an atomic<bool> would need GCC's libatomic there.
Algorithm algorithm_of_environment(const Listener& report) {
  const char* value = trusted_variable(kAlgorithmVariable);
  if (value == nullptr || *value == '\0') return Algorithm::kHier;
  if (const std::optional<Algorithm> algorithm = parse_algorithm(value)) return *algorithm;
  static std::atomic_flag is_reported;
  if (!is_reported.test_and_set()) {
    report(
        bad_setting(kAlgorithmVariable, value, "unknown algorithm", kAllowedAlgorithms, "'hier' is")
            .c_str());
  }
  return Algorithm::kHier;
}

Result<Algorithm> choose_algorithm(const char* name, const Listener& report) {
  if (name == nullptr) return algorithm_of_environment(report);
  if (const std::optional<Algorithm> algorithm = parse_algorithm(name)) return *algorithm;
  return Error{std::string("algorithm: '") + name +
               "': unknown algorithm; allowed: " + kAllowedAlgorithms};
}

// Replaces the engine's plan by the paper's groups. If there are none, the engine runs instead.
void use_group_plan(const PlanRequest& request, const Listener& report, BarrierDesign& design) {
  Result<EnginePlan> plan = make_group_plan(request, design.plan, report);
  if (plan) {
    design.plan = *std::move(plan);
    return;
  }
  report(("algorithm topo cannot be used: " + plan.error() + "; hier is used instead").c_str());
  design.algorithm = Algorithm::kHier;
}

// What is wrong with the attribute `collectives`; empty if nothing is.
std::string collectives_problem(const hierbar_attributes& attributes) {
  if (attributes.collectives > 1)
    return "collectives: '" + std::to_string(attributes.collectives) + "'; allowed: 0, 1";
  if (attributes.collectives == 0 ||
      attributes.num_participants <= HIERBAR_MAX_COLLECTIVE_PARTICIPANTS)
    return {};
  return "num_participants: '" + std::to_string(attributes.num_participants) +
         "'; allowed with collectives: 1 to " + std::to_string(HIERBAR_MAX_COLLECTIVE_PARTICIPANTS);
}

Result<BarrierDesign> make_design(const hierbar_attributes& attributes, const Listener& report) {
  if (const std::string problem = team_size_problem(attributes.num_participants); !problem.empty())
    return Error{problem};
  BarrierDesign design;
  design.limits = limits_of(attributes.waiting);
  if (const std::string problem = limits_problem(design.limits); !problem.empty())
    return Error{problem};
  if (const std::string problem = collectives_problem(attributes); !problem.empty())
    return Error{problem};
  design.has_collectives = attributes.collectives != 0;
  Result<std::vector<CpuSet>> bindings = read_cpusets(attributes);
  if (!bindings) return Error{bindings.error()};
  design.num_cpus = count_cpus(*bindings);

  const Result<Algorithm> algorithm = choose_algorithm(attributes.algorithm, report);
  if (!algorithm) return Error{algorithm.error()};
  design.algorithm = *algorithm;
  PlanRequest request{attributes.num_participants, *std::move(bindings)};
  PlanSettings settings;
  if (attributes.levels != nullptr) {
    Result<PlanSettings> own = settings_with_levels(attributes.levels);
    if (!own) return Error{own.error()};
    settings = *std::move(own);
    request.settings = &settings;
  }
  Result<EnginePlan> plan = make_plan(request, report);
  if (!plan) return Error{plan.error()};
  design.plan = *std::move(plan);
  if (design.algorithm == Algorithm::kTopo) use_group_plan(request, report, design);
  return design;
}

}  // namespace

hierbar_status design_barrier(const hierbar_attributes* attributes, BarrierDesign& design) {
  if (attributes == nullptr) return HIERBAR_ERR_INVALID;
  if (attributes->struct_bytes != sizeof *attributes) return HIERBAR_ERR_VERSION;
  const Listener report = listener_of(*attributes);
  Result<BarrierDesign> made = make_design(*attributes, report);
  if (!made) {
    report(("hierbar_attributes: " + made.error()).c_str());
    return HIERBAR_ERR_INVALID;
  }
  design = *std::move(made);
  return HIERBAR_OK;
}

}  // namespace hierbar
