// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/doctor/diagnosis.hpp"

namespace hierbar {
namespace {

namespace fs = std::filesystem;

// A process's libraries of one sort, each file once.
template <typename Predicate>
std::vector<FoundLibrary> select(const ProcessLoads& process, Predicate wanted) {
  std::vector<FoundLibrary> result;
  std::set<std::string> seen;
  for (const FoundLibrary& library : process.libraries) {
    if (wanted(library.kind) && seen.insert(library.real_path).second) result.push_back(library);
  }
  return result;
}

bool is_ours(const FoundLibrary& library) { return library.kind == LibraryKind::kHierbarOpenMp; }
bool is_shim(LibraryKind kind) { return family_of(kind) != MpiFamily::kNone && !is_mpi(kind); }

// Whether a DT_RPATH, which comes before LD_LIBRARY_PATH, hides a library of another sort. One of
// the same sort is no surprise: conda and Spack set both.
bool hides_another(const FoundLibrary& library) {
  return !library.shadowed.empty() && (is_openmp(library.kind) || is_mpi(library.kind)) &&
         library_kind(library.shadowed) != library.kind;
}

std::string list(const std::vector<FoundLibrary>& libraries) {
  std::string text;
  for (const FoundLibrary& library : libraries) {
    text += (text.empty() ? "" : "; ") + library.path + " (" + library_name(library.kind) + ", " +
            library.found_by + ")";
  }
  return text;
}

class LibraryDoctor {
 public:
  explicit LibraryDoctor(const DoctorInput& input) : input_(input), facts_(input.facts) {}

  std::vector<Diagnosis> diagnose() && {
    for (const std::string& missing : facts_.missing) {
      add("missing-library", "the loader does not find a library", missing,
          "install it, or add its directory to LD_LIBRARY_PATH", "");
    }
    find_static();
    find_privileged();
    for (const ProcessLoads& process : facts_.processes) {
      find_hidden(process);
      find_other_runtime(process);
      find_several(process);
      find_mpi_mismatch(process);
      find_missing_shim(process);
      find_missing_service(process);
      find_thread_pools(process);
    }
    return std::move(found_);
  }

 private:
  // Several processes of a program have the same faults.
  void add(std::string code, std::string what, std::string where, std::string advice,
           std::string command) {
    const auto same = [&](const Diagnosis& other) {
      return other.code == code && other.where == where;
    };
    if (std::any_of(found_.begin(), found_.end(), same)) return;
    found_.push_back({std::move(code), std::move(what), std::move(where), std::move(advice),
                      std::move(command)});
  }

  void find_static() {
    if (facts_.static_runtime.empty()) return;
    add("static-runtime",
        "a runtime is linked into the program, so no other one can take its place",
        facts_.started.file + " defines " + facts_.static_runtime,
        "link the program with the shared library: without -static, and without -static-openmp for "
        "Clang",
        "");
  }

  void find_privileged() {
    const bool loads_any =
        std::any_of(facts_.processes.begin(), facts_.processes.end(),
                    [](const ProcessLoads& process) { return !process.libraries.empty(); });
    if (!facts_.is_privileged || (!loads_any && !wants_hierbar(facts_))) return;
    const std::string copy = "./" + fs::path(facts_.started.file).filename().string() + ".copy";
    add("setuid",
        "the program gets more rights than its user, so the loader ignores LD_PRELOAD and "
        "LD_LIBRARY_PATH",
        facts_.started.file, "run a copy without these rights, if the program does not need them",
        "cp --no-preserve=all " + shell_quoted(facts_.started.file) + " " + shell_quoted(copy) +
            " && chmod +x " + shell_quoted(copy));
  }

  void find_hidden(const ProcessLoads& process) {
    for (const FoundLibrary& library : process.libraries) {
      if (!hides_another(library)) continue;
      add("rpath-wins",
          "a DT_RPATH, which comes before LD_LIBRARY_PATH, hides the library that LD_LIBRARY_PATH "
          "names",
          library.path + " (" + library.found_by + ") is loaded and not " + library.shadowed,
          "preload it, which comes before both; 'hierbar run' does so", run_command_line(input_));
    }
  }

  void find_other_runtime(const ProcessLoads& process) {
    const std::vector<FoundLibrary> runtimes = select(process, is_openmp);
    if (runtimes.empty()) return;
    const bool has_ours = std::any_of(runtimes.begin(), runtimes.end(), is_ours);
    // A run does not show the order in which symbols are looked for.
    const bool is_served = facts_.was_run ? has_ours : is_ours(runtimes.front());
    if (is_served && !facts_.is_privileged && !asks_for_hier(facts_.environment)) {
      add("barrier-not-set", "hierbar's OpenMP runtime is loaded, but its barrier is not enabled",
          runtimes.front().path + ", KMP_BARRIER='" + value_of(facts_.environment, "KMP_BARRIER") +
              "'",
          "set KMP_BARRIER=hier", with_prefix(input_, "KMP_BARRIER=hier"));
    }
    if (is_served || !wants_hierbar(facts_) || facts_.is_privileged ||
        hides_another(runtimes.front()))
      return;
    add("other-runtime", "another OpenMP runtime comes first, so hierbar's barriers are not used",
        list(runtimes), "preload hierbar's runtime; 'hierbar run' does so",
        run_command_line(input_));
  }

