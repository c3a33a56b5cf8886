// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "barrier/algorithm.hpp"
#include "bench/model/trial/trial.hpp"
#include "plan/locality.hpp"
#include "topology/machine.hpp"

namespace hierbar::bench::model {

// The figures of M. G. Kurnosov, Vestnik SibGUTI 16(2), 2022, section 3: MPI_Barrier over shared
// memory on 2 x Kunpeng 920-6426, in us.

enum class Column : std::uint8_t { kOnePackage, kCore, kNuma, kSocket };
inline constexpr std::size_t kNumColumns = 4;
inline constexpr std::array<std::string_view, kNumColumns> kColumnNames = {"64 cores", "core",
                                                                           "numa", "socket"};

struct ColumnSetting {
  Mapping mapping;
  std::uint32_t num_participants;
};
constexpr ColumnSetting setting_of(Column column) {
  switch (column) {
    case Column::kOnePackage:
      return {Mapping::kCore, 64};
    case Column::kCore:
      return {Mapping::kCore, 128};
    case Column::kNuma:
      return {Mapping::kNuma, 128};
    case Column::kSocket:
      break;
  }
  return {Mapping::kPackage, 128};
}

struct PaperRow {
  std::string_view name;  // the paper's name
  Algorithm algorithm;
  std::vector<Level> levels;           // for `topo`
  std::array<double, kNumColumns> us;  // 0: not measured
};
std::span<const PaperRow> paper_rows();

struct Cell {
  std::size_t row;
  Column column;
};
// All 37 cells that were measured, row by row.
std::vector<Cell> paper_cells();

inline double paper_us(const Cell& cell) {
  return paper_rows()[cell.row].us[static_cast<std::size_t>(cell.column)];
}
inline bool is_topo(const Cell& cell) {
  return paper_rows()[cell.row].algorithm == Algorithm::kTopo;
}
// Whether parameters are fitted to the cell. The other cells are held out.
inline bool is_training(const Cell& cell) {
  return cell.column == Column::kOnePackage || cell.column == Column::kCore;
}

// The paper's measurements, as trials on a machine that has the paper's levels.
class PaperTrials {
 public:
  // Errors: the machine has too few cores, or lacks a level.
  static Result<PaperTrials> make(const Machine& machine, const std::vector<Cell>& cells);

  const std::vector<Cell>& cells() const { return cells_; }
  std::size_t size() const { return cells_.size(); }

  // The period of one cell, in us.
  Result<double> run(std::size_t index, const Parameters& parameters, std::uint64_t seed,
                     const Episodes& episodes);
  // The periods of all cells, in their order.
  Result<std::vector<double>> run_all(const Parameters& parameters, std::uint64_t seed,
                                      const Episodes& episodes = {});

  Scenario& scenario(Column column) { return scenarios_.at(column); }

 private:
  PaperTrials() = default;

  std::vector<Cell> cells_;
  std::map<Column, Scenario> scenarios_;
  std::vector<Trial> trials_;
};

}  // namespace hierbar::bench::model
