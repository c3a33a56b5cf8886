// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/paper/paper.hpp"

namespace hierbar::bench::model {

std::span<const PaperRow> paper_rows() {
  static const PaperRow kRows[] = {
      {"sense-reversing", Algorithm::kSenseReversing, {}, {20.19, 50.35, 45.55, 52.80}},
      {"sense-reversing-counter", Algorithm::kSenseReversingCounter, {}, {3.45, 4.41, 5.10, 4.64}},
      {"sense-reversing-gr", Algorithm::kSenseReversingGr, {}, {3.31, 6.80, 7.18, 6.98}},
      {"combining-tree", Algorithm::kCombiningTree, {}, {1.87, 3.09, 3.92, 3.63}},
      {"mcs", Algorithm::kMcs, {}, {2.90, 3.31, 5.47, 4.90}},
      {"tournament", Algorithm::kTournamentTree, {}, {2.61, 3.83, 3.59, 7.38}},
      {"dissemination", Algorithm::kDissemination, {}, {3.18, 4.37, 3.45, 3.85}},
      {"topo-NUMA-SOCKET", Algorithm::kTopo, {Level::kNuma, Level::kPackage}, {0, 3.25, 2.86, 3.16}},
      {"topo-NUMA", Algorithm::kTopo, {Level::kNuma}, {0, 2.98, 2.68, 3.03}},
      {"topo-SOCKET", Algorithm::kTopo, {Level::kPackage}, {0, 3.69, 3.34, 3.16}},
  };
  return kRows;
}

std::vector<Cell> paper_cells() {
  std::vector<Cell> cells;
  for (std::size_t row = 0; row < paper_rows().size(); ++row) {
    for (std::size_t column = 0; column < kNumColumns; ++column) {
      if (paper_rows()[row].us[column] != 0) cells.push_back(Cell{row, static_cast<Column>(column)});
    }
  }
  return cells;
}

}  // namespace hierbar::bench::model
