// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/tune/mpi_experiments.hpp"

#include "base/clock.hpp"

namespace hierbar::mpi {
namespace {

using network::Experiment;
using network::Step;

enum Tag : int { kExperiment = 101, kReady, kMessage };

// What is sent to the server. No messages: there are no more experiments.
struct Announcement {
  Experiment experiment;
  bool is_end = false;
};

// Busy, and not in the library: the model's cpu does nothing else meanwhile. Returns by how much it
// has taken too long.
std::int64_t keep_busy(std::int64_t ns) {
  const std::int64_t end_ns = monotonic_ns() + ns;
  for (std::int64_t now_ns;;) {
    if ((now_ns = monotonic_ns()) >= end_ns) return now_ns - end_ns;
  }
}

// Runs a program of one side; returns its stamps in nanoseconds. Where the cpu is taken away in a
// delay, the delay is longer than asked for. Later stamps are as if it had not been: among 16
// delays one is nearly always hit on a busy machine, and o_s is what is left when the delays are
// subtracted.
std::vector<std::int64_t> run(const network::Program& program, MPI_Comm comm, std::vector<char>& buffer) {
  std::vector<std::int64_t> stamps;
  stamps.reserve(program.size());
  std::int64_t too_long_ns = 0;
  for (const Step& step : program) {
    switch (step.what) {
      case Step::Do::kStamp:
        stamps.push_back(monotonic_ns() - too_long_ns);
        break;
      case Step::Do::kDelay:
        too_long_ns += keep_busy(static_cast<std::int64_t>(1000 * step.delay_us));
        break;
      case Step::Do::kSend:
        MPI_Send(buffer.data(), static_cast<int>(step.num_bytes), MPI_BYTE, static_cast<int>(step.peers.front()), kMessage, comm);
        break;
      case Step::Do::kReceive:
        for (const std::uint32_t peer : step.peers) {
          MPI_Recv(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, static_cast<int>(peer), kMessage, comm,
                   MPI_STATUS_IGNORE);
        }
        break;
    }
  }
  return stamps;
}

}  // namespace

MpiExperiments::~MpiExperiments() {
  const Announcement end{.experiment = {}, .is_end = true};
  MPI_Send(&end, sizeof end, MPI_BYTE, server_, kExperiment, comm_);
}

double MpiExperiments::run_us(const Experiment& experiment) {
  const Announcement announcement{.experiment = experiment, .is_end = false};
  const network::Program program = program_of(experiment, network::Side::kClient, static_cast<std::uint32_t>(server_));
  std::vector<char> buffer(experiment.num_bytes + 1);
  MPI_Send(&announcement, sizeof announcement, MPI_BYTE, server_, kExperiment, comm_);
  MPI_Recv(nullptr, 0, MPI_BYTE, server_, kReady, comm_, MPI_STATUS_IGNORE);
  const std::vector<std::int64_t> stamps = run(program, comm_, buffer);
  return static_cast<double>(stamps.back() - stamps.front()) / 1000;
}

void serve_experiments(MPI_Comm comm, int client) {
  for (;;) {
    Announcement announcement;
    MPI_Recv(&announcement, sizeof announcement, MPI_BYTE, client, kExperiment, comm, MPI_STATUS_IGNORE);
    if (announcement.is_end) return;
    const network::Program program =
        program_of(announcement.experiment, network::Side::kServer, static_cast<std::uint32_t>(client));
    std::vector<char> buffer(announcement.experiment.num_bytes + 1);
    MPI_Send(nullptr, 0, MPI_BYTE, client, kReady, comm);
    run(program, comm, buffer);
  }
}

}  // namespace hierbar::mpi
