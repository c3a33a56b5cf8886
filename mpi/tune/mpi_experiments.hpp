// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <vector>

#include "network/measure.hpp"

namespace hierbar::mpi {

// Runs experiments between this rank, the client, and another one, the server, which is in
// serve_experiments() meanwhile. Before each experiment the server is told which it is, and
// answers: so both have made their programs and are waiting when the client's first stamp is taken.
class MpiExperiments : public network::ExperimentRunner {
 public:
  MpiExperiments(MPI_Comm comm, int server) : comm_(comm), server_(server) {}
  // Ends the server's serve_experiments().
  ~MpiExperiments() override;
  MpiExperiments(const MpiExperiments&) = delete;
  MpiExperiments& operator=(const MpiExperiments&) = delete;

  double run_us(const network::Experiment& experiment) override;

 private:
  MPI_Comm comm_;
  int server_;
};

// The other side.
void serve_experiments(MPI_Comm comm, int client);

}  // namespace hierbar::mpi
