// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/report/report_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <string_view>

#include "bench/common/text.hpp"

namespace hierbar::bench {

std::string disturbance_text(const Disturbance& disturbance) {
  if (disturbance.others < 0) return "How much other programs ran meanwhile is not known.";
  std::string text =
      fmt::format("Other programs took {:.0f} % of the cpus' time, the hypervisor {:.0f} %.",
                  100 * disturbance.others, 100 * disturbance.steal);
  if (disturbance.others + disturbance.steal > kDisturbed)
    text += " THE MACHINE WAS NOT QUIET: rows marked disturbed or unclear have no verdict.";
  return text;
}

std::string number(double ns) {
  return ns < 1000 ? fmt::format("{:.1f}", ns) : fmt::format("{:.0f}", ns);
}

std::string ratio_text(double ratio) {
  if (ratio >= 100) return fmt::format("{:.0f}", ratio);
  return ratio >= 0.1 ? fmt::format("{:.2f}", ratio) : fmt::format("{:.4f}", ratio);
}

std::string ratio_cell(const Group& group, const std::optional<Ratio>& ratio) {
  if (!ratio) return "-";
  const std::string doubt = doubt_of(group, *ratio);
  return doubt.empty() ? ratio_text(ratio->value) : doubt;
}

std::string repetitions_text(const Group& group) {
  const auto num_kept = std::count_if(group.blocks.begin(), group.blocks.end(),
                                      [](const Block& block) { return block.kept; });
  const auto num_dropped = static_cast<std::ptrdiff_t>(group.blocks.size()) - num_kept;
  std::string text = counted(num_kept, "repetition");
  if (num_dropped > 0)
    text +=
        fmt::format(", {} more dropped: others used the cpus, or the regime changed", num_dropped);
  if (group.disturbed)
    text += fmt::format("; DISTURBED: others took {:.0f} % of the cpus or more in each",
                        100 * *group.disturbed);
  return text;
}

std::string spread_text(const Ratio& ratio) {
  return fmt::format("{} .. {}", ratio_text(ratio.lowest), ratio_text(ratio.highest));
}

std::string host_text(const Host& host) {
  std::string text =
      fmt::format("cpu        {}{}\n", host.cpu_model, host.hypervisor ? " (virtual machine)" : "");
  text += fmt::format("topology   {}\n", host.topology);
  text += fmt::format("kernel     {}, frequency governor {}\n", host.kernel, host.governor);
  return text;
}

std::string run_text(const Measurements& measurements, int asked_repetitions, double time_limit_s) {
  std::string text;
  if (const auto range = summarize(measurements.one_way_ns)) {
    text += fmt::format(
        "One line, one way, during the run: {:.0f} ns ({:.0f} .. {:.0f}); regime {}; the regime "
        "changed {}",
        range->median, range->minimum, range->maximum, regime_name(classify_regime(range->median)),
        measurements.num_regime_changes == 0 ? "never"
                                             : counted(measurements.num_regime_changes, "time"));
    text += fmt::format(", {} repeated\n", counted(measurements.num_repeated_blocks, "block"));
  }
  if (measurements.stopped_by != 0) {
    text +=
        fmt::format("Stopped {} in repetition {}.\n",
                    measurements.stopped_by == SIGALRM ? "when its time was over" : "by a signal",
                    measurements.num_repetitions + 1);
  } else if (measurements.num_repetitions < asked_repetitions) {
    text += fmt::format("The time limit of {:.0f} s allowed {} of {} repetitions.\n", time_limit_s,
                        measurements.num_repetitions, asked_repetitions);
  }
  text += fmt::format("The run took {:.0f} s", measurements.seconds);
  if (measurements.waited_s > 0)
    text += fmt::format(", {:.0f} of them to wait for a quiet machine", measurements.waited_s);
  return text + fmt::format(". {}\n", disturbance_text(measurements.disturbance));
}

std::string verdicts_text(const std::vector<Verdict>& verdicts) {
  if (verdicts.empty()) return "Targets: none applies to what was measured.\n";
  std::string text = "Targets\n";
  for (const Verdict& verdict : verdicts) {
    const std::string_view word = verdict.outcome == Outcome::kPass   ? "PASS"
                                  : verdict.outcome == Outcome::kFail ? "FAIL"
                                                                      : "NOT MEASURED";
    const std::string value =
        verdict.value ? fmt::format("{:.4g} <= {:.4g}", *verdict.value, verdict.limit) : "";
    text += fmt::format("  {:<12}  {:<66} {:>18}  {}\n", word, verdict.what, value, verdict.note);
  }
  return text;
}

}  // namespace hierbar::bench
