// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/cli/installed_hierbar.hpp"
#include "tests/cli/run_hierbar.hpp"

namespace hierbar {
namespace {

using test::CommandResult;
using test::run_hierbar;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class RunCommand : public test::InstalledHierbar {
 protected:
  // Called in front of `hierbar`, whose place the copy takes.
  CommandResult run(const std::string& arguments, const std::string& variables = "") {
    return run_installed("run " + arguments, variables);
  }
};

TEST_F(RunCommand, AsksForAReportWhoseFormTheFilesEndingTells) {
  const std::string show = " -- sh -c 'echo $OMP_TOOL_LIBRARIES $HIERBAR_REPORT $HIERBAR_OUTPUT'";
  const std::string tool = library("libhierbar_ompt.so");
  EXPECT_EQ(run("--quiet --report cost.html" + show).output, tool + " html cost.html\n");
  EXPECT_EQ(run("--quiet --report cost-%r.trace.json" + show).output,
            tool + " perfetto cost-%r.trace.json\n");
  EXPECT_EQ(run("--quiet" + show).output, "\n");
  EXPECT_EQ(run("--quiet --report cost.html" + show, "HIERBAR_REPORT=csv").output,
            tool + " csv cost.html\n");
  for (const char* bad : {"cost", "cost.pdf", ".html"}) {
    const CommandResult result = run(std::string("--report ") + bad + show);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.errors,
                AllOf(HasSubstr("--report: '" + std::string(bad) + "'"), HasSubstr(".html")));
  }
}

TEST_F(RunCommand, SetsUpOpenMpAndReturnsTheProgramsCode) {
  const CommandResult result =
      run("--verbose -- sh -c 'echo $LD_PRELOAD $LD_AUDIT $LD_LIBRARY_PATH $KMP_BARRIER "
          "$KMP_AFFINITY $HIERBAR_BIND $HIERBAR_PRIMARY "
          "$KMP_INIT_AT_FORK; exit 5'");
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.output,
              StartsWith(with_runtime("libhierbar_mpi_any.so") + " " +
                         library("hierbar/preload/libone_runtime.so") + " " +
                         library("hierbar/preload") + " hier granularity=core,compact,"));
  EXPECT_THAT(result.output, EndsWith(",reset share free TRUE\n"));
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("hierbar run: KMP_BARRIER=hier (the hierarchical barrier)\n"),
                    HasSubstr("hierbar run: KMP_AFFINITY=granularity=core"),
                    HasSubstr("MPI_Barrier for any MPI; found out when the program calls it")));
  EXPECT_THAT(run("--verbose -- true").errors, HasSubstr("so MPI_Barrier is left alone"));
  EXPECT_THAT(run("--quiet -- true").errors, IsEmpty());
}

TEST_F(RunCommand, LeavesWhatTheUserHasSet) {
  const CommandResult result =
      run("--verbose -- sh -c 'echo $LD_LIBRARY_PATH $KMP_BARRIER $OMP_PLACES $KMP_AFFINITY "
          "$KMP_INIT_AT_FORK'",
          "LD_LIBRARY_PATH=/mine KMP_BARRIER=dist OMP_PLACES=threads KMP_INIT_AT_FORK=FALSE");
  EXPECT_EQ(result.output, library("hierbar/preload") + ":/mine dist threads FALSE\n");
  EXPECT_THAT(result.errors, AllOf(HasSubstr("KMP_BARRIER is left as 'dist'"),
                                   HasSubstr("KMP_INIT_AT_FORK is left as 'FALSE'"),
                                   HasSubstr("threads are bound as LLVM's runtime binds them")));
  EXPECT_THAT(
      run("-- sh -c 'echo $KMP_AFFINITY$HIERBAR_BIND$HIERBAR_PRIMARY'", "KMP_BARRIER=hyper").output,
      "\n")
      << "`reset` costs LLVM's own barriers two system calls a region";
  EXPECT_THAT(run("--verbose -- true", "OMP_PLACES=threads").errors,
              AllOf(HasSubstr("KMP_AFFINITY is not set, because OMP_PLACES is"),
                    HasSubstr("HIERBAR_BIND is not set, because OMP_PLACES is"),
                    HasSubstr("HIERBAR_PRIMARY is not set, because OMP_PLACES is")));
  EXPECT_THAT(run("--verbose -- true", "KMP_AFFINITY=compact").errors,
              HasSubstr("KMP_AFFINITY is left as 'compact'"));
  EXPECT_THAT(
      run("--dry-run -- mpiexec_of_mpich", "LD_PRELOAD=libhierbar_mpi.so").errors,
      HasSubstr("LD_PRELOAD is left as 'libhierbar_mpi.so', which already contains a shim"));
}

