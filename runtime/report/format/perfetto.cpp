// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/format/perfetto.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "report/format/json_numbers.hpp"

namespace hierbar::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
// MPI's ranks have type int.
constexpr long kLargestRank = std::numeric_limits<std::int32_t>::max();

// The text of one event, followed by a comma. It is made without the JSON library, because there
// may be a million events.
std::string event_text(const Slice& slice, long pid, std::uint32_t thread,
                       const std::vector<std::string>& sites) {
  char text[192];
  const auto us = [](std::uint64_t ns) { return static_cast<unsigned long long>(ns / 1000); };
  const auto rest = [](std::uint64_t ns) { return static_cast<unsigned long long>(ns % 1000); };
  const std::uint64_t length = slice.end_ns - slice.begin_ns;
  std::snprintf(
      text, sizeof text,
      "{\"ph\":\"X\",\"pid\":%ld,\"tid\":%u,\"ts\":%llu.%03llu,\"dur\":%llu.%03llu,\"name\":\"%s\"",
      pid, thread + 1, us(slice.begin_ns), rest(slice.begin_ns), us(length), rest(length),
      step_name(slice.step));
  std::string event = text;
  if (slice.step == Step::kBarrier) event += sites[slice.site];
  return event + "},\n";
}

std::string meta_text(const char* what, long pid, std::uint32_t tid, const Json& arguments) {
  const Json event = {{"ph", "M"}, {"pid", pid}, {"tid", tid}, {"name", what}, {"args", arguments}};
  return event.dump() + ",\n";
}

// Indices of the slices that are not inside another one.
std::vector<std::size_t> outermost(const std::vector<Slice>& slices) {
  std::vector<std::size_t> begins;
  std::uint64_t end_ns = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (slices[i].begin_ns < end_ns) continue;
    begins.push_back(i);
    end_ns = slices[i].end_ns;
  }
  return begins;
}

// Appends the thread's slices. If not all fit, the newest ones are kept. Returns how many outermost
// slices were left out.
std::uint64_t add_thread(std::string& text, const ThreadTimeline& thread, long pid,
                         const std::vector<std::string>& sites, std::size_t most) {
  const std::vector<std::size_t> begins = outermost(thread.slices);
  std::vector<std::string> kept;
  std::size_t bytes = 0, end = thread.slices.size();
  for (std::size_t i = begins.size(); i-- > 0; end = begins[i]) {
    std::string group;
    for (std::size_t k = begins[i]; k < end; ++k)
      group += event_text(thread.slices[k], pid, thread.number, sites);
    bytes += group.size();
    if (bytes > most) break;
    kept.push_back(std::move(group));
  }
  for (std::size_t i = kept.size(); i-- > 0;) text += kept[i];
  return begins.size() - kept.size();
}

std::string process_name(const ProcessTimeline& process) {
  return (process.rank >= 0 ? "rank " + std::to_string(process.rank)
                            : "process " + std::to_string(process.pid)) +
         " @" + process.host + (process.part.empty() ? "" : ", " + process.part);
}

// A part with one row is called like that row.
std::string thread_name(const ProcessTimeline& process, const ThreadTimeline& thread) {
  return process.part.empty() || process.threads.size() > 1
             ? "thread " + std::to_string(thread.number)
             : process.part;
}

// rank + 1 for each process. If ranks are unknown, or of several jobs, the next free number.
std::vector<long> choose_pids(const Timeline& timeline) {
  std::vector<long> pids;
  std::set<long> taken;
  for (const ProcessTimeline& process : timeline.processes) {
    long pid = std::max(process.rank, 0L) + 1;
    if (taken.count(pid) != 0) pid = *taken.rbegin() + 1;
    taken.insert(pid);
    pids.push_back(pid);
  }
  return pids;
}

Json to_value(const ProcessTimeline& process, long pid) {
  return {{"pid", pid},
          {"rank", process.rank},
          {"host", process.host},
          {"process", process.pid},
          {"part", process.part},
          {"realtime_offset_ns", process.realtime_offset_ns},
          {"dropped", process.dropped}};
}

std::uint64_t to_ns(const Json& us) {
  const double ns = us.get<double>() * 1000;
  if (!(ns >= 0 && ns < 9e15)) throw std::runtime_error("a time that cannot be");
  return static_cast<std::uint64_t>(ns + 0.5);
}

// Reads the events of to_perfetto(), one by one.
class Reader {
 public:
  explicit Reader(const Json& header) {
    const Json& other = header.at("otherData");
    if (other.at("hierbar_trace") != kFormat)
      throw std::runtime_error("of a format that this version does not know");
    for (const Json& entry : other.at("processes")) {
      positions_[whole_number<long>(entry.at("pid"))] = timeline_.processes.size();
      ProcessTimeline& process = timeline_.processes.emplace_back();
      process.rank = whole_number<long>(entry.at("rank"), -1, kLargestRank);
      process.pid = whole_number<long>(entry.at("process"));
      process.host = entry.at("host").get<std::string>();
      process.part = entry.value("part", "");
      process.realtime_offset_ns = whole_number<std::int64_t>(entry.at("realtime_offset_ns"));
      process.dropped = whole_number<std::uint64_t>(entry.at("dropped"));
    }
  }

