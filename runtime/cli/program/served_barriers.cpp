// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/program/served_barriers.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/served_file.hpp"
#include "base/text.hpp"
#include "cli/program/program.hpp"

namespace hierbar {

namespace {

void add(ServedBarriers::Count& sum, const ServedBarriers::Count& count) {
  sum.num_processes += count.num_processes;
  sum.num_served += count.num_served;
  sum.num_others += count.num_others;
}

std::string describe_barriers(const ServedBarriers::Count& count, const char* kind,
                              const char* library) {
  return std::string(kind) + ": " + plural(count.num_served, "barrier") + " served in " +
         std::to_string(count.num_processes) +
         (count.num_processes == 1 ? " process, " : " processes, ") +
         std::to_string(count.num_others) + " left to the " + library;
}

// Of the calls with data; empty where there were none.
std::string describe_data(const ServedBarriers& barriers) {
  std::string text;
  for (std::size_t i = 0; i < barriers.mpi_data.size(); ++i) {
    const ServedBarriers::Count& count = barriers.mpi_data[i];
    if (count.num_served + count.num_others == 0) continue;
    text += "; " + plural(count.num_served, kDataCallsOfMpi[i].name) + " served, " +
            std::to_string(count.num_others) + " left to the library";
  }
  return text;
}

// The count to which a line of this kind adds.
ServedBarriers::Count& count_of(ServedBarriers& barriers, const std::string& kind) {
  for (std::size_t i = 0; i < barriers.mpi_data.size(); ++i) {
    if (kind == kDataCallsOfMpi[i].kind) return barriers.mpi_data[i];
  }
  return kind == kMoreOfMpi || kind == "mpi" ? barriers.mpi : barriers.openmp;
}

}  // namespace

std::string describe_served(const ServedBarriers& barriers) {
  const auto& [openmp, mpi, mpi_data, other_runtime] = barriers;
  std::string text;
  if (openmp.num_processes > 0) text = describe_barriers(openmp, "OpenMP", "runtime's own");
  if (mpi.num_processes > 0)
    text += (text.empty() ? "" : "; ") + describe_barriers(mpi, "MPI", "library");
  return text + describe_data(barriers);
}

ServedBarriers& ServedBarriers::operator+=(const ServedBarriers& other) {
  add(openmp, other.openmp);
  add(mpi, other.mpi);
  for (std::size_t i = 0; i < mpi_data.size(); ++i) add(mpi_data[i], other.mpi_data[i]);
  if (other_runtime.empty()) other_runtime = other.other_runtime;
  return *this;
}

ServedBarriersFile::ServedBarriersFile() {
  path_ = name_in_temporary_directory("hierbar-served-");
  const int file = mkstemp(path_.data());
  if (file < 0) problem_ = "cannot make " + path_ + ": " + std::strerror(errno);
  if (file >= 0) close(file);
}

ServedBarriersFile::~ServedBarriersFile() {
  if (problem_.empty()) unlink(path_.c_str());
}

ServedBarriers ServedBarriersFile::read() const {
  ServedBarriers barriers;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == kOtherRuntimeLine) {
      std::getline(words >> std::ws, barriers.other_runtime);
      continue;
    }
    const bool is_more = kind == kMoreOfMpi;
    ServedBarriers::Count& count = count_of(barriers, kind);
    std::uint64_t served = 0;
    std::uint64_t others = 0;
    if (!(words >> served >> others)) continue;
    if (!is_more) ++count.num_processes;
    count.num_served += served;
    count.num_others += others;
  }
  return barriers;
}

}  // namespace hierbar
