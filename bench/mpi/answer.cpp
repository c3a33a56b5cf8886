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
    const auto said = nlohmann::json::parse(line);
    Answer answer;
    answer.version = said.at("version").get<std::string>();
    answer.file = said.at("library").get<std::string>();
    answer.barrier = said.at("barrier").get<std::string>();
    answer.cpus = said.at("cpus").get<std::vector<int>>();
    answer.program = said.at("program").get<Answer::Figures>();
    if (said.contains("own")) answer.own = said.at("own").get<Answer::Figures>();
    return answer;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace hierbar::bench::mpi