TEST_F(RunCommand, LetsRanksThatOutnumberTheCpusShareASession) {
  int has_autogroups = 0;
  std::ifstream("/proc/sys/kernel/sched_autogroup_enabled") >> has_autogroups;
  if (has_autogroups == 0) GTEST_SKIP() << "the kernel schedules no sessions as groups";
  const auto shares = [&](const std::string& command, const std::string& variables = "") {
    return run("--dry-run -- " + command, variables).output.find("HIERBAR_SESSIONS=shared ") !=
           std::string::npos;
  };
  EXPECT_TRUE(shares("mpiexec_of_mpich -n 9999 true"));
  EXPECT_TRUE(shares("mpiexec_of_mpich -n 1 true : -np 9999 true"));
  EXPECT_FALSE(shares("mpiexec_of_mpich -n 1 true")) << "there are cpus enough";
  EXPECT_FALSE(shares("mpiexec_of_mpich -n 1 echo -n 9999")) << "the program's own option";
  EXPECT_FALSE(shares("mpiexec_of_mpich true")) << "who knows how many";
  EXPECT_FALSE(shares("mpiexec_of_mpich -n many true"));
  EXPECT_FALSE(shares("mpiexec_of_mpich -hosts a,b -n 9999 true")) << "on other nodes, too";
  EXPECT_FALSE(shares("mpiexec_of_mpich -n 9999 true", "SLURM_JOB_ID=1"));
  EXPECT_FALSE(shares("mpirun_of_ompi -n 9999 true")) << "its launcher makes no sessions";
  EXPECT_THAT(run("--dry-run -- mpiexec_of_mpich -n 9999 true", "HIERBAR_SESSIONS=own").errors,
              HasSubstr("HIERBAR_SESSIONS is left as 'own'"));
  std::filesystem::remove(library("libhierbar_mpi_any.so"));
  EXPECT_FALSE(shares("mpiexec_of_mpich -n 9999 true")) << "no shim that reads it";
}

TEST_F(RunCommand, AddsToWhatIsPreloadedAndAudited) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP()
      << "glibc's loader has no room for ThreadSanitizer's variables in a program with LD_AUDIT";
#endif
  EXPECT_THAT(
      run("--dry-run -- true", "LD_PRELOAD=/mine.so LD_AUDIT=/audit.so").output,
      // Nobody knows what is in /mine.so, which is missing.
      AllOf(HasSubstr("LD_PRELOAD=" + with_runtime("libhierbar_mpi_any.so") + ":/mine.so "),
            HasSubstr("LD_AUDIT=" + library("hierbar/preload/libone_runtime.so") + ":/audit.so ")));
}

TEST_F(RunCommand, SaysWhetherBarriersWereServed) {
  const std::string two =
      "sh -c 'echo openmp 20 1 >> $HIERBAR_SERVED_FILE; echo openmp 30 0 >> $HIERBAR_SERVED_FILE; "
      "exit 5'";
  const CommandResult served = run("--verbose -- " + two);
  EXPECT_EQ(served.exit_code, 5);
  EXPECT_THAT(
      served.errors,
      HasSubstr("OpenMP: 50 barriers served in 2 processes, 1 left to the runtime's own\n"));
  EXPECT_EQ(run("--verbose -- sh -c 'echo $HIERBAR_VERBOSE'").output, "1\n");
  EXPECT_EQ(run("--require-active -- sh -c 'echo mpi 7 0 >> $HIERBAR_SERVED_FILE'").exit_code, 0);
  EXPECT_THAT(run("-- sh -c 'echo mpi 7 0 >> $HIERBAR_SERVED_FILE; echo mpi-more 3 1 >> "
                  "$HIERBAR_SERVED_FILE'")
                  .errors,
              HasSubstr("MPI: 10 barriers served in 1 process, 1 left to the library\n"));

  const CommandResult idle =
      run("--require-active -- sh -c 'echo openmp 0 4 >> $HIERBAR_SERVED_FILE; echo "
          "$HIERBAR_SERVED_FILE'");
  EXPECT_EQ(idle.exit_code, 3);
  EXPECT_EQ(idle.errors,
            "hierbar run: not active: its 4 barriers went to the library's own; HIERBAR_VERBOSE=1 "
            "says why\n");
  EXPECT_FALSE(std::filesystem::exists(idle.output.substr(0, idle.output.size() - 1)))
      << "the file is left behind";
  EXPECT_EQ(run("--require-active -- sh -c 'exit 6'").exit_code, 6);
  EXPECT_EQ(run("--verbose -- sh -c 'kill -9 $$'").exit_code, 128 + 9);
  EXPECT_EQ(run("--verbose -- /no/such/program").exit_code, 127);
  EXPECT_EQ(run("--verbose -- sh -c 'kill -TERM $PPID; exec sleep 10'").exit_code, 128 + 15)
      << "the signal is passed on";
  EXPECT_THAT(run("--verbose -- true", "TMPDIR=/no/such/directory").exit_code, 0);
}

