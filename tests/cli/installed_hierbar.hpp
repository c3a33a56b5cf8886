// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/cli/run_hierbar.hpp"

namespace hierbar::test {

// A copy of the command as it is installed, with files in place of the libraries, and launchers
// that answer as their kind does.
class InstalledHierbar : public testing::Test {
 protected:
  void SetUp() override {
    // Absolute, and a name of its own: tests run side by side.
    root_ = std::filesystem::absolute("installed_hierbar_" + std::to_string(getpid()));
    std::filesystem::create_directories(root_ / "bin");
    std::filesystem::create_directories(root_ / HIERBAR_LIBDIR / "hierbar/preload");
    std::filesystem::create_directories(root_ / "tools");
    std::filesystem::copy_file(HIERBAR_COMMAND, root_ / "bin/hierbar");
    for (const char* file : {"hierbar/preload/libgomp.so.1", "hierbar/preload/libone_runtime.so",
                             "libhierbar_mpi.so", "libhierbar_mpi_ompi.so", "libhierbar_mpi_abi.so",
                             "libhierbar_mpi_any.so", "libhierbar_ompt.so"}) {
      std::filesystem::copy_file(HIERBAR_STAND_IN, root_ / HIERBAR_LIBDIR / file);
    }
    make_launcher("mpiexec_of_mpich", "HYDRA build details:");
    make_launcher("mpirun_of_ompi", "mpirun (Open MPI) 5.0.3");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  // `hierbar ARGUMENTS` of the copy, with these variables and none that it sets itself.
  CommandResult run_installed(const std::string& arguments, const std::string& variables = "") {
    const std::string clean =
        "-u LD_PRELOAD -u LD_AUDIT -u LD_LIBRARY_PATH -u KMP_INIT_AT_FORK -u KMP_BARRIER -u "
        "OMP_PLACES -u OMP_PROC_BIND -u "
        "KMP_AFFINITY -u HIERBAR_PRIMARY -u HIERBAR_BIND "
        "-u GOMP_CPU_AFFINITY -u OMP_TOOL_LIBRARIES -u HIERBAR_REPORT -u HIERBAR_OUTPUT -u "
        "HIERBAR_SESSIONS -u HYDRA_HOST_FILE "
        "-u SLURM_JOB_ID -u PBS_JOBID -u LSB_JOBID -u PE_HOSTFILE PATH='" +
        tools() + "':\"$PATH\" ";
    return run_hierbar(arguments,
                       clean + variables + " sh -c 'shift; exec \"" + command() + "\" \"$@\"' sh");
  }
  std::string command() const { return (root_ / "bin/hierbar").string(); }
  std::string tools() const { return (root_ / "tools").string(); }
  std::string library(const std::string& file) const {
    return (root_ / HIERBAR_LIBDIR / file).string();
  }
  std::string with_runtime(const std::string& shim) const {
    return library(shim) + ":" + library("hierbar/preload/libgomp.so.1");
  }

  // A program in PATH.
  void make_tool(const std::string& name, const std::string& script) const {
    const std::string path = tools() + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << script << '\n';
    chmod(path.c_str(), 0755);
  }

 private:
  void make_launcher(const std::string& name, const std::string& answer) const {
    make_tool(name, "echo '" + answer + "'");
  }

  std::filesystem::path root_;
};

}  // namespace hierbar::test
