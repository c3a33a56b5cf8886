// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/timeline.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "report/format/perfetto.hpp"

namespace hierbar::report {
namespace {

using testing::HasSubstr;

// `count` barriers of 100 ns, a microsecond apart, with two steps each.
Timeline one_process(long rank, const std::string& host, std::uint32_t num_threads,
                     std::uint64_t count) {
  Timeline timeline;
  timeline.sites = {{"solve(\"x\")+0x10", "explicit"}};
  ProcessTimeline& process = timeline.processes.emplace_back();
  process.rank = rank;
  process.host = host;
  for (std::uint32_t i = 0; i < num_threads; ++i) {
    ThreadTimeline& thread = process.threads.emplace_back();
    thread.number = i;
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::uint64_t begin = 1'000'000'000'000'001 + 1000 * k;
      thread.slices.push_back({begin, begin + 100, Step::kBarrier, 0});
      thread.slices.push_back({begin, begin + 60, Step::kImbalance, 0});
      thread.slices.push_back({begin + 60, begin + 100, Step::kSync, 0});
    }
  }
  return timeline;
}

TEST(Timeline, HasNoSliceThatSticksOut) {
  std::vector<Slice> slices = {{50, 120, Step::kRelease, 0},
                               {0, 100, Step::kBarrier, 0},
                               {0, 50, Step::kGather, 0},
                               {100, 130, Step::kBarrier, 0},
                               {130, 120, Step::kSync, 0}};
  nest(slices);
  ASSERT_EQ(slices.size(), 5U);
  EXPECT_EQ(slices[0].step, Step::kBarrier);
  EXPECT_EQ(slices[1].step, Step::kGather);
  EXPECT_EQ(slices[2].end_ns, 100U) << "the end of the barrier around";
  EXPECT_EQ(slices[3].end_ns, 130U);
  EXPECT_EQ(slices[4].end_ns, 130U) << "not before its begin";
}

TEST(Timeline, IsTheSameWhenReadAgain) {
  Timeline timeline = one_process(3, "node", 2, 5);
  timeline.processes[0].dropped = 7;
  timeline.processes[0].realtime_offset_ns = -12;
  const std::string text = to_perfetto(timeline);
  EXPECT_THAT(text, HasSubstr("rank 3 @node"));
  EXPECT_EQ(to_perfetto(parse_perfetto(text)), text);
  EXPECT_EQ(nlohmann::json::parse(text).at("traceEvents").size(), 2U + 2 * (1 + 15));
}

TEST(Timeline, OfSomethingElseIsRefused) {
  for (const char* text : {"", "{}", "[1]", "{\"traceEvents\":[\n]}\n",
                           "{\"otherData\":{\"hierbar_trace\":2},\"traceEvents\":[\n]}\n"})
    EXPECT_THROW(parse_perfetto(text), std::runtime_error) << text;
  std::string text = to_perfetto(one_process(0, "node", 1, 1));
  text.replace(text.find("\"tid\":1,\"ts\""), 7, "\"tid\":0");
  EXPECT_THROW(parse_perfetto(text), std::runtime_error);
}

TEST(Timeline, KeepsTheNewestOfWhatDoesNotFit) {
  constexpr std::size_t kMost = 20'000;
  const Timeline timeline = one_process(0, "node", 2, 1000);
  const std::string text = to_perfetto(timeline, kMost);
  EXPECT_LT(text.size(), kMost + 1000) << "with its names";
  EXPECT_GT(text.size(), kMost / 2);
  const Timeline kept = parse_perfetto(text);
  std::uint64_t slices = 0;
  for (const ThreadTimeline& thread : kept.processes[0].threads) {
    EXPECT_EQ(thread.slices.back().end_ns, timeline.processes[0].threads[0].slices.back().end_ns);
    EXPECT_EQ(thread.slices.front().step, Step::kBarrier) << "none is cut in the middle";
    slices += thread.slices.size();
  }
  EXPECT_EQ(slices / 3 + kept.processes[0].dropped, 2000U);
}

TEST(Timeline, OfSeveralHostsIsAlignedByTheTimeOfDay) {
  Timeline timeline = one_process(0, "a", 1, 1);
  Timeline same = one_process(1, "a", 1, 1), other = one_process(2, "b", 1, 1);
  timeline.processes[0].realtime_offset_ns = 5000;
  same.processes[0].realtime_offset_ns =
      5300;  // read a little later: the host's clock is still the same
  other.processes[0].realtime_offset_ns = 4000;  // the host has run for longer
  other.sites = {{"another", "explicit"}, {"solve(\"x\")+0x10", "explicit"}};
  Timeline all;
  for (const Timeline& each : {timeline, same, other}) merge_timeline(all, each);
  ASSERT_EQ(all.processes.size(), 3U);
  const auto begin = [&](std::size_t process) {
    return all.processes[process].threads[0].slices[0].begin_ns;
  };
  EXPECT_EQ(begin(1), begin(0));
  EXPECT_EQ(begin(2) + 1000, begin(0));
  EXPECT_EQ(all.sites.size(), 2U);
  EXPECT_EQ(all.sites[all.processes[2].threads[0].slices[0].site].first, "another");
  EXPECT_THAT(to_perfetto(all), HasSubstr("rank 2 @b"));
}

TEST(Timeline, GivesEveryProcessANumberOfItsOwn) {
  Timeline all;
  for (const long rank : {-1L, -1L, 0L}) merge_timeline(all, one_process(rank, "node", 1, 1));
  const auto told = nlohmann::json::parse(to_perfetto(all)).at("otherData").at("processes");
  EXPECT_EQ(told.at(0).at("pid"), 1);
  EXPECT_EQ(told.at(1).at("pid"), 2);
  EXPECT_EQ(told.at(2).at("pid"), 3);
}

TEST(RawRing, KeepsTheLastEventsAndCountsTheOthers) {
  RawRing ring(4);
  for (std::uint64_t i = 0; i < 11; ++i) {
    RawEvent event;
    event.begin = i;
    ring.add(event);
  }
  std::vector<std::uint64_t> begins;
  ring.for_each([&](const RawEvent& event) { begins.push_back(event.begin); });
  EXPECT_THAT(begins, testing::ElementsAre(7, 8, 9, 10));
  EXPECT_EQ(ring.kept(), 4U);
  EXPECT_EQ(ring.dropped(), 7U);
}

// Two threads in one barrier; the runtime does not say when thread 1 left it.
TEST(RawTrace, TellsWhatThreadsKnowTogether) {
  const TraceClock clock = TraceClock::system();
  RawTrace trace(8, clock);
  RawRing* primary = trace.add_thread(0);
  RawRing* worker = trace.add_thread(0);  // of another team
  const std::uint64_t now = clock.now();
  RawEvent event;
  event.team = &trace;
  event.episode = 1;
  event.begin = event.done = now;
  event.end = now + 500;
  primary->add(event);
  event.me = 1;
  event.begin = event.done = now + 300;
  event.end = 0;
  worker->add(event);
  const Timeline timeline = trace.timeline(Process{});
  const auto& threads = timeline.processes.at(0).threads;
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(threads[1].number, 1U) << "0 was taken";
  ASSERT_EQ(threads[1].slices.size(), 3U);
  const auto length = [](const Slice& slice) { return slice.end_ns - slice.begin_ns; };
  EXPECT_EQ(length(threads[0].slices[0]), 500U);
  EXPECT_EQ(threads[0].slices[1].step, Step::kImbalance);
  EXPECT_EQ(length(threads[0].slices[1]), 300U);
  EXPECT_EQ(length(threads[1].slices[0]), 200U) << "left with the primary";
}

// A trace with one process and one event, whose members can be given.
std::string trace_of(const std::string& process, const std::string& event) {
  return R"({"displayTimeUnit":"ns","otherData":{"hierbar_trace":1,"processes":[{"pid":1,"host":"node","process":7,"dropped":0,)" +
         process + "}]},\"traceEvents\":[\n" + event + "\n]}\n";
}
const std::string kEvent =
    R"({"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"barrier","cat":"explicit","args":{"site":"f"}})";

