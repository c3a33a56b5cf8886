// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/mpi/answer.hpp"

#include <nlohmann/json.hpp>

namespace hierbar::bench::mpi {

std::optional<Answer> parse_answer(const std::string& output) {
  const std::size_t start = output.find("{\"version\"");
  if (start == std::string::npos) return std::nullopt;
  const std::string line = output.substr(start, output.find('\n', start) - start);
  try {
    const auto parsed = nlohmann::json::parse(line);
    Answer answer;
    answer.version = parsed.at("version").get<std::string>();
    answer.file = parsed.at("library").get<std::string>();
    answer.barrier = parsed.at("barrier").get<std::string>();
    answer.cpus = parsed.at("cpus").get<std::vector<int>>();
    answer.program = parsed.at("program").get<Answer::Figures>();
    if (parsed.contains("own")) answer.own = parsed.at("own").get<Answer::Figures>();
    return answer;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace hierbar::bench::mpi