TEST_F(RunCommand, SaysOneLineAtTheEnd) {
  const std::string both =
      "-- sh -c 'echo openmp 20 1 >> $HIERBAR_SERVED_FILE; echo mpi 7 0 >> $HIERBAR_SERVED_FILE; "
      "exit 5'";
  const CommandResult active = run(both);
  EXPECT_EQ(active.exit_code, 5);
  EXPECT_EQ(active.errors,
            "hierbar run: OpenMP: 20 barriers served in 1 process, 1 left to the runtime's own; "
            "MPI: 7 barriers served in 1 "
            "process, 0 left to the library\n");
  const char* const with_allreduces =
      "--require-active -- sh -c 'echo mpi 0 2 >> $HIERBAR_SERVED_FILE; echo mpi-allreduces 30 1 "
      ">> "
      "$HIERBAR_SERVED_FILE; echo mpi-allreduces 1 0 >> $HIERBAR_SERVED_FILE'";
  EXPECT_EQ(run(with_allreduces).exit_code, 0);
  EXPECT_EQ(
      run(with_allreduces).errors,
      "hierbar run: MPI: 0 barriers served in 1 process, 2 left to the library; 31 allreduces "
      "served, 1 left to the library\n");
  EXPECT_EQ(run("-- sh -c 'echo mpi 3 0 >> $HIERBAR_SERVED_FILE; echo mpi-reduces 2 0 >> "
                "$HIERBAR_SERVED_FILE; echo mpi-bcasts 1 4 >> $HIERBAR_SERVED_FILE'")
                .errors,
            "hierbar run: MPI: 3 barriers served in 1 process, 0 left to the library; 1 bcast "
            "served, 4 left to the library; 2 reduces served, 0 left to the library\n");
  EXPECT_EQ(run("-- true").errors,
            "hierbar run: not active: no OpenMP and no MPI in the program\n");
  EXPECT_EQ(run("-- sh -c 'kill -9 $$'").errors,
            "hierbar run: not active: signal 9 ended it before it could report\n");
  EXPECT_EQ(run("-- sh -c 'echo other-runtime /a b/libgomp.so.1 >> $HIERBAR_SERVED_FILE'").errors,
            "hierbar run: not active: another OpenMP runtime loaded later: /a b/libgomp.so.1\n");
  EXPECT_EQ(run("-- /no/such/program").errors,
            "hierbar: cannot run '/no/such/program': No such file or directory\n");

  EXPECT_THAT(run("-q -- sh -c 'exit 5'").errors, IsEmpty());
  EXPECT_EQ(run("-q -- sh -c 'echo $HIERBAR_SERVED_FILE'").output, "\n")
      << "the program takes the command's place";
  EXPECT_THAT(run("-q --require-active -- true").errors, StartsWith("hierbar run: not active: "));
  EXPECT_THAT(run("-v " + both).errors,
              AllOf(HasSubstr("KMP_BARRIER=hier"), EndsWith("0 left to the library\n")));
  EXPECT_EQ(run("-q -v -- true").exit_code, 2);
}

TEST_F(RunCommand, TellsWhatPlacementMakesOfTeamSizes) {
  EXPECT_THAT(run("--verbose -- true", "OMP_NUM_THREADS= HIERBAR_PLACE=threads=share").errors,
              HasSubstr("HIERBAR_PLACE is left as 'threads=share': a team has as many threads as "
                        "there are cpus in its rank's share"));
  EXPECT_THAT(run("--verbose -- true", "OMP_NUM_THREADS=2 HIERBAR_PLACE=threads=share").errors,
              HasSubstr("has no effect"));
  EXPECT_THAT(
      run("--verbose -- true", "HIERBAR_PLACE=threads=2").errors,
      AllOf(
          HasSubstr(
              "HIERBAR_PLACE is left as 'threads=2': unknown number of threads '2'; allowed: off"),
          HasSubstr("libomp takes auto")));
  EXPECT_THAT(run("--verbose -- true", "HIERBAR_PLACE=").errors, Not(HasSubstr("HIERBAR_PLACE")));
}

