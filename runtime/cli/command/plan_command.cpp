// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/commands.hpp"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/trusted_variable.hpp"
#include "base/variables.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/option/network_options.hpp"
#include "plan/groups.hpp"
#include "plan/locality.hpp"
#include "plan/plan_text.hpp"
#include "plan/profile.hpp"
#include "plan/settings.hpp"
#include "plan/shape.hpp"

namespace hierbar {
namespace {

using nlohmann::ordered_json;

constexpr const char* kMapOption = "--map";
constexpr const char* kLevelsOption = "--levels";
constexpr const char* kReleaseOption = "--release";

struct PlanOptions {
  std::string num_participants;
  std::string mapping = "core";
  std::string description;
  std::string levels;
  std::string release;
  MeetingOptions meeting;
  bool json = false;
};

// ---- as JSON ----

// {"depth", "stepped_aside": null | reason,
//  "levels": [{"name": "G1", "level": "numa", "groups": [{"leader", "members": []}]}]}
ordered_json to_json(const GroupTree& tree) {
  ordered_json levels = ordered_json::array();
  for (std::size_t i = 0; i < tree.levels.size(); ++i) {
    ordered_json groups = ordered_json::array();
    for (const Group& group : tree.levels[i].groups) {
      groups.push_back(ordered_json{{"leader", group.leader()}, {"members", group.members}});
    }
    levels.push_back(ordered_json{{"name", group_level_number(i)},
                                  {"level", group_level_name(tree.levels[i])},
                                  {"groups", std::move(groups)}});
  }
  ordered_json json{
      {"depth", tree.depth}, {"stepped_aside", nullptr}, {"levels", std::move(levels)}};
  if (!tree.stepped_aside.empty()) json["stepped_aside"] = tree.stepped_aside;
  return json;
}

// {"depth", "gather_levels", "release", "leaders": [], "crews": [[]],
//  "arities": {"exchange", "gather": {children: parents}},
//  "line_bytes", "lines_per_slot", "num_slots",
//  "participants": [{"parent", "children": [], "slot"}]}
ordered_json to_json(const hierbar_plan& plan) {
  ordered_json gather = ordered_json::object();
  for (const auto& [num_children, num_parents] : gather_arities(plan))
    gather[std::to_string(num_children)] = num_parents;
  ordered_json participants = ordered_json::array();
  for (std::uint32_t i = 0; i < plan.num_participants; ++i) {
    const hierbar_plan_node& node = plan.nodes[i];
    const std::uint32_t* first = plan.children + node.first_child;
    participants.push_back(
        ordered_json{{"parent", node.parent},
                     {"children", std::vector<std::uint32_t>(first, first + node.num_children)},
                     {"slot", node.slot}});
  }
  return ordered_json{
      {"depth", plan.depth},
      {"gather_levels", num_gather_levels(plan)},
      {"release", release_name(plan.release)},
      {"leaders", std::vector<std::uint32_t>(plan.leaders, plan.leaders + plan.num_leaders)},
      {"crews", crews_of(plan)},
      {"arities", {{"exchange", plan.num_leaders}, {"gather", std::move(gather)}}},
      {"line_bytes", plan.line_bytes},
      {"lines_per_slot", HIERBAR_LINES_PER_SLOT},
      {"num_slots", plan.num_slots},
      {"participants", std::move(participants)}};
}

// ---- the command ----

// Of the nodes, the first have one more if not all can have the same. Returns how many those have.
std::uint32_t parse_num_participants(const std::string& text, std::uint32_t num_nodes) {
  const std::uint32_t number = parse_count(text, kMaxParticipants);
  if (number < num_nodes) {
    refuse(kParticipantsOption, text, "no such number of participants",
           std::to_string(num_nodes) + " to " + std::to_string(kMaxParticipants));
  }
  return (number + num_nodes - 1) / num_nodes;
}

// The settings of the environment, as programs read them. Options override them.
PlanSettings chosen_settings(const CLI::App& command, const PlanOptions& options) {
  std::vector<std::string> problems;
  PlanSettings settings = read_plan_settings(own_environment(), problems);
  for (const std::string& problem : problems) std::cerr << "hierbar: " << problem << '\n';
  if (command.count(kLevelsOption) > 0) {
    settings.levels =
        accept(parse_levels(options.levels), kLevelsOption, options.levels, allowed_level_lists());
  }
  if (command.count(kReleaseOption) > 0) {
    settings.release_is_chosen = !is_automatic(options.release);
    settings.release =
        accept(parse_release(options.release), kReleaseOption, options.release, kAllowedReleases);
  }
  return settings;
}

// A level that the machine does not have is an error in an option, and a warning in the
// environment.
PlanLevels chosen_levels(const CLI::App& command, const PlanOptions& options,
                         const Machine& machine, const PlanSettings& settings) {
  if (command.count(kLevelsOption) > 0 && !settings.levels.empty()) {
    accept(levels_on_machine(machine, settings.levels), kLevelsOption, options.levels,
           allowed_levels_on_machine(machine));
  }
  std::vector<std::string> problems;
  PlanLevels levels = plan_levels(machine, settings, problems);
  for (const std::string& problem : problems) std::cerr << "hierbar: " << problem << '\n';
  return levels;
}

// The profile that programs on this machine use. If it is of another machine, it is ignored with a
// message, as in programs.
std::optional<Profile> chosen_profile(const CLI::App& command, const Machine& machine) {
  const char* topology = trusted_variable(kTopologyVariable);
  const bool other_machine =
      command.count(kTopologyOption) > 0 || (topology != nullptr && *topology != '\0');
  std::vector<std::string> problems;
  std::optional<Profile> profile = read_profile(own_environment(), other_machine, problems);
  if (const std::string foreign = profile ? foreign_profile(*profile, machine) : "";
      !foreign.empty()) {
    problems.push_back(foreign);
    profile.reset();
  }
  for (const std::string& problem : problems) std::cerr << "hierbar: " << problem << '\n';
  return profile;
}

// Counted on the described machine, because that may be another one than this.
std::uint32_t num_cpus_of(const Machine& machine, const std::vector<CpuSet>& bindings) {
  CpuSet cpus;
  for (const CpuSet& binding : bindings) cpus |= binding.empty() ? machine.allowed : binding;
  return cpus.count();
}

void print_text(const std::string& heading, const GroupTree& groups, const hierbar_plan& plan) {
  std::cout << heading << "\n\n";
  for (const std::string& line : describe_group_tree(groups)) std::cout << line << '\n';
  std::cout << '\n';
  for (const std::string& line : describe_engine_plan(plan)) std::cout << line << '\n';
}

void show(const CLI::App& command, const PlanOptions& options) {
  const std::optional<NodesMeeting> meeting = choose_meeting(command, options.meeting);
  const std::uint32_t num_nodes = meeting ? meeting->num_nodes : 1;
  const std::uint32_t num_participants =
      parse_num_participants(options.num_participants, num_nodes);
  const Mapping mapping =
      accept(parse_mapping(options.mapping), kMapOption, options.mapping, kAllowedMappings);
  const PlanSettings settings = chosen_settings(command, options);
  const Machine machine = load_chosen_machine(command, options.description);
  const PlanLevels levels = chosen_levels(command, options, machine, settings);

  const Result<std::vector<CpuSet>> bindings = map_participants(machine, mapping, num_participants);
  if (!bindings) refuse(kMapOption, options.mapping, bindings.error(), "none");
  const std::vector<LocalityPath> paths = locate_all(machine, *bindings);
  const GroupTree groups = build_group_tree(paths, machine, levels.groups);
  ShapeOptions shape{.release = settings.release,
                     .domain_level = levels.domain,
                     .num_cpus = num_cpus_of(machine, *bindings)};
  const std::optional<Profile> profile = chosen_profile(command, machine);
  if (profile && num_participants > kMaxAlwaysFlat)
    apply_profile(*profile, machine, paths, settings, shape);
  const Result<EnginePlan> plan = build_engine_plan(paths, machine, shape);

  if (!options.json) {
    const std::string on_machine =
        options.num_participants == "1" ? " participant on " : " participants on ";
    const std::string nodes = meeting ? nodes_text(num_nodes, num_participants) + ": " : "";
    print_text(
        options.num_participants + on_machine + nodes + machine.name + ", map " + options.mapping,
        groups, plan->view());
    if (meeting) print_meeting(*meeting, plan->view());
    if (profile) std::cout << '\n' << describe_profile(*profile) << '\n';
    return;
  }
  nlohmann::ordered_json json{{"machine", machine.name},
                              {"num_participants", num_participants},
                              {"map", options.mapping},
                              {"profile", shape.is_tuned ? nlohmann::ordered_json(profile->path)
                                                         : nlohmann::ordered_json()},
                              {"paper", to_json(groups)},
                              {"engine", to_json(plan->view())}};
  if (meeting) json["meeting"] = to_json(*meeting);
  std::cout << json.dump(2) << '\n';
}

constexpr const char* kPlanHelp =
    "paper   groups of every level as in M. G. Kurnosov, Vestnik SibGUTI 16(2), 2022: G1 is the "
    "lowest level\n"
    "engine  the plan that is used: arrivals are gathered along trees, the trees' leaders exchange "
    "them, and\n"
    "        the release goes back along the trees; depth counts the line transfers of one "
    "episode\n"
    "\n"
    "A profile that `hierbar tune` has made on this machine is used as in programs. \"profile\" in "
    "JSON is its path if it has\n"
    "shaped the engine's plan, else null. With HIERBAR_PROFILE=off or --topology it is not used.\n"
    "\n"
    "With --nodes the plan is that of the first node, which has at least as many participants as "
    "any other; participant 0 of\n"
    "each node meets those of the others. \"auto\" is the best schedule by the model of `hierbar "
    "meet`; programs choose by\n"
    "HIERBAR_MPI_MEETING.\n"
    "\n"
    "The lowest of the chosen levels is also the engine's domain, inside which there is one "
    "leader.\n"
    "\n"
    "Examples:\n"
    "  hierbar plan --participants 16\n"
    "  hierbar plan --participants 14 --map numa --levels numa,package --topology 'pack:2 [numa] "
    "l3:4 core:8 pu:1'\n"
    "  hierbar plan --participants 128 --topology node17.xml --json\n"
    "  hierbar plan --participants 256 --nodes 16 --parameters L=1.2,o_s=0.3,o_r=0.5,g=0.2\n";

}  // namespace

void add_plan_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "plan", "Show who waits for whom: the paper's groups and the plan that the engine uses");
  auto options = std::make_shared<PlanOptions>();
  command
      ->add_option(kParticipantsOption, options->num_participants,
                   "Participants of the barrier, threads or ranks: 1 to " +
                       std::to_string(kMaxParticipants) + ";\nwith --nodes on all nodes together")
      ->required()
      ->type_name("N");
  command
      ->add_option(kMapOption, options->mapping,
                   std::string("Where the participants run: ") + kAllowedMappings)
      ->type_name("core|numa|package|none")
      ->capture_default_str();
  refuse_name(*command, "-n", kParticipantsOption);
  add_machine_option(*command, options->description);
  command
      ->add_option(kLevelsOption, options->levels,
                   std::string("Levels of the groups: ") + allowed_level_lists() +
                       "; default: HIERBAR_LEVELS")
      ->type_name("LIST");
  command
      ->add_option(
          kReleaseOption, options->release,
          std::string("How a parent releases: ") + kAllowedReleases + "; default: HIERBAR_RELEASE")
      ->type_name("auto|flags|lines");
  add_meeting_options(*command, options->meeting);
  command->add_flag("--json", options->json,
                    "Print JSON: every group, and every participant's parent, children and slot");
  command->footer(kPlanHelp);
  command->callback([command, options] { show(*command, *options); });
}

}  // namespace hierbar
