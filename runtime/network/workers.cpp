// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/workers.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "base/text.hpp"

namespace hierbar::network {
namespace {

constexpr const char* kTimeLimit = "--time-limit";
constexpr const char* kPairs = "--pairs";
constexpr const char* kOversubscribed = "--oversubscribed";
constexpr const char* kSizes = "--sizes";
constexpr const char* kChannel = "--channel";

Result<WorkerChannel> read_channel(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return Error{"'" + text + "' is no channel"};
  WorkerChannel channel{text.substr(0, equals), {}};
  std::stringstream pairs(text.substr(equals + 1));
  for (std::string pair; std::getline(pairs, pair, ',');) {
    unsigned first = 0, second = 0;
    char rest = 0;
    if (std::sscanf(pair.c_str(), "%u-%u%c", &first, &second, &rest) != 2)
      return Error{"'" + pair + "' is no pair of cpus"};
    channel.cpu_pairs.emplace_back(first, second);
  }
  return channel;
}

}  // namespace

std::vector<std::string> worker_arguments(const WorkerPlan& plan) {
  std::vector<std::string> arguments{kTimeLimit, std::to_string(plan.time_limit_s), kPairs,
                                     std::to_string(plan.most_pairs)};
  if (plan.oversubscribed) arguments.emplace_back(kOversubscribed);
  std::string sizes;
  for (const std::uint64_t size : plan.sizes)
    sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
  arguments.insert(arguments.end(), {kSizes, sizes});
  for (const WorkerChannel& channel : plan.channels) {
    std::string text = channel.name + "=";
    for (const auto& [first, second] : channel.cpu_pairs) {
      text +=
          (text.back() == '=' ? "" : ",") + std::to_string(first) + "-" + std::to_string(second);
    }
    arguments.insert(arguments.end(), {kChannel, text});
  }
  return arguments;
}

Result<WorkerPlan> read_worker_plan(const std::vector<std::string>& arguments) {
  WorkerPlan plan;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == kOversubscribed) {
      plan.oversubscribed = true;
      continue;
    }
    if (i + 1 == arguments.size()) return Error{"'" + arguments[i] + "' has no value"};
    const std::string& name = arguments[i];
    const std::string& value = arguments[++i];
    if (name == kTimeLimit) {
      plan.time_limit_s = std::atof(value.c_str());
    } else if (name == kPairs) {
      plan.most_pairs = static_cast<std::uint32_t>(std::max(1, std::atoi(value.c_str())));
    } else if (name == kSizes) {
      plan.sizes.clear();
      for (const std::string& word : lower_words(value, ','))
        plan.sizes.push_back(std::strtoull(word.c_str(), nullptr, 10));
    } else if (name == kChannel) {
      Result<WorkerChannel> channel = read_channel(value);
      if (!channel) return Error{channel.error()};
      plan.channels.push_back(*std::move(channel));
    } else {
      return Error{"'" + name + "' is no option"};
    }
  }
  return plan;
}

Result<bool> put_cell_line(const std::string& line, Contention& contention) {
  std::stringstream stream(line);
  std::string name;
  std::uint64_t num_bytes = 0;
  std::uint32_t pairs = 0;
  Quartiles time;
  stream >> name >> num_bytes >> pairs >> time.lower >> time.median >> time.upper;
  const auto kind = std::find_if(kChannelKinds.begin(), kChannelKinds.end(),
                                 [&](ChannelKind one) { return name == channel_name(one); });
  if (stream.fail() || kind == kChannelKinds.end() || num_bytes == 0 || pairs == 0 ||
      !(time.lower > 0)) {
    return Error{"'" + line.substr(0, 80) + "' is no cell"};
  }
  contention.tables[*kind].put(num_bytes, pairs, time);
  return true;
}

}  // namespace hierbar::network