// Neither of these programs exists, so it is not known which MPI library they call.
TEST_F(RunCommand, PreloadsWhatFindsTheShimAndGivesTheLauncherWhatItNeeds) {
  const CommandResult mpich = run("--dry-run -- mpiexec_of_mpich -n 2 './a b'");
  EXPECT_EQ(mpich.exit_code, 0);
  EXPECT_THAT(mpich.output, AllOf(HasSubstr(" LD_PRELOAD=" + with_runtime("libhierbar_mpi_any.so") +
                                            " mpiexec_of_mpich -n 2 './a b'\n")));
  const CommandResult ompi = run("--dry-run -- mpirun_of_ompi -n 2 ./app", "OMP_PLACES=cores");
  EXPECT_THAT(ompi.output, HasSubstr(" LD_PRELOAD=" + with_runtime("libhierbar_mpi_any.so") +
                                     " mpirun_of_ompi -x LD_AUDIT -x LD_LIBRARY_PATH -x "
                                     "KMP_BARRIER -x KMP_INIT_AT_FORK -x LD_PRELOAD -n 2 ./app\n"));
  EXPECT_THAT(run("--dry-run --mpi none -- mpiexec_of_mpich").output,
              Not(HasSubstr("libhierbar_mpi")));
  EXPECT_THAT(run("--dry-run --mpi openmpi -- srun ./app").output,
              AllOf(HasSubstr("LD_PRELOAD=" + with_runtime("libhierbar_mpi_ompi.so")),
                    HasSubstr(" srun ./app\n")));
  // Any launcher starts programs of the standard ABI, and gets what it needs for them.
  EXPECT_THAT(run("--dry-run --mpi abi -- mpirun_of_ompi ./app", "OMP_PLACES=cores").output,
              HasSubstr(" LD_PRELOAD=" + with_runtime("libhierbar_mpi_abi.so") +
                        " mpirun_of_ompi -x LD_AUDIT "));
}

TEST_F(RunCommand, ReachesTheRanksOfRealLaunchers) {
  for (const test::Launcher& launcher : test::kLaunchers) {
    if (!test::is_installed(launcher.name)) {
      std::printf("[ skipped  ] %s is not installed\n", launcher.name);
      continue;
    }
    // MPICH 4.0.2's mpiexec dies by SIGPIPE when its ranks have ended before it could pass on the
    // end of its input.
    const std::string rank = " sh -c 'echo rank $KMP_BARRIER; sleep 0.1'";
    const CommandResult result = run("--mpi none -- " + std::string(launcher.anywhere) + rank);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, "rank hier\nrank hier\n") << launcher.name;
    EXPECT_THAT(run("--dry-run -- " + std::string(launcher.name) + " ./app").output,
                HasSubstr("/libhierbar_mpi_any.so:"));
  }
}

TEST_F(RunCommand, RefusesWhatItCannotRun) {
  EXPECT_EQ(run("-- /no/such/program").exit_code, 127);
  const CommandResult none = run("");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.errors, HasSubstr("no program; put it after '--'"));
  const CommandResult mpi = run("--mpi lam -- true");
  EXPECT_EQ(mpi.exit_code, 2);
  EXPECT_THAT(mpi.errors, AllOf(HasSubstr("'lam': no such MPI; allowed: auto, mpich"),
                                HasSubstr("openmpi, abi, none")));
}

TEST(Commands, NameThemselvesAndTheWordsThatTheyDoNotKnow) {
  const auto errors = [](const std::string& arguments) {
    const CommandResult result = run_hierbar(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_THAT(result.output, IsEmpty()) << arguments;
    return result.errors;
  };
  EXPECT_EQ(errors("check --pid 3"),
            "hierbar check: not expected: --pid 3\nSee 'hierbar check --help'.\n");
  EXPECT_EQ(errors("predict"),
            "hierbar predict: --ranks is required\nSee 'hierbar predict --help'.\n");
  EXPECT_THAT(errors("doctor"), StartsWith("hierbar doctor: no program; put it after '--'"));
  EXPECT_THAT(errors(""), StartsWith("hierbar: a command is missing; there are check, doctor, "));
  EXPECT_THAT(errors("--bogus"),
              StartsWith("hierbar: not expected: --bogus; a command is missing; there are "));
}

TEST(Commands, AreNamedWhenOneIsUnknown) {
  const CommandResult unknown = run_hierbar("chekc");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.errors, AllOf(HasSubstr("there is no command 'chekc'; there are check, "),
                                    HasSubstr("--help")));
  const CommandResult with_program = run_hierbar("chekc -- ./app");
  EXPECT_EQ(with_program.exit_code, 2);
  EXPECT_THAT(with_program.errors, HasSubstr("there is no command 'chekc'; there are check, "));
  EXPECT_THAT(run_hierbar("-- ./app").errors, HasSubstr("there is no command before '--'"));
  const CommandResult plan = run_hierbar("plan --participants 2 -- ./app");
  EXPECT_EQ(plan.exit_code, 2);
  EXPECT_THAT(plan.errors, HasSubstr("'plan' starts no program, so nothing may follow '--'"));
}

}  // namespace
}  // namespace hierbar
