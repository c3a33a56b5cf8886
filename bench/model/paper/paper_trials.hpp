// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "bench/model/paper/paper.hpp"
#include "bench/model/trial/scenario.hpp"

namespace hierbar::bench::model {

// The paper's measurements, as trials on a machine that has the paper's levels.
class PaperTrials {
 public:
  // Errors: the machine has too few cores, or lacks a level.
  static Result<PaperTrials> make(const Machine& machine, const std::vector<Cell>& cells);

  const std::vector<Cell>& cells() const { return cells_; }
  std::size_t size() const { return cells_.size(); }

  // The period of one cell, in us.
  Result<double> run(std::size_t index, const Parameters& parameters, std::uint64_t seed, const Episodes& episodes);
  // The periods of all cells, in their order.
  Result<std::vector<double>> run_all(const Parameters& parameters, std::uint64_t seed, const Episodes& episodes = {});

  Scenario& scenario(Column column) { return scenarios_.at(column); }

 private:
  PaperTrials() = default;

  std::vector<Cell> cells_;
  std::map<Column, Scenario> scenarios_;
  std::vector<Trial> trials_;
};

}  // namespace hierbar::bench::model