TEST(Timeline, RefusesNumbersThatCannotBe) {
  EXPECT_NO_THROW(parse_perfetto(trace_of(R"("rank":0,"realtime_offset_ns":5)", kEvent)));
  for (const char* process :
       {R"("rank":9223372036854775807,"realtime_offset_ns":5)",
        R"("rank":-2,"realtime_offset_ns":5)", R"("rank":0,"realtime_offset_ns":1e300)",
        R"("rank":0.5,"realtime_offset_ns":5)"}) {
    EXPECT_THROW(parse_perfetto(trace_of(process, kEvent)), std::runtime_error) << process;
  }
}

TEST(Timeline, RefusesABarrierOfNoSite) {
  EXPECT_THROW(
      parse_perfetto(trace_of(R"("rank":0,"realtime_offset_ns":5)",
                              R"({"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"barrier"})")),
      std::runtime_error);
}

// The difference has no signed number; UndefinedBehaviorSanitizer looks.
TEST(Timeline, IsMergedWhateverTheTimesOfDay) {
  Timeline merged =
      parse_perfetto(trace_of(R"("rank":0,"realtime_offset_ns":9223372036854775807)", kEvent));
  Timeline other =
      parse_perfetto(trace_of(R"("rank":1,"realtime_offset_ns":-9223372036854775808)", kEvent));
  other.processes[0].host = "other";
  merge_timeline(merged, other);
  EXPECT_EQ(merged.processes[1].threads[0].slices[0].begin_ns,
            merged.processes[0].threads[0].slices[0].begin_ns + 1);
}

}  // namespace
}  // namespace hierbar::report
