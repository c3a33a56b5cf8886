// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs every schedule in SimGrid's SMPI, by the source that runs it in the shim, and compares the
// times with those of the model:
//
//   smpi_meetings L=US,o_s=US,o_r=US,g=0 POLL_US
//
// The platform must have these costs, and SMPI's own polls must cost nothing; smpi_test.sh makes
// one. Rank 0 prints a table, Spearman's
// rank correlation and the regret, and exits with 1 if they are out of bounds.

#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mpi/between/schedule_runner.hpp"
#include "network/choose.hpp"

namespace {

using namespace hierbar;

constexpr double kLeastCorrelation = 0.9;
constexpr double kMostRegret = 1.10;
constexpr double kLead_s =
    0.5;  // of simulated time, for all ranks to hear of the moment at which they enter
constexpr const char* kKinds =
    "linear,double-ring,recursive-doubling,dissemination:1,dissemination:2,dissemination:3,"
    "dissemination:5,dissemination:7,"
    "dissemination:15,tree:1,tree:2,tree:4,tree:8,combining-tree:2,combining-tree:4,combining-tree:"
    "8";

timespec time_between_polls{};

timespec timespec_of_us(double us) { return {0, static_cast<long>(us * 1000)}; }

// A poll that finds nothing costs once. SMPI would charge it for each of the requests.
int poll_all(int num_requests, MPI_Request* requests, int* done, MPI_Status* statuses) {
  const int status = PMPI_Testall(num_requests, requests, done, statuses);
  if (*done == 0) nanosleep(&time_between_polls, nullptr);
  return status;
}

mpi::Pmpi smpi() {
  mpi::Pmpi pmpi{};
  pmpi.Irecv = PMPI_Irecv;
  pmpi.Isend = PMPI_Isend;
  pmpi.Testall = poll_all;
  pmpi.Cancel = PMPI_Cancel;
  pmpi.Request_free = PMPI_Request_free;
  pmpi.byte = MPI_BYTE;
  pmpi.request_null = MPI_REQUEST_NULL;
  return pmpi;
}

double maximum(double value) {
  double result = 0;
  PMPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return result;
}

// All enter at the same moment, since simulated ranks have one clock. The time until the last one
// leaves.
template <class Function>
double measure_us(Function barrier) {
  const double moment = maximum(PMPI_Wtime()) + kLead_s;
  const timespec wait = timespec_of_us(1e6 * (moment - PMPI_Wtime()));
  nanosleep(&wait, nullptr);
  barrier();
  return 1e6 * maximum(PMPI_Wtime() - moment);
}

// The place of each value among all, from 0; equal values share the mean of theirs.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<double> ranks;
  for (const double value : values) {
    const auto below =
        std::count_if(values.begin(), values.end(), [&](double other) { return other < value; });
    const auto equal = std::count(values.begin(), values.end(), value);
    ranks.push_back(static_cast<double>(below) + static_cast<double>(equal - 1) / 2);
  }
  return ranks;
}

// Spearman's: the correlation of the places.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks_of(a), y = ranks_of(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xy / std::sqrt(xx * yy);
}

bool report(const std::vector<network::Ranked>& ranked, const std::vector<double>& measured_us,
            double library_us) {
  std::vector<double> evaluated_us;
  std::printf("%-20s %12s %12s\n", "us", "model", "SMPI");
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    evaluated_us.push_back(ranked[i].evaluated_us);
    std::printf("%-20s %12.1f %12.1f\n", name_of(ranked[i].kind).c_str(), evaluated_us[i],
                measured_us[i]);
  }
  std::printf("%-20s %12s %12.1f\n", "SMPI's own", "", library_us);
  // They are sorted by the model's time, so the first is the choice.
  const double correlation = rank_correlation(evaluated_us, measured_us);
  const double regret =
      measured_us.front() / *std::min_element(measured_us.begin(), measured_us.end());
  std::printf("rank correlation %.3f (at least %.1f), regret of the choice %.3f (at most %.2f)\n",
              correlation, kLeastCorrelation, regret, kMostRegret);
  return correlation >= kLeastCorrelation && regret <= kMostRegret;
}

}  // namespace

int main(int argc, char** argv) {
  const auto costs = argc == 3 ? network::parse_parameters(argv[1])
                               : Error{"needs the costs and the time of a poll"};
  if (!costs) return 2;
  time_between_polls = timespec_of_us(std::atof(argv[2]));
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  const mpi::Pmpi pmpi = smpi();
  const auto num_ranks = static_cast<std::uint32_t>(size);
  // Every rank would work out the same; only the times need rank 0's.
  std::vector<network::Kind> kinds = *network::parse_kinds(kKinds);
  std::vector<network::Ranked> ranked;
  if (rank == 0) ranked = network::choose(kinds, num_ranks, {*costs, {}});
  for (std::size_t i = 0; i < ranked.size(); ++i) kinds[i] = ranked[i].kind;
  PMPI_Bcast(kinds.data(), static_cast<int>(kinds.size() * sizeof kinds.front()), MPI_BYTE, 0,
             MPI_COMM_WORLD);
  std::vector<double> measured_us;
  for (const network::Kind kind : kinds) {
    const std::vector<network::Round> rounds =
        network::rounds(kind, static_cast<std::uint32_t>(rank), num_ranks);
    mpi::ScheduleRunner runner;
    runner.prepare(rounds);
    measured_us.push_back(measure_us([&] { runner.run(rounds, pmpi, MPI_COMM_WORLD); }));
  }
  const double library_us = measure_us([] { PMPI_Barrier(MPI_COMM_WORLD); });
  const bool is_good = rank != 0 || report(ranked, measured_us, library_us);
  MPI_Finalize();
  return is_good ? 0 : 1;
}