  void find_several(const ProcessLoads& process) {
    if (const std::vector<FoundLibrary> runtimes = select(process, is_openmp);
        runtimes.size() > 1) {
      add("two-runtimes",
          "a process has " + std::to_string(runtimes.size()) +
              " OpenMP runtimes, each with its own threads",
          list(runtimes), "use one runtime for all: 'hierbar run' keeps the others out",
          run_command_line(input_));
    }
    if (const std::vector<FoundLibrary> mpis = select(process, is_mpi); mpis.size() > 1) {
      add("two-mpis", "a process has " + std::to_string(mpis.size()) + " MPI libraries", list(mpis),
          "build the program and its libraries with one MPI", "");
    }
  }

  void find_mpi_mismatch(const ProcessLoads& process) {
    const std::vector<FoundLibrary> mpis = select(process, is_mpi);
    if (mpis.empty()) return;
    const MpiFamily family = family_of(mpis.front().kind);
    for (const FoundLibrary& shim : select(process, is_shim)) {
      if (family_of(shim.kind) == family) continue;
      add("other-mpi",
          std::string("the preloaded MPI_Barrier is for ") + family_name(family_of(shim.kind)) +
              ", and the program uses " + family_name(family),
          list({shim, mpis.front()}),
          "preload libhierbar_mpi_any.so, which finds the right one; 'hierbar run' chooses it, too",
          "env -u LD_PRELOAD " + run_command_line(input_));
    }
    // Each library's launcher may start programs of the standard ABI.
    const MpiFamily launcher = facts_.launcher.launcher;
    if (launcher == MpiFamily::kNone || launcher == family || family == MpiFamily::kStandardAbi)
      return;
    add("other-mpi",
        std::string("the launcher belongs to ") + family_name(launcher) +
            ", and the program's MPI is " + family_name(family) + ": each rank would run alone",
        facts_.launcher.why + "; " + list({mpis.front()}),
        "use the launcher that belongs to the program's MPI",
        with_launcher(family == MpiFamily::kMpich ? "mpiexec.mpich" : "mpiexec.openmpi"));
  }

  // libhierbar_mpi_any.so opens the shim of the program's family beside itself.
  void find_missing_shim(const ProcessLoads& process) {
    const std::vector<FoundLibrary> mpis = select(process, is_mpi);
    if (mpis.empty()) return;
    const MpiFamily family = family_of(mpis.front().kind);
    for (const FoundLibrary& any :
         select(process, [](LibraryKind kind) { return kind == LibraryKind::kAnyMpiShim; })) {
      std::error_code unreadable;
      const fs::path shim = fs::path(any.path).parent_path() / shim_file(family);
      if (fs::exists(shim, unreadable)) continue;
      add("missing-shim",
          std::string("the shim for ") + family_name(family) +
              " is missing, so the MPI library's own barriers are used",
          any.path + " opens " + shim.string(),
          "use a complete installation; 'hierbar run' uses that of this command",
          "env -u LD_PRELOAD " + run_command_line(input_));
    }
  }

  // hierbar's libomp and shims open libhierbar.so beside themselves, or else by the loader's paths.
  void find_missing_service(const ProcessLoads& process) {
    constexpr const char* kService = "libhierbar.so";
    const auto needs = [](LibraryKind kind) {
      return kind == LibraryKind::kHierbarOpenMp || kind == LibraryKind::kAnyMpiShim ||
             is_shim(kind);
    };
    for (const FoundLibrary& library : select(process, needs)) {
      std::error_code unreadable;
      const fs::path beside = fs::path(library.real_path).parent_path() / kService;
      if (fs::exists(beside, unreadable) || facts_.has_service) continue;
      add("missing-libhierbar", "libhierbar.so is missing, so the library's own barriers are used",
          library.path + " needs " + beside.string(),
          "use a complete installation; 'hierbar run' uses that of this command",
          "env -u LD_PRELOAD -u LD_LIBRARY_PATH " + run_command_line(input_));
    }
  }

  void find_thread_pools(const ProcessLoads& process) {
    const std::vector<FoundLibrary> blas =
        select(process, [](LibraryKind kind) { return kind == LibraryKind::kOpenBlas; });
    if (blas.empty() || select(process, is_openmp).empty() || input_.machine.allowed.count() < 2)
      return;
    const std::string own = value_of(facts_.environment, "OPENBLAS_NUM_THREADS");
    if ((own.empty() ? value_of(facts_.environment, "OMP_NUM_THREADS") : own) == "1") return;
    add("openblas-threads",
        "OpenBLAS has its own threads in addition to OpenMP's, on the same cpus", list(blas),
        "let OpenBLAS use one thread, or install the OpenBLAS that is built with OpenMP",
        with_prefix(input_, "OPENBLAS_NUM_THREADS=1"));
  }

  // The command with another launcher; empty if that is not installed by this name.
  std::string with_launcher(const std::string& launcher) const {
    Program command = input_.command;
    const auto found = std::find_if(command.begin(), command.end(), is_mpi_launcher);
    if (found == command.end() || find_in_path(launcher).empty()) return "";
    *found = launcher;
    return shell_line(command);
  }

  const DoctorInput& input_;
  const ProgramFacts& facts_;
  std::vector<Diagnosis> found_;
};

}  // namespace

std::vector<Diagnosis> diagnose_libraries(const DoctorInput& input) {
  return LibraryDoctor(input).diagnose();
}

}  // namespace hierbar
