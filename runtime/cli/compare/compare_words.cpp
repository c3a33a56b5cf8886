// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/compare/compare_words.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <csignal>
#include <cstring>

#include "base/quartiles.hpp"
#include "base/text.hpp"

namespace hierbar {
namespace {

std::vector<double> figures_of(const WayRuns& way) {
  std::vector<double> figures;
  for (const TimedRun& run : way.runs) figures.push_back(run.figure);
  return figures;
}

// "signal 11 (Segmentation fault)"
std::string end_of(const CountedRun& run) {
  if (run.signal == 0) return "exit status " + std::to_string(run.exit_code);
  return "signal " + std::to_string(run.signal) + " (" + strsignal(run.signal) + ")";
}

// The beginning of a line that a program has printed, without what a terminal would obey.
std::string shortened(std::string line) {
  constexpr std::size_t kMostCharacters = 100;
  if (line.size() > kMostCharacters) line = line.substr(0, kMostCharacters) + "...";
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
  return line;
}

// "as it is", "with hierbar, 4 threads"
std::string manner(const CompareRequest& request, std::size_t index) {
  const Way& way = request.ways[index];
  return way.base == index ? label(way) : "with " + label(way);
}

std::string percent(double share) { return format_text("%.0f %%", 100 * share); }

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string figure_text(double figure, const FigureKind& kind) {
  if (kind.is_own) return format_text("%.4g", figure);
  if (figure < 1e-3) return format_text("%.1f us", 1e6 * figure);
  if (figure < 1) return format_text("%.1f ms", 1e3 * figure);
  return format_text("%.3f s", figure);
}

PairedRatio ratio_of(const WayRuns& way, const WayRuns& base) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(way.runs.size(), base.runs.size()); ++i)
    ratios.push_back(way.runs[i].figure / base.runs[i].figure);
  return summarize_pairs(std::move(ratios));
}

std::string describe(const PairedRatio& ratio, const FigureKind& kind, const std::string& whose) {
  if (ratio.num_pairs == 0) return "no pair of runs is complete";
  std::string text = format_text("%.2f of %s %s (", ratio.median, whose.c_str(),
                                 kind.larger_is_better ? "rate" : "time");
  if (ratio.num_pairs > 1) text += format_text("%.2f to %.2f, ", ratio.lower, ratio.upper);
  text += plural(ratio.num_pairs, "pair") + ")";
  if (ratio.num_pairs == 1) return text;
  switch (judge(ratio, kind.larger_is_better)) {
    case Judgement::kFaster:
      return "faster, " + text;
    case Judgement::kSlower:
      return "slower, " + text;
    case Judgement::kNoDifference:
      break;
  }
  return "no difference beyond the noise, " + text;
}

std::string label(const Way& way) {
  return way.team_size == 0 ? way.name : way.name + ", " + plural(way.team_size, "thread");
}

namespace {

// Where several team sizes are compared: what part of the same team's figure as it is.
std::string part_of_base(const CompareRequest& request, const Comparison& comparison,
                         std::size_t index) {
  const Way& way = request.ways[index];
  if (way.team_size == 0 || way.base == index) return "";
  const PairedRatio ratio = ratio_of(comparison.ways[index], comparison.ways[way.base]);
  return format_text(", %.2f (%.2f to %.2f) of this team as it is", ratio.median, ratio.lower,
                     ratio.upper);
}

}  // namespace

std::vector<std::string> describe_ways(const CompareRequest& request, const Comparison& comparison,
                                       const FigureKind& kind) {
  std::vector<std::string> lines;
  std::size_t width = 0;
  for (const Way& way : request.ways) width = std::max(width, label(way).size());
  for (std::size_t i = 0; i < request.ways.size(); ++i) {
    const WayRuns& way = comparison.ways[i];
    const Quartiles figures = quartiles_of(figures_of(way));
    std::vector<double> cpu;
    for (const TimedRun& run : way.runs) cpu.push_back(run.cpu_seconds);
    std::string name = label(request.ways[i]);
    name.resize(width, ' ');
    lines.push_back(name + "  " + figure_text(figures.median, kind) + " (" +
                    figure_text(figures.lower, kind) + " to " + figure_text(figures.upper, kind) +
                    "), cpu time " + figure_text(quartiles_of(cpu).median, {}) +
                    part_of_base(request, comparison, i) +
                    (way.inactivity ? "; not active: " + way.inactivity->words : ""));
  }
  return lines;
}