  void add(const Json& event) {
    if (event.at("ph") != "X") return;
    Slice slice;
    slice.begin_ns = to_ns(event.at("ts"));
    slice.end_ns = slice.begin_ns + to_ns(event.at("dur"));
    slice.step = step_of(event.at("name").get<std::string>());
    if (slice.step == Step::kBarrier)
      slice.site = site_of(
          {event.at("args").at("site").get<std::string>(), event.at("cat").get<std::string>()});
    thread_of(whole_number<long>(event.at("pid")), whole_number<std::uint32_t>(event.at("tid")))
        .slices.push_back(slice);
  }
  Timeline take() { return std::move(timeline_); }

 private:
  static Step step_of(const std::string& name) {
    for (std::size_t i = 0; i < kNumSteps; ++i) {
      if (name == step_name(static_cast<Step>(i))) return static_cast<Step>(i);
    }
    throw std::runtime_error("no such step: " + name);
  }
  std::uint32_t site_of(const std::pair<std::string, std::string>& site) {
    const auto [position, is_new] = sites_.emplace(site, static_cast<std::uint32_t>(sites_.size()));
    if (is_new) timeline_.sites.push_back(site);
    return position->second;
  }
  ThreadTimeline& thread_of(long pid, std::uint32_t tid) {
    const auto process = positions_.find(pid);
    if (process == positions_.end() || tid == 0) throw std::runtime_error("an event of no process");
    std::vector<ThreadTimeline>& threads = timeline_.processes[process->second].threads;
    const auto [position, is_new] = threads_.emplace(std::pair(pid, tid), threads.size());
    if (is_new) threads.push_back({tid - 1, {}});
    return threads[position->second];
  }

  Timeline timeline_;
  std::map<long, std::size_t> positions_;
  std::map<std::pair<long, std::uint32_t>, std::size_t> threads_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> sites_;
};

}  // namespace

std::string to_perfetto(const Timeline& timeline, std::size_t most) {
  std::vector<std::string> sites;
  for (const auto& [where, kind] : timeline.sites)
    sites.push_back(",\"cat\":" + Json(kind).dump() + ",\"args\":" + Json{{"site", where}}.dump());
  std::size_t num_threads = 1;
  for (const ProcessTimeline& process : timeline.processes) num_threads += process.threads.size();
  const std::vector<long> pids = choose_pids(timeline);
  std::string events;
  Json processes = Json::array();
  for (std::size_t i = 0; i < pids.size(); ++i) {
    const ProcessTimeline& process = timeline.processes[i];
    Json entry = to_value(process, pids[i]);
    std::uint64_t left_out = 0;
    events += meta_text("process_name", pids[i], 0, {{"name", process_name(process)}});
    events += meta_text("process_sort_index", pids[i], 0, {{"sort_index", pids[i]}});
    for (const ThreadTimeline& thread : process.threads) {
      events += meta_text("thread_name", pids[i], thread.number + 1,
                          {{"name", thread_name(process, thread)}});
      left_out += add_thread(events, thread, pids[i], sites, most / num_threads);
    }
    entry["dropped"] = process.dropped + left_out;
    processes.push_back(std::move(entry));
  }
  if (!events.empty()) events.resize(events.size() - 2);  // the last comma
  const Json header = {{"hierbar_trace", kFormat},
                       {"hierbar", HIERBAR_VERSION},
                       {"processes", std::move(processes)}};
  return "{\"displayTimeUnit\":\"ns\",\"otherData\":" + header.dump() + ",\"traceEvents\":[\n" +
         events + "\n]}\n";
}

// Reads line by line, as it was written. Parsed as a whole it would need ten times the file's size.
Timeline parse_perfetto(const std::string& json) try {
  std::size_t begin = std::min(json.find('\n'), json.size());
  Reader reader(Json::parse(json.substr(0, begin) + "]}"));
  for (++begin; begin < json.size();) {
    const std::size_t end = json.find('\n', begin);
    if (end == std::string::npos || json.compare(begin, end - begin, "]}") == 0) break;
    std::size_t length = end - begin;
    if (length > 0 && json[end - 1] == ',') --length;
    if (length > 0)
      reader.add(Json::parse(json.begin() + static_cast<std::ptrdiff_t>(begin),
                             json.begin() + static_cast<std::ptrdiff_t>(begin + length)));
    begin = end + 1;
  }
  return reader.take();
} catch (const Json::parse_error& error) {
  throw std::runtime_error("it is not JSON, from byte " + std::to_string(error.byte) + " on");
} catch (const Json::exception& error) {
  throw std::runtime_error(error.what());
}

}  // namespace hierbar::report
