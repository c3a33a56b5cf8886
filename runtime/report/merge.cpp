// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/merge.hpp"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "report/format/json_numbers.hpp"
#include "report/process_rows.hpp"

namespace hierbar::report {
namespace {

Histogram read_histogram(const nlohmann::json& value) {
  Histogram times;
  for (const nlohmann::json& bucket : value.at("buckets"))
    times.add_bucket(Histogram::bucket_of(whole_number<std::uint64_t>(bucket.at(0))), whole_number<std::uint64_t>(bucket.at(1)));
  times.add_totals(whole_number<std::uint64_t>(value.at("sum")), whole_number<std::uint64_t>(value.at("max")));
  return times;
}

constexpr std::size_t kMostLevels = 64;

LevelGroups& level_groups(LevelTimes& levels, std::size_t number) {
  if (number > kMostLevels) throw std::runtime_error("no such level: " + std::to_string(number));
  levels.groups.resize(std::max(levels.groups.size(), number + 1));
  return levels.groups[number];
}

// Reads "gather 2 (L3)" and the like. The number is that of the level, from 1.
void read_level(LevelTimes& levels, const std::string& name, const Histogram& times) {
  const std::size_t paren = name.find('(');
  const std::string unit = paren == std::string::npos ? "" : name.substr(paren + 1, name.size() - paren - 2);
  if (name.compare(0, 8, "exchange") == 0) {
    levels.exchange = times;
    if (!unit.empty()) level_groups(levels, 0).name = unit;
  }
  if (name == "outside") levels.outside = times;
  for (auto [kind, list] : {std::pair("gather ", &levels.gather), std::pair("release ", &levels.release)}) {
    const std::string prefix = kind;
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    const std::size_t number = std::stoul(name.substr(prefix.size()));
    if (number == 0 || number > kMostLevels) throw std::runtime_error("no such level: " + name);
    if (!unit.empty()) level_groups(levels, number).name = unit;
    list->resize(std::max(list->size(), number));
    (*list)[number - 1] = times;
  }
}

// Older reports do not have all of this.
void read_offset(ClockOffset& offset, const nlohmann::json& clock) {
  if (const auto packages = clock.find("packages"); packages != clock.end())
    offset.num_packages = whole_number<std::size_t>(*packages);
  offset.offset_ns = clock.value("offset_ns", 0.0);
  offset.error_ns = clock.value("offset_error_ns", 0.0);
  offset.problem = clock.value("offset_problem", "");
}

ProcessRow read_row(const nlohmann::json& value) {
  return {value.at("name").get<std::string>(), value.at("host").get<std::string>(),
          whole_number<std::uint64_t>(value.at("barriers")), whole_numbers<std::uint64_t>(value.at("last_arrivals"))};
}

CodePlace read_code(const nlohmann::json& value) {
  CodePlace code;
  for (const nlohmann::json& frame : value.at("frames")) {
    code.frames.push_back({frame.at("function").get<std::string>(), frame.at("file").get<std::string>(),
                           whole_number<std::uint32_t>(frame.at("line"))});
  }
  code.symbol = value.at("symbol").get<std::string>();
  code.object.name = value.at("object").get<std::string>();
  code.object.build_id = value.at("build_id").get<std::string>();
  code.file_address = std::strtoull(value.at("address").get<std::string>().c_str(), nullptr, 16);
  return code;
}

// A file may leave out threads, and rows_of() still has numbers for them. This is the most for one
// report, so that a small file cannot fill the memory.
constexpr std::size_t kMostLeftOut = 1U << 22;

SiteReport read_site(const nlohmann::json& value, std::size_t& num_left_out) {
  SiteReport site;
  site.where = value.at("site").get<std::string>();
  if (const auto code = value.find("code"); code != value.end()) site.code = read_code(*code);
  site.kind = value.at("kind").get<std::string>();
  site.team_size = whole_number<std::uint32_t>(value.at("team_size"));
  site.episodes = whole_number<std::uint64_t>(value.at("barriers"));
  site.tasks_ns = whole_number<std::uint64_t>(value.at("tasks_ns"));
  site.imbalance = read_histogram(value.at("imbalance_ns"));
  site.sync = read_histogram(value.at("sync_ns"));
  site.span = read_histogram(value.at("barrier_ns"));
  for (const nlohmann::json& level : value.at("levels"))
    read_level(site.levels, level.at("level").get<std::string>(), read_histogram(level.at("ns")));
  for (const nlohmann::json& group : value.value("groups", nlohmann::json::array())) {
    level_groups(site.levels, whole_number<std::size_t>(group.at("level")))
        .groups.push_back({group.at("unit").get<std::string>(), whole_numbers<std::uint32_t>(group.at("threads"))});
  }
  for (const nlohmann::json& row : value.value("processes", nlohmann::json::array())) site.rows.push_back(read_row(row));
  if (const auto ranks = value.find("threads_of_ranks"); ranks != value.end())
    site.threads_of_ranks = whole_numbers<std::uint32_t>(*ranks);
  for (const nlohmann::json& times : value.at("threads")) {
    const auto number = whole_number<std::uint32_t>(times.at("thread"));
    if (number >= site.team_size) throw std::runtime_error("a thread that its team does not have");
    const std::uint32_t expected = site.threads.empty() ? 0 : site.threads.rbegin()->first + 1;
    if (number > expected) num_left_out += number - expected;
    if (num_left_out > kMostLeftOut)
      throw std::runtime_error("thread " + std::to_string(number) + ", and more than " + std::to_string(kMostLeftOut) +
                               " threads of lower numbers are not there");
    Participant& thread = site.threads[number];
    thread.cpus = times.value("cpus", "");
    thread.last_arrivals = whole_number<std::uint64_t>(times.at("last_arrivals"));
    thread.tasks_ns = whole_number<std::uint64_t>(times.at("tasks_ns"));
    thread.imbalance = read_histogram(times.at("imbalance_ns"));
    thread.sync = read_histogram(times.at("sync_ns"));
  }
  return site;
}

// In another process, the thread with this number runs on other cpus. So their cpus are dropped. In
// another communicator, the rank with this number may run on other cpus, too. But each rank reports
// only its own cpus, so equal ones are kept.
bool has_same_cpus(const SiteReport& into, const SiteReport& from) {
  return std::equal(into.threads.begin(), into.threads.end(), from.threads.begin(), from.threads.end(),
                    [](const auto& a, const auto& b) { return a.first == b.first && a.second.cpus == b.second.cpus; });
}

void merge_cpus(std::string& into, const std::string& from) {
  if (into.empty())
    into = from;
  else if (!from.empty() && into != from)
    into = kVariousCpus;
}

void merge_site(SiteReport& into, const SiteReport& from) {
  into.episodes += from.episodes;
  into.tasks_ns += from.tasks_ns;
  into.imbalance.merge(from.imbalance);
  into.sync.merge(from.sync);
  into.span.merge(from.span);
  into.levels.merge(from.levels);
  const bool drops_cpus = !spans_processes(into.kind) && !has_same_cpus(into, from);
  for (const auto& [number, thread] : from.threads) {
    Participant& known = into.threads[number];
    known.imbalance.merge(thread.imbalance);
    known.sync.merge(thread.sync);
    known.tasks_ns += thread.tasks_ns;
    known.last_arrivals += thread.last_arrivals;
    merge_cpus(known.cpus, thread.cpus);
  }
  if (drops_cpus) {
    for (auto& [number, thread] : into.threads) thread.cpus.clear();
  }
  if (into.threads_of_ranks.empty()) into.threads_of_ranks = from.threads_of_ranks;
}

}  // namespace

Report parse_report(const std::string& json) try {
  const nlohmann::json value = nlohmann::json::parse(json);
  if (value.at("format") != 1) throw std::runtime_error("of a format that this version does not know");
  Report report;
  report.num_processes = whole_number<std::uint32_t>(value.at("processes"));
  const nlohmann::json& process = value.at("process");
  report.process.host = process.at("host").get<std::string>();
  report.process.pid = whole_number<long>(process.at("pid"));
  report.process.rank = whole_number<long>(process.at("rank"));
  report.process.job = process.at("job").get<std::string>();
  report.runtime = value.at("runtime").get<std::string>();
  report.clock = value.at("clock").at("name").get<std::string>();
  report.resolution_ns = value.at("clock").at("resolution_ns").get<double>();
  report.stamp_ns = value.at("clock").at("stamp_ns").get<double>();
  read_offset(report.offset, value.at("clock"));
  report.placement = value.at("placement").get<std::string>();
  report.levels = value.at("levels").get<std::string>();
  report.every = whole_number<std::uint64_t>(value.at("sample"));
  report.idle_ns = whole_number<std::uint64_t>(value.at("idle_ns"));
  const nlohmann::json& lost = value.at("lost");
  report.losses = {whole_number<std::uint64_t>(lost.at("left_out")), whole_number<std::uint64_t>(lost.at("incomplete")),
                   whole_number<std::uint64_t>(lost.at("backwards"))};
  if (const auto trace = value.find("trace"); trace != value.end())
    report.trace = {whole_number<std::uint64_t>(trace->at("kept")), whole_number<std::uint64_t>(trace->at("dropped"))};
  std::size_t num_left_out = 0;
  for (const nlohmann::json& site : value.at("sites")) report.sites.push_back(read_site(site, num_left_out));
  return report;
} catch (const nlohmann::json::parse_error& error) {
  throw std::runtime_error("it is no JSON, from byte " + std::to_string(error.byte) + " on");
} catch (const nlohmann::json::exception& error) {
  throw std::runtime_error(error.what());
} catch (const std::logic_error& error) {  // from std::stoul
  throw std::runtime_error("no such level");
}

// A barrier of all ranks has one row, which rows_of() makes of its participants.
Merger::Merger(Report& into) : into_(into) {
  for (SiteReport& site : into_.sites) {
    if (!spans_processes(site.kind)) site.rows = rows_of(into_, site);
    index_.emplace(Key(site.where, site.kind, site.team_size), index_.size());
  }
}

// What the processes do not share, such as their clocks, is taken from the first one. For bounds
// the worst counts.
void Merger::add(const Report& from) {
  into_.num_processes += from.num_processes;
  if (into_.process.host != from.process.host) into_.process.host = "several hosts";
  into_.resolution_ns = std::max(into_.resolution_ns, from.resolution_ns);
  into_.stamp_ns = std::max(into_.stamp_ns, from.stamp_ns);
  if (!from.offset.problem.empty() ||
      from.offset.offset_ns + from.offset.error_ns > into_.offset.offset_ns + into_.offset.error_ns)
    into_.offset = from.offset;
  into_.idle_ns += from.idle_ns;
  into_.losses.left_out += from.losses.left_out;
  into_.losses.incomplete += from.losses.incomplete;
  into_.losses.backwards += from.losses.backwards;
  into_.trace.kept += from.trace.kept;
  into_.trace.dropped += from.trace.dropped;
  for (const SiteReport& site : from.sites) add_site(from, site);
}

void Merger::add_site(const Report& from, const SiteReport& site) {
  const auto [found, is_new] = index_.emplace(Key(site.where, site.kind, site.team_size), into_.sites.size());
  if (is_new)
    into_.sites.push_back(site);
  else
    merge_site(into_.sites[found->second], site);
  if (spans_processes(site.kind)) return;
  const std::vector<ProcessRow> rows = rows_of(from, site);
  std::vector<ProcessRow>& all = into_.sites[found->second].rows;
  if (is_new) all.clear();
  all.insert(all.end(), rows.begin(), rows.end());
}

void merge_report(Report& into, const Report& from) {
  Merger(into).add(from);
  sort_sites(into);
}

}  // namespace hierbar::report
