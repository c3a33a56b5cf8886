// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/text.hpp"
#include "report/format/json_numbers.hpp"
#include "report/merge.hpp"
#include "report/report.hpp"

namespace hierbar::report {
namespace {

using Json = nlohmann::ordered_json;

// With the buckets, so that reports can be merged: pairs of the bucket's shortest duration and its
// count. Empty buckets are left out.
Json to_value(const Histogram& times) {
  Json buckets = Json::array();
  for (std::size_t i = 0; i < Histogram::kNumBuckets; ++i) {
    if (times.in_bucket(i) != 0) buckets.push_back({Histogram::first_ns(i), times.in_bucket(i)});
  }
  Json value = {{"count", times.count()}, {"sum", times.sum_ns()}};
  for (const Statistic& statistic : kStatistics) value[statistic.name] = statistic.of(times);
  value["max"] = times.max_ns();
  value["buckets"] = std::move(buckets);
  return value;
}

template <class Figures>
std::string key_of(const TimesColumn<Figures>& column) {
  return std::string(column.name) + "_ns";
}

template <class Columns, class Figures>
void add_times(Json& value, const Columns& columns, const Figures& figures) {
  for (const auto& column : columns) value[key_of(column)] = to_value(figures.*column.times);
}

// Level 0 is the exchange.
Json groups_of(const SiteReport& site) {
  Json list = Json::array();
  const std::vector<LevelGroups>& levels = site.levels.groups;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    for (const LevelGroups::Group& group : levels[i].groups) {
      Json& added =
          list.emplace_back(Json{{"level", i}, {"unit", group.unit}, {"threads", group.threads}});
      if (site.threads_of_ranks.empty()) continue;
      for (const std::uint32_t thread : group.threads)
        added["members"].push_back(participant_name(site, thread));
    }
  }
  return list;
}

Json to_value(const ProcessRow& row) {
  return {{"name", row.name},
          {"host", row.host},
          {"barriers", row.episodes},
          {"last_arrivals", row.last_arrivals}};
}

// The address is that of the object's file, with which its debug information can be read elsewhere.
Json to_value(const CodePlace& code) {
  Json frames = Json::array();
  for (const CodeFrame& frame : code.frames)
    frames.push_back({{"function", frame.function}, {"file", frame.file}, {"line", frame.line}});
  return {{"frames", std::move(frames)},
          {"symbol", code.symbol},
          {"object", code.object.name},
          {"build_id", code.object.build_id},
          {"address", format_text("0x%zx", static_cast<std::size_t>(code.file_address))}};
}

enum class Whole : bool { kNo, kYes };

// The participants of lower numbers tell what all know. More than one does, since one may have lost
// its episodes.
constexpr std::uint32_t kNumTelling = 4;

bool tells_of_all(const SiteReport& site, Whole whole) {
  return whole == Whole::kYes || !spans_processes(site.kind) ||
         (!site.threads.empty() && site.threads.begin()->first < kNumTelling);
}

Json threads_of(const SiteReport& site) {
  Json threads = Json::array();
  for (const auto& [number, thread] : site.threads) {
    if (thread.imbalance.count() == 0) continue;
    Json& added = threads.emplace_back(Json{{"thread", number}, {"cpus", thread.cpus}});
    for (const auto& column : kThreadSums) added[column.json] = thread.*column.sum;
    add_times(added, kThreadTimes, thread);
    if (!site.threads_of_ranks.empty()) added["member"] = participant_name(site, number);
  }
  return threads;
}

Json to_value(const Report& report, const SiteReport& site, Whole whole) {
  Json rows = Json::array();
  // The reader makes the row of a barrier of all ranks from the participants.
  if (whole == Whole::kYes || !spans_processes(site.kind)) {
    for (const ProcessRow& row : rows_of(report, site)) rows.push_back(to_value(row));
  }
  Json levels = Json::array();
  for (const auto& [name, times] : list_levels(site.levels))
    levels.push_back({{"level", name}, {"ns", to_value(*times)}});
  Json value = {{"site", site.where},
                {"code", to_value(site.code)},
                {"kind", site.kind},
                {"team_size", site.team_size},
                {"barriers", site.episodes}};
  for (const auto& column : kThreadSums) {
    if (!column.is_share) value[column.json] = site.*column.sum;
  }
  add_times(value, kThreadTimes, site);
  add_times(value, kSiteTimes, site);
  value["levels"] = std::move(levels);
  value["hidden"] = list_hidden(report, site);
  value["groups"] = tells_of_all(site, whole) ? groups_of(site) : Json::array();
  value["threads"] = threads_of(site);
  value["processes"] = std::move(rows);
  if (!site.threads_of_ranks.empty() && tells_of_all(site, whole))
    value["threads_of_ranks"] = site.threads_of_ranks;
  return value;
}

std::string to_json(const Report& report, Whole whole) {
  Json sites = Json::array();
  for (const SiteReport& site : report.sites) sites.push_back(to_value(report, site, whole));
  const Json value = {{"hierbar", HIERBAR_VERSION},
                      {"format", 1},
                      {"processes", report.num_processes},
                      {"process",
                       {{"host", report.process.host},
                        {"pid", report.process.pid},
                        {"rank", report.process.rank},
                        {"job", report.process.job}}},
                      {"runtime", report.runtime},
                      {"clock",
                       {{"name", report.clock},
                        {"resolution_ns", report.resolution_ns},
                        {"stamp_ns", report.stamp_ns},
                        {"packages", report.offset.num_packages},
                        {"offset_ns", report.offset.offset_ns},
                        {"offset_error_ns", report.offset.error_ns},
                        {"offset_problem", report.offset.problem}}},
                      {"placement", report.placement},
                      {"levels", report.levels},
                      {"sample", report.every},
                      {"idle_ns", report.idle_ns},
                      {"lost",
                       {{"left_out", report.losses.left_out},
                        {"incomplete", report.losses.incomplete},
                        {"backwards", report.losses.backwards}}},
                      {"trace", {{"kept", report.trace.kept}, {"dropped", report.trace.dropped}}},
                      {"sites", std::move(sites)}};
  // Symbols may have any encoding.
  return value.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// ---- Reading ----

Histogram read_histogram(const nlohmann::json& value) {
  Histogram times;
  for (const nlohmann::json& bucket : value.at("buckets"))
    times.add_bucket(Histogram::bucket_of(whole_number<std::uint64_t>(bucket.at(0))),
                     whole_number<std::uint64_t>(bucket.at(1)));
  times.add_totals(whole_number<std::uint64_t>(value.at("sum")),
                   whole_number<std::uint64_t>(value.at("max")));
  return times;
}

template <class Columns, class Figures>
void read_times(const nlohmann::json& value, const Columns& columns, Figures& figures) {
  for (const auto& column : columns)
    figures.*column.times = read_histogram(value.at(key_of(column)));
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
  const std::string unit =
      paren == std::string::npos ? "" : name.substr(paren + 1, name.size() - paren - 2);
  if (name.compare(0, 8, "exchange") == 0) {
    levels.exchange = times;
    if (!unit.empty()) level_groups(levels, 0).name = unit;
  }
  if (name == "outside") levels.outside = times;
  for (auto [kind, list] :
       {std::pair("gather ", &levels.gather), std::pair("release ", &levels.release)}) {
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
          whole_number<std::uint64_t>(value.at("barriers")),
          whole_numbers<std::uint64_t>(value.at("last_arrivals"))};
}

CodePlace read_code(const nlohmann::json& value) {
  CodePlace code;
  for (const nlohmann::json& frame : value.at("frames")) {
    code.frames.push_back({frame.at("function").get<std::string>(),
                           frame.at("file").get<std::string>(),
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
  for (const auto& column : kThreadSums) {
    if (!column.is_share) site.*column.sum = whole_number<std::uint64_t>(value.at(column.json));
  }
  read_times(value, kThreadTimes, site);
  read_times(value, kSiteTimes, site);
  for (const nlohmann::json& level : value.at("levels"))
    read_level(site.levels, level.at("level").get<std::string>(), read_histogram(level.at("ns")));
  for (const nlohmann::json& group : value.value("groups", nlohmann::json::array())) {
    level_groups(site.levels, whole_number<std::size_t>(group.at("level")))
        .groups.push_back({group.at("unit").get<std::string>(),
                           whole_numbers<std::uint32_t>(group.at("threads"))});
  }
  for (const nlohmann::json& row : value.value("processes", nlohmann::json::array()))
    site.rows.push_back(read_row(row));
  if (const auto ranks = value.find("threads_of_ranks"); ranks != value.end())
    site.threads_of_ranks = whole_numbers<std::uint32_t>(*ranks);
  for (const nlohmann::json& times : value.at("threads")) {
    const auto number = whole_number<std::uint32_t>(times.at("thread"));
    if (number >= site.team_size) throw std::runtime_error("a thread that its team does not have");
    const std::uint32_t expected = site.threads.empty() ? 0 : site.threads.rbegin()->first + 1;
    if (number > expected) num_left_out += number - expected;
    if (num_left_out > kMostLeftOut)
      throw std::runtime_error("thread " + std::to_string(number) + ", and more than " +
                               std::to_string(kMostLeftOut) +
                               " threads of lower numbers are not there");
    Participant& thread = site.threads[number];
    thread.cpus = times.value("cpus", "");
    for (const auto& column : kThreadSums)
      thread.*column.sum = whole_number<std::uint64_t>(times.at(column.json));
    read_times(times, kThreadTimes, thread);
  }
  return site;
}

}  // namespace

std::string to_json(const Report& report) { return to_json(report, Whole::kYes); }
std::string to_json_of_rank(const Report& report) { return to_json(report, Whole::kNo); }

Report parse_report(const std::string& json) try {
  const nlohmann::json value = nlohmann::json::parse(json);
  if (value.at("format") != 1)
    throw std::runtime_error("of a format that this version does not know");
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
  report.losses = {whole_number<std::uint64_t>(lost.at("left_out")),
                   whole_number<std::uint64_t>(lost.at("incomplete")),
                   whole_number<std::uint64_t>(lost.at("backwards"))};
  if (const auto trace = value.find("trace"); trace != value.end())
    report.trace = {whole_number<std::uint64_t>(trace->at("kept")),
                    whole_number<std::uint64_t>(trace->at("dropped"))};
  std::size_t num_left_out = 0;
  for (const nlohmann::json& site : value.at("sites"))
    report.sites.push_back(read_site(site, num_left_out));
  return report;
} catch (const nlohmann::json::parse_error& error) {
  throw std::runtime_error("it is not JSON, from byte " + std::to_string(error.byte) + " on");
} catch (const nlohmann::json::exception& error) {
  throw std::runtime_error(error.what());
} catch (const std::logic_error& error) {  // from std::stoul
  throw std::runtime_error("no such level");
}

}  // namespace hierbar::report