BestWay find_best(const CompareRequest& request, const Comparison& comparison,
                  const FigureKind& kind, const std::string& name) {
  const auto is_better = [&](std::size_t one, std::size_t other) {
    const double a = quartiles_of(figures_of(comparison.ways[one])).median;
    const double b = quartiles_of(figures_of(comparison.ways[other])).median;
    return kind.larger_is_better ? a > b : a < b;
  };
  std::vector<std::size_t> ways;
  for (std::size_t i = 0; i < request.ways.size(); ++i) {
    if (request.ways[i].name == name) ways.push_back(i);
  }
  BestWay best{.way = *std::min_element(ways.begin(), ways.end(), is_better), .as_good = {}};
  for (const std::size_t way : ways) {
    const PairedRatio ratio = ratio_of(comparison.ways[way], comparison.ways[best.way]);
    if (way != best.way && judge(ratio, kind.larger_is_better) == Judgement::kNoDifference)
      best.as_good.push_back(request.ways[way].team_size);
  }
  return best;
}

std::string describe(const BestWay& best, const CompareRequest& request,
                     const Comparison& comparison, const FigureKind& kind) {
  const Way& way = request.ways[best.way];
  std::string text = "best " + label(way) + ": " +
                     figure_text(quartiles_of(figures_of(comparison.ways[best.way])).median, kind);
  std::string sizes;
  for (const std::uint32_t size : best.as_good)
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  return sizes.empty() ? text : text + "; no difference beyond the noise with " + sizes;
}

std::string describe(const OutputDifference& difference, const std::string& way) {
  using Kind = OutputDifference::Kind;
  const auto example = [&] {
    return "; line " + std::to_string(difference.first_line) + ": '" +
           shortened(difference.as_it_is) + "' as it is, '" + shortened(difference.other) +
           "' with " + way;
  };
  switch (difference.kind) {
    case Kind::kNone:
    case Kind::kNotCompared:
      return "";
    case Kind::kOrder:
      return "the output has the same lines in another order with " + way;
    case Kind::kNumLines:
      return "the output has " + plural(difference.num_lines, "line") + " with " + way + ", and " +
             std::to_string(difference.num_compared) + " as it is";
    case Kind::kNumbers:
      return "the output differs in numbers, by " + format_text("%.1e", difference.largest) +
             " of their value at most, in " + plural(difference.num_lines, "line") + example();
    case Kind::kLines:
      return "the output differs in " + plural(difference.num_lines, "line") + example();
  }
  return "";
}

std::string describe(const FailedRun& failure, const CompareRequest& request) {
  const bool is_base = request.ways[failure.way].base == failure.way;
  const std::string how = manner(request, failure.way);
  std::string text = is_base ? "the program fails " + how + ": " + end_of(failure.run)
                             : "the program ends with " + end_of(failure.run) + " " + how +
                                   ", and with exit status " + std::to_string(failure.expected) +
                                   " as it is";
  if (is_base && failure.run.signal == 0) text += "; --ignore-failure compares it nevertheless";
  if (!failure.last_lines.empty()) text += "; the last that it printed:\n" + failure.last_lines;
  return text;
}

std::vector<std::string> find_doubts(const CompareRequest& request, const Comparison& comparison) {
  std::vector<std::string> doubts;
  const std::size_t num_pairs = comparison.num_rounds();
  if (comparison.asked_to_end != 0) {
    const std::string when =
        comparison.num_planned == 0
            ? "in the warm-up"
            : "after " + grouped(num_pairs) + " of " + grouped(comparison.num_planned) + " pairs";
    doubts.push_back("ended by signal " + std::to_string(comparison.asked_to_end) + " " + when +
                     ", in a run " + manner(request, comparison.last_way));
  }
  if (num_pairs > 1 && num_pairs < kFewestPairsForRange) {
    doubts.push_back(
        format_text("%zu pairs give a range of %s only; --runs %zu gives one of 95 %%", num_pairs,
                    percent(summarize_pairs(std::vector<double>(num_pairs)).confidence).c_str(),
                    kFewestPairsForRange));
  }
  if (num_pairs > 0 && comparison.disturbance.share() > kDisturbed) {
    doubts.push_back("others took " + percent(comparison.disturbance.share()) +
                     " of the machine's time meanwhile; a quiet machine gives a narrower range");
  }
  if (comparison.ways.front().last.barriers.num_served() > 0)
    doubts.emplace_back("as it is the program has hierbar's barriers, by its environment");
  for (std::size_t i = 0; i < request.ways.size(); ++i) {
    if (const std::size_t outliers = count_outliers(figures_of(comparison.ways[i])); outliers > 0)
      doubts.push_back(plural(outliers, "run") + " " + manner(request, i) +
                       " took far longer or shorter than the others");
  }
  // The start of a process with hierbar's libraries takes some milliseconds more.
  constexpr double kShortSeconds = 0.1;
  if (!request.figure && num_pairs > 0 &&
      quartiles_of(figures_of(comparison.ways.front())).median < kShortSeconds) {
    doubts.emplace_back(
        "the program runs for less than 0.1 s, of which its start is a large part; --time reads "
        "the figure that it prints itself");
  }
  return doubts;
}

}  // namespace hierbar
