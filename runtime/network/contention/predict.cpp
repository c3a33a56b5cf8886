// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/contention/predict.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace hierbar::network {
namespace {

Quartiles operator+(const Quartiles& a, const Quartiles& b) {
  return {a.lower + b.lower, a.median + b.median, a.upper + b.upper};
}
Quartiles operator*(const Quartiles& a, double factor) { return {a.lower * factor, a.median * factor, a.upper * factor}; }

// The part of an exchange that does not depend on the size.
double start_up_us(ChannelKind kind, const ContentionTable& table, const Parameters& parameters) {
  const Quartiles smallest = table.time_us(0, 1);
  const double measured = 2 * smallest.median;
  if (kind != ChannelKind::kNetwork) return measured;
  return std::min(measured, parameters.send_overhead_us + parameters.latency_us + parameters.receive_overhead_us);
}

// The bytes of the busier direction over the bandwidth that cf pairs have together.
Quartiles transfer_us(const ChannelUse& use, const ContentionTable& table, double start_us) {
  const Quartiles exchange = table.time_us(use.message_bytes, use.cf) * 2;
  // A cell that is below the start-up, by noise or because the message is small, has no bytes to
  // pay.
  const auto part = [&](double us) { return std::max(0.0, us - start_us) * use.num_bytes / (use.message_bytes * use.cf); };
  return {part(exchange.lower), part(exchange.median), part(exchange.upper)};
}

// The most messages that one rank sends and receives in the step, beyond the first.
double further_overheads_us(const FlowStep& step, std::size_t num_ranks, const Parameters& parameters) {
  std::vector<double> busy(num_ranks, 0);
  for (const Flow& flow : step) {
    busy[flow.from] += flow.num_messages * parameters.send_overhead_us;
    busy[flow.to] += flow.num_messages * parameters.receive_overhead_us;
  }
  const double most = *std::max_element(busy.begin(), busy.end());
  return std::max(0.0, most - parameters.send_overhead_us - parameters.receive_overhead_us);
}

class Predictor {
 public:
  Predictor(const std::vector<Spot>& spots, const Costs& costs, Model model) : spots_(spots), costs_(costs), model_(model) {}

  void add(const FlowStep& step) {
    if (step.empty() || !problem_.empty()) return;
    ++result_.num_steps;
    const std::vector<ChannelUse> uses = channel_uses(step, spots_);
    Quartiles longest;
    ChannelKind binding = uses.front().channel.kind;
    for (const ChannelUse& use : uses) {
      const ContentionTable* table = costs_.contention.table_for(use.channel.kind);
      if (table == nullptr) return refuse(use.channel.kind);
      const Quartiles time = time_of(use, *table);
      if (time.median > longest.median) binding = use.channel.kind;
      longest = {std::max(longest.lower, time.lower), std::max(longest.median, time.median), std::max(longest.upper, time.upper)};
    }
    if (model_ == Model::kShared) {
      const double overheads = further_overheads_us(step, spots_.size(), costs_.parameters);
      longest = longest + Quartiles{overheads, overheads, overheads};
    }
    result_.time_us = result_.time_us + longest;
    count(uses, binding, longest.median);
  }

  Result<Prediction> result() && {
    if (!problem_.empty()) return Error{problem_};
    double most = -1;
    for (auto& [kind, statistics] : result_.channels) {
      statistics.mean_cf /= statistics.num_steps;
      if (statistics.binding_us > most) result_.binding = kind;
      most = std::max(most, statistics.binding_us);
    }
    return std::move(result_);
  }

 private:
  Quartiles time_of(const ChannelUse& use, const ContentionTable& table) const {
    if (model_ == Model::kPaper) return table.time_us(use.message_bytes, use.cf) * use.num_rounds;
    const double start = start_up_us(use.channel.kind, table, costs_.parameters);
    return transfer_us(use, table, start) + Quartiles{start, start, start};
  }

  void refuse(ChannelKind kind) {
    problem_ = std::string("messages go over the channel '") + channel_name(kind) + "', which was not measured";
  }

  void count(const std::vector<ChannelUse>& uses, ChannelKind binding, double step_us) {
    std::map<ChannelKind, std::uint32_t> largest;
    for (const ChannelUse& use : uses) {
      std::uint32_t& cf = largest[use.channel.kind];
      cf = std::max(cf, use.cf);
    }
    for (const auto& [kind, cf] : largest) {
      ChannelStatistics& statistics = result_.channels[kind];
      statistics.largest_cf = std::max(statistics.largest_cf, cf);
      statistics.mean_cf += cf;  // result() divides it
      ++statistics.num_steps;
    }
    ++result_.channels[binding].num_binding;
    result_.channels[binding].binding_us += step_us;
  }

  const std::vector<Spot>& spots_;
  const Costs& costs_;
  Model model_;
  Prediction result_;
  std::string problem_;
};

}  // namespace

Result<Prediction> predict(const Traffic& traffic, const std::vector<Spot>& spots, const Costs& costs, Model model) {
  Predictor predictor(spots, costs, model);
  for_each_step(traffic, static_cast<std::uint32_t>(spots.size()), [&](const FlowStep& step) { predictor.add(step); });
  return std::move(predictor).result();
}

}  // namespace hierbar::network
