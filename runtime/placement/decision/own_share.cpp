// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/decision/own_share.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "placement/decision/decide.hpp"
#include "placement/evidence/veto.hpp"
#include "placement/meeting/rendezvous.hpp"

namespace hierbar {
namespace {

// What is known before any other rank is asked.
struct Own {
  PlaceSetting setting;
  Launch launch;
  PoolEvidence evidence;
  RankNeed need;
  std::optional<CpuPool> pool;  // nothing: only all ranks together know it
};

std::string seconds(std::uint64_t ns) {
  const std::uint64_t tenths = ns / 100'000'000;
  return std::to_string(tenths / 10) + (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10)) +
         " s";
}

PlaceSetting read_setting(const Environment& environment, std::vector<std::string>& warnings) {
  const std::string value = value_of(environment, kPlaceVariable);
  const Result<PlaceSetting> setting = parse_place_setting(value);
  if (setting) return *setting;
  warnings.push_back(std::string(kPlaceVariable) + ": '" + value + "': " + setting.error() +
                     "; allowed: " + kAllowedPlaceSettings + "; 'auto' is used instead");
  return {};
}

Decision nobody_moves(const Veto& veto) { return {{}, veto.text, veto_name(veto.reason)}; }

// Steps 1 to 3 of finding a share: settings, launcher, pool. Returns the reason if nothing is to be
// done.
std::optional<Decision> look_around(const ShareRequest& request, const Surroundings& around,
                                    const PlaceSetting& setting, Own& own) {
  if (const std::optional<Veto> veto = veto_by_environment(setting, around.environment))
    return nobody_moves(*veto);
  if (!request.objection.empty()) return nobody_moves({VetoReason::kUserPlaced, request.objection});
  const BindingFacts state{
      .mask = request.mask,
      .first_mask = request.first_mask,
      .is_forked_child = around.is_forked_child,
      .has_explicit_threads = request.num_threads != 0 || setting.threads == TeamSize::kShare};
  if (const std::optional<Veto> veto = veto_by_binding(state)) return nobody_moves(*veto);
  const ProcessFacts facts =
      names_launcher(around.environment) ? around.process_facts() : ProcessFacts{};
  const Result<Launch> launch = find_launch(around.environment, facts);
  if (!launch) return Decision{{}, launch.error(), "no-launcher"};
  const Result<PoolEvidence> evidence = around.pool_evidence(facts.ancestors);
  if (!evidence) return Decision{{}, evidence.error(), "no-pool"};
  own = {setting, *launch, *evidence, {request.mask, request.num_threads}, std::nullopt};
  if (Result<CpuPool> pool = choose_pool(own.evidence, setting.pool)) own.pool = *std::move(pool);
  return std::nullopt;
}

Result<CpuPool> pool_of_all(const Own& own, const std::vector<RankFacts>& all) {
  const CpuSet known = own.pool ? own.pool->cpus : CpuSet();
  PoolEvidence evidence = own.evidence;
  evidence.ranks.emplace();
  for (const RankFacts& rank : all) {
    if (rank.pool != known)
      return Error{"the ranks do not see the same cpus: " + rank.pool.to_string() + " and " +
                   known.to_string()};
    *evidence.ranks |= rank.need.mask;
  }
  if (own.pool) return *own.pool;
  return choose_pool(evidence, own.setting.pool);
}

std::vector<RankNeed> needs_of(const std::vector<RankFacts>& all) {
  std::vector<RankNeed> needs;
  for (const RankFacts& rank : all) needs.push_back(rank.need);
  return needs;
}

// The verdict at the deadline, when some ranks have not come. The machine may not be known, so cpus
// are counted in place of cores.
Verdict decide_late(const Own& own, const std::vector<RankFacts>& present) {
  if (present.empty() || own.launch.size_is_assumed) return Verdict::kNobody;
  const RankFacts& first = present.front();
  bool is_needed = false;
  CpuSet taken;
  for (const RankFacts& rank : present) {
    if (rank.pool.empty() || rank.pool != first.pool ||
        rank.need.num_threads != first.need.num_threads)
      return Verdict::kNobody;
    const std::uint32_t num_threads = rank.need.num_threads != 0
                                          ? rank.need.num_threads
                                          : rank.pool.count() / own.launch.local_size;
    is_needed |= num_threads > rank.need.mask.count() || rank.need.mask.intersects(taken) ||
                 rank.pool.is_subset_of(rank.need.mask);
    taken |= rank.need.mask;
  }
  return is_needed ? Verdict::kEqualParts : Verdict::kNobody;
}

// Why the ranks could not decide together in time.
std::string absence(const Own& own, const Surroundings& around, const Meeting& meeting) {
  const std::string size = std::to_string(own.launch.local_size);
  if (meeting.facts.size() < own.launch.local_size) {
    return "only " + std::to_string(meeting.facts.size()) + " of " + size +
           " ranks of this node arrived to share it out within " + seconds(around.patience_ns);
  }
  // One rank reads the machine for all, and the meeting waits longer for that than for ranks.
  if (!meeting.machine)
    return "all " + size +
           " ranks of this node arrived, but the one that reads the machine for all took too long";
  return "the last of the " + size +
         " ranks of this node arrived to share it out later than after " +
         seconds(around.patience_ns);
}

Decision nobody_moves_after(const Own& own, const Surroundings& around, const Meeting& meeting) {
  return {{}, absence(own, around, meeting), "absent-ranks"};
}

// Why the verdict of the meeting is that nobody acts; nothing if somebody does.
std::optional<Decision> failure(const Own& own, const Surroundings& around,
                                const Meeting& meeting) {
  switch (meeting.verdict) {
    case Verdict::kComplete:
    case Verdict::kEqualParts:
      return std::nullopt;
    case Verdict::kDuplicate:
      return Decision{
          {},
          "two processes are rank " + std::to_string(own.launch.local_rank) + " of this node",
          "duplicate-rank"};
    case Verdict::kDead:
      return Decision{{}, "a rank of this node has ended", "dead-rank"};
    case Verdict::kOpen:
    case Verdict::kNobody:
      break;
  }
  return nobody_moves_after(own, around, meeting);
}

Decision decide_meeting(const Own& own, const Surroundings& around, Meeting& meeting) {
  if (std::optional<Decision> decision = failure(own, around, meeting)) return *std::move(decision);
  const Machine* machine =
      meeting.machine ? around.adopt_machine(*std::move(meeting.machine)) : around.load_machine();
  if (machine == nullptr) return {{}, "the machine cannot be read", "no-machine"};
  if (meeting.verdict == Verdict::kComplete) {
    const Result<CpuPool> pool = pool_of_all(own, meeting.facts);
    return pool ? decide(*machine, *pool, needs_of(meeting.facts))
                : Decision{{}, pool.error(), "no-pool"};
  }
  // The rank that sealed the verdict knew the pool without the others. This rank may not, if it
  // came later.
  if (!own.pool) return nobody_moves_after(own, around, meeting);
  Decision decision =
      decide_for_equals(*machine, *own.pool, own.need.num_threads, own.launch.local_size);
  decision.why += "; " + absence(own, around, meeting) + ", so each takes an equal part";
  return decision;
}

// For the user, who would otherwise see slow ranks and no reason. All ranks find the same, and the
// node's first one says it.
void warn_of_squatter(const MeetingRequest& request, std::vector<std::string>& warnings) {
  if (request.rank != 0) return;
  if (const std::optional<std::string> squatter = find_squatter(request)) {
    warnings.push_back("the ranks of this node cannot meet to share it out, because " + *squatter +
                       " has the name of their meeting; they stay on the cpus that they were "
                       "given; remove it, or set " +
                       kPlaceVariable + "=off");
  }
}

Decision decide_together(const Own& own, const Surroundings& around,
                         std::vector<std::string>& warnings) {
  const MeetingRequest request{.job_key = own.launch.job_key,
                               .rank = own.launch.local_rank,
                               .num_ranks = own.launch.local_size,
                               .facts = {own.need, own.pool ? own.pool->cpus : CpuSet()},
                               .patience_ns = around.patience_ns,
                               .directory = around.meeting_directory};
  Result<Meeting> meeting =
      meet(request, around.load_machine,
           [&](const std::vector<RankFacts>& present) { return decide_late(own, present); });
  if (!meeting) {
    warn_of_squatter(request, warnings);
    return {{}, meeting.error(), "no-meeting"};
  }
  Decision decision = decide_meeting(own, around, *meeting);
  // Only the maker reports it.
  if (meeting->is_maker &&
      (meeting->verdict == Verdict::kEqualParts || meeting->verdict == Verdict::kNobody)) {
    warnings.push_back(absence(own, around, *meeting) + "; those that arrived " +
                       (decision.shares.empty() ? "stay where they are" : "take equal parts") +
                       "; " + kPlaceVariable + "=off does without");
  }
  return decision;
}

// The only rank of a node asks nobody. It reads the machine only if it could get more than it has.
Decision decide_alone(const Own& own, const Surroundings& around) {
  const Result<CpuPool> pool = pool_of_all(own, {{own.need, own.pool ? own.pool->cpus : CpuSet()}});
  if (!pool) return {{}, pool.error(), "no-pool"};
  if (const std::optional<Veto> veto = veto_by_pool(*pool, {own.need})) return nobody_moves(*veto);
  const Machine* machine = around.load_machine();
  if (machine == nullptr) return {{}, "the machine cannot be read", "no-machine"};
  return decide(*machine, *pool, {own.need});
}

// Whether somebody has seen to it that no other rank has the cpus of this one, which are enough for
// it: the launcher has bound it to a part of the node, or a batch system has given the job its
// cpus. A launcher that binds nothing may have been started twice.
bool has_own_cpus(const Own& own, const Decision& decision) {
  return decision.code == std::string_view(veto_name(VetoReason::kSufficient)) &&
         (own.evidence.scheduled.has_value() || own.need.mask != own.evidence.kernel);
}

// For instance "placed: rank 0 of 2 on this node (hydra) takes cpus 0-3 in place of 0, its share of
// cpus 0-7, ...".
std::string verdict_line(const Decision& decision, const std::string& who,
                         const std::string& does) {
  return std::string(decision.code) + ": " + who + " " + does +
         (decision.shares.empty() ? ": " : " ") + decision.why;
}

// Sets the share and the verdict.
void choose_share(const ShareRequest& request, const Surroundings& around,
                  const PlaceSetting& setting, ShareAnswer& answer) {
  Own own;
  if (const std::optional<Decision> decision = look_around(request, around, setting, own)) {
    answer.verdict =
        verdict_line(*decision, "this process", "stays on cpus " + request.mask.to_string());
    return;
  }
  const Launch& launch = own.launch;
  const bool is_alone = launch.local_size == 1 && !launch.size_is_assumed;
  Decision decision =
      is_alone ? decide_alone(own, around) : decide_together(own, around, answer.warnings);
  const std::string who = "rank " + std::to_string(launch.local_rank) + " of " +
                          std::to_string(launch.local_size) + " on this node (" + launch.launcher +
                          ")";
  if (decision.shares.empty()) {
    answer.has_own_cpus = setting.mode == PlaceMode::kAuto && has_own_cpus(own, decision);
    answer.verdict = verdict_line(decision, who, "stays on cpus " + request.mask.to_string());
    return;
  }
  const CpuSet& share = decision.shares[launch.local_rank];
  const bool acts = setting.mode == PlaceMode::kAuto;
  if (acts) {
    answer.share = share;
  } else {
    decision.code = "checked";
  }
  std::string team;
  if (setting.threads == TeamSize::kShare) {
    const std::uint32_t size = decision.team_sizes[launch.local_rank];
    if (request.num_threads == 0) team = " for teams of " + std::to_string(size);
    if (acts) answer.team_size = size;
  }
  answer.verdict =
      verdict_line(decision, who,
                   std::string(acts ? "takes" : "would take") + " cpus " + share.to_string() +
                       team + " in place of " + request.mask.to_string() + ", its share of");
}

// A team without a number that is larger than the cpu time that control groups leave is stopped by
// the kernel for the rest of each period, in the middle of its barriers. Ranks of one group share
// its quota, which is not divided here: nobody knows that all of them are in it.
void cap_team(const ShareRequest& request, const Surroundings& around, const PlaceSetting& setting,
              ShareAnswer& answer) {
  if (setting.quota == QuotaUse::kOff || setting.mode == PlaceMode::kOff ||
      request.num_threads != 0)
    return;
  const std::optional<std::uint32_t> quota = around.cpu_quota();
  const std::uint32_t size = answer.team_size != 0 ? answer.team_size : request.mask.count();
  if (!quota || *quota >= size) return;
  const bool acts = setting.mode == PlaceMode::kAuto;
  if (acts) answer.team_size = *quota;
  answer.warnings.push_back(
      "the cpu quota allows " + std::to_string(*quota) + (*quota == 1 ? " cpu" : " cpus") +
      ", so teams " + (acts ? "default to " : "would default to ") + std::to_string(*quota) +
      (*quota == 1 ? " thread" : " threads") + " instead of " + std::to_string(size) +
      "; OMP_NUM_THREADS sets another number, HIERBAR_PLACE=quota=off keeps " +
      std::to_string(size));
}

}  // namespace

ShareAnswer find_own_share(const ShareRequest& request, const Surroundings& around) {
  ShareAnswer answer;
  const PlaceSetting setting = read_setting(around.environment, answer.warnings);
  choose_share(request, around, setting, answer);
  cap_team(request, around, setting, answer);
  return answer;
}

}  // namespace hierbar
