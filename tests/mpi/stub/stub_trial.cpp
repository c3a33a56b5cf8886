// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stub_trial.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace hierbar::test {
namespace {

// Copies of the shim's library, beside a link to the one that it loads. They stay loaded, and their
// files stay until the end of the test, for the sanitizers' reports.
class ShimCopies {
 public:
  ShimCopies() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "hierbar-shims-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    directory_ = pattern;
    const std::filesystem::path library(HIERBAR_TEST_SHIM);
    std::filesystem::create_symlink(library.parent_path() / "libhierbar.so",
                                    directory_ / "libhierbar.so");
  }
  ~ShimCopies() { std::filesystem::remove_all(directory_); }

  ShimCalls load() {
    const std::filesystem::path copy =
        directory_ / ("shim" + std::to_string(num_copies_++) + ".so");
    std::filesystem::copy_file(HIERBAR_TEST_SHIM, copy);
    void* library = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) throw std::runtime_error(dlerror());
    ShimCalls calls{};
    bind(library, "MPI_Barrier", calls.barrier);
    bind(library, "MPI_Allreduce", calls.allreduce);
    bind(library, "MPI_Allgather", calls.allgather);
    bind(library, "MPI_Alltoall", calls.alltoall);
    bind(library, "MPI_Bcast", calls.bcast);
    bind(library, "MPI_Gather", calls.gather);
    bind(library, "MPI_Reduce", calls.reduce);
    bind(library, "MPI_Reduce_scatter_block", calls.reduce_scatter);
    bind(library, "MPI_Scatter", calls.scatter);
    bind(library, "MPI_Comm_free", calls.comm_free);
    bind(library, "MPI_Comm_disconnect", calls.comm_disconnect);
    bind(library, "MPI_Finalize", calls.finalize);
    bind(library, "MPI_Session_init", calls.session_init);
    bind(library, "MPI_Session_finalize", calls.session_finalize);
    bind(library, "MPI_Comm_dup", calls.comm_dup);
    bind(library, "MPIX_Threadcomm_init", calls.threadcomm_init);
    bind(library, "MPIX_Threadcomm_start", calls.threadcomm_start);
    bind(library, "MPIX_Threadcomm_finish", calls.threadcomm_finish);
    bind(library, "MPIX_Threadcomm_free", calls.threadcomm_free);
    bind(library, "hierbar_team_create", calls.team_create);
    bind(library, "hierbar_team_join", calls.team_join);
    bind(library, "hierbar_team_barrier", calls.team_barrier);
    bind(library, "hierbar_team_allreduce", calls.team_allreduce);
    bind(library, "hierbar_team_bcast", calls.team_bcast);
    bind(library, "hierbar_team_free", calls.team_free);
    return calls;
  }

 private:
  template <class Function>
  static void bind(void* library, const char* symbol, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, symbol));
    if (function == nullptr) throw std::runtime_error(dlerror());
  }

  std::filesystem::path directory_;
  int num_copies_ = 0;
};

ShimCalls load_shim() {
  static ShimCopies copies;
  return copies.load();
}

}  // namespace

MPI_Comm StubTrial::Rank::duplicate(MPI_Comm comm) {
  MPI_Comm copy;
  PMPI_Comm_split(comm, 0, process.find(comm)->rank, &copy);
  return copy;
}

StubTrial::StubTrial(int num_ranks, const std::vector<Setting>& settings, int thread_level) {
  setenv("HIERBAR_VERBOSE", "1", 1);
  setenv("HIERBAR_MPI_SET_UP_AT", "1", 1);
  for (const auto& [name, value] : settings) {
    setenv(name, value, 1);
    variables_.push_back(name);
  }
  const auto world = std::make_shared<StubComm>(num_ranks);
  for (int rank = 0; rank < num_ranks; ++rank)
    ranks_.push_back(std::make_unique<Rank>(world, rank, thread_level, load_shim()));
}

StubTrial::~StubTrial() {
  for (const char* name : variables_) unsetenv(name);
}

void StubTrial::run(const std::function<void(Rank&)>& body) {
  ::testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (const auto& rank : ranks_) {
    threads.emplace_back([&] {
      rank->process.make_current();
      body(*rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::istringstream output(::testing::internal::GetCapturedStderr());
  for (std::string line; std::getline(output, line);) {
    if (line.rfind("hierbar: mpi: ", 0) != 0)
      std::fprintf(stderr, "%s\n", line.c_str());  // a sanitizer's
    said_.push_back(line);
  }
}

int StubTrial::times_said(const std::string& text) {
  return static_cast<int>(std::count_if(said_.begin(), said_.end(), [&](const std::string& line) {
    return line.rfind("hierbar: mpi: ", 0) == 0 && line.find(text) != std::string::npos;
  }));
}

int StubTrial::num_library_barriers() const {
  return std::accumulate(ranks_.begin(), ranks_.end(), 0, [](int sum, const auto& rank) {
    return sum + rank->process.num_barriers.load();
  });
}

std::size_t StubTrial::num_left_over() const {
  return std::accumulate(
      ranks_.begin(), ranks_.end(), std::size_t{0},
      [](std::size_t sum, const auto& rank) { return sum + rank->process.num_left_over(); });
}

int StubTrial::num_open() const {
  return std::accumulate(ranks_.begin(), ranks_.end(), 0, [](int sum, const auto& rank) {
    return sum + rank->process.num_open.load() + static_cast<int>(rank->process.keyvals.size());
  });
}

}  // namespace hierbar::test
