// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/doctor/program_facts.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "cli/program/program_libraries.hpp"
#include "elf/predict_loads.hpp"

namespace hierbar {
namespace {

namespace fs = std::filesystem;

// Whether the kernel tells the loader not to trust its environment (AT_SECURE).
bool gives_rights(const std::string& file) {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) return false;
  const bool other_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != getuid();
  const bool other_group = (status.st_mode & S_ISGID) != 0 && status.st_gid != getgid();
  const bool has_capabilities =
      getuid() != 0 && getxattr(file.c_str(), "security.capability", nullptr, 0) > 0;
  return other_user || other_group || has_capabilities;
}

std::string how_found(const Loads& loads, const LoadedFile& file) {
  if (file.is_preloaded) return "LD_PRELOAD";
  const std::string asked_by = loads.files[file.asked_by].elf.path;
  switch (file.found) {
    case FoundBy::kRpath:
    case FoundBy::kRunpath:
      return describe(file.found) + (" of " + asked_by);
    default:
      return describe(file.found);
  }
}

ProcessLoads select_libraries(const Loads& loads) {
  ProcessLoads process{loads.files.front().elf.path, {}};
  for (std::size_t i = 1; i < loads.files.size(); ++i) {
    const LoadedFile& file = loads.files[i];
    const LibraryKind kind = library_kind(file.elf.path);
    if (kind == LibraryKind::kOther) continue;
    process.libraries.push_back(
        {kind, file.elf.path, file.real_path, how_found(loads, file), file.shadowed_in_path});
  }
  return process;
}

// The audit module of `hierbar run` answers all names of OpenMP runtimes but that of the preloaded
// file.
bool is_audited(const Environment& environment) {
  return value_of(environment, "LD_AUDIT").find("libone_runtime.so") != std::string::npos;
}
bool is_answered(const std::string& name) {
  return is_openmp_name(fs::path(name).filename()) &&
         !name.ends_with("/hierbar/preload/libgomp.so.1");
}

std::string find_static_runtime(const std::string& file) {
  // Not MPI_Barrier alone: the linker leaves it out where our library comes before a static MPI.
  static const std::vector<std::string_view> kFunctions = {
      "GOMP_parallel", "__kmpc_fork_call", "MPI_Barrier", "MPI_Init", "MPI_Init_thread"};
  const std::vector<SymbolState> states = find_symbols(file, kFunctions);
  const auto found = std::find(states.begin(), states.end(), SymbolState::kDefined);
  return found == states.end()
             ? ""
             : std::string(kFunctions[static_cast<std::size_t>(found - states.begin())]);
}

bool uses_any(const std::string& file, const std::vector<std::string_view>& functions) {
  const std::vector<SymbolState> states = find_symbols(file, functions);
  return std::any_of(states.begin(), states.end(),
                     [](SymbolState state) { return state != SymbolState::kNone; });
}

// What the program itself calls, whichever runtime serves it in the end.
void find_what_it_needs(const Loads& loads, ProgramFacts& facts) {
  const std::string& file = facts.started.file;
  facts.is_static = loads.files.front().elf.interpreter.empty();
  facts.needs_openmp =
      std::any_of(loads.files.begin(), loads.files.end(), [](const LoadedFile& loaded) {
        if (library_kind(loaded.elf.path) != LibraryKind::kOther) return false;
        const std::vector<std::string>& needed = loaded.elf.needed;
        return std::any_of(needed.begin(), needed.end(), [](const std::string& name) {
          return is_openmp_name(fs::path(name).filename());
        });
      });
  // The last is std::thread's.
  facts.starts_threads = uses_any(
      file,
      {"pthread_create", "thrd_create",
       "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"});
  facts.opens_libraries = uses_any(file, {"dlopen", "dlmopen"});
  // Other parts of MPI, as libmpichfort.so, use it for their own.
  facts.calls_mpi_barrier =
      std::any_of(loads.files.begin(), loads.files.end(), [](const LoadedFile& loaded) {
        return library_kind(loaded.elf.path) == LibraryKind::kOther &&
               !fs::path(loaded.elf.path).filename().string().starts_with("libmpi") &&
               uses_any(loaded.elf.path, {"MPI_Barrier", "mpi_barrier_", "mpi_barrier",
                                          "MPI_BARRIER", "mpi_barrier_f08_"});
      });
}

void remark_on_sanitizers(ProgramFacts& facts) {
  for (const Sanitizer& sanitizer : find_all_sanitizers(facts.started.file)) {
    const std::string name = sanitizer.name;
    facts.remarks.push_back("it was built with " + name +
                            (sanitizer.is_linked_in
                                 ? ", which is linked in; 'hierbar run' needs no setting for it"
                                 : ": 'hierbar run' sets " + std::string(sanitizer.variable) + "=" +
                                       sanitizer.value + ", which " + sanitizer.why));
  }
  if (facts.remarks.empty()) return;
  facts.remarks.push_back(
      "hierbar's libraries are not built with it: they are not checked, and ThreadSanitizer does "
      "not see their synchronisation");
}

// `hierbar run` in the command: its variables are the program's.
void apply_run(const Program& command, ProgramFacts& facts) {
  const auto& wrappers = facts.started.wrappers;
  facts.is_under_run = std::any_of(wrappers.begin(), wrappers.end(), [](const std::string& word) {
    return fs::path(word).filename() == "hierbar";
  });
  if (!facts.is_under_run) return;
  const Program rest(command.begin() + static_cast<std::ptrdiff_t>(facts.started.first_word),
                     command.end());
  const Environment before = with_changes(own_environment(), facts.started.changes);
  const RunSettings settings = choose_run_settings(rest, guess_family(rest, before), {}, facts.ours,
                                                   read_machine_facts(), before);
  for (const RunSettings::Variable& variable : settings.variables)
    facts.started.changes[variable.name] = variable.value;
}

// Where hierbar's libraries look for libhierbar.so when it is not beside them.
bool finds_service(const LoaderInput& input) {
  constexpr const char* kService = "libhierbar.so.0";
  std::istringstream directories(
      input.is_privileged ? "" : value_of(input.environment, "LD_LIBRARY_PATH"));
  for (std::string directory; std::getline(directories, directory, ':');) {
    std::error_code unreadable;
    if (fs::exists(fs::path(directory) / kService, unreadable)) return true;
  }
  return !input.cache(kService).empty();
}

void note_what_is_not_seen(ProgramFacts& facts) {
  const Interpreter kind = interpreter_of(facts.started);
  if (kind == Interpreter::kPython) {
    facts.notes.push_back(
        "Python loads its libraries while it runs; --run starts the command and shows them");
  } else if (kind == Interpreter::kShell) {
    facts.notes.push_back(
        "a shell starts other programs; name the program itself, or let --run start the command "
        "and show what it loads");
  } else if (facts.opens_libraries && !facts.needs_openmp && !uses_mpi(facts)) {
    facts.notes.push_back(
        "it opens libraries while it runs (dlopen()); --run starts the command and shows them. "
        "'hierbar run' serves OpenMP runtimes and MPI libraries that are opened");
  }
}

}  // namespace

bool uses_mpi(const ProgramFacts& facts) {
  return std::any_of(
      facts.processes.begin(), facts.processes.end(), [](const ProcessLoads& process) {
        return std::any_of(process.libraries.begin(), process.libraries.end(),
                           [](const FoundLibrary& library) { return is_mpi(library.kind); });
      });
}

Result<ProgramFacts> gather_facts(const Program& command) {
  ProgramFacts facts;
  if (find_in_path(command.front()).empty())
    return Error{"there is no program '" + command.front() + "'"};
  facts.started = find_started_program(command);
  if (facts.started.file.empty()) return Error{"there is no program '" + facts.started.word + "'"};
  facts.ours = find_libraries();
  apply_run(command, facts);
  facts.environment = with_changes(own_environment(), facts.started.changes);
  if (!facts.started.wrappers.empty()) {
    const auto launcher = std::find_if(command.begin(), command.end(), is_mpi_launcher);
    if (launcher != command.end()) facts.launcher = guess_family_of_launcher(*launcher);
  }
  facts.is_privileged = gives_rights(facts.started.file);
  facts.static_runtime = find_static_runtime(facts.started.file);
  LoaderInput input{.environment = facts.environment,
                    .cache = read_loader_cache(),
                    .is_privileged = facts.is_privileged};
  if (is_audited(facts.environment) && !facts.is_privileged) input.is_answered = is_answered;
  const Result<Loads> loads = predict_loads(facts.started.file, input);
  if (!loads) return Error{loads.error()};
  find_what_it_needs(*loads, facts);
  facts.has_service = finds_service(input);
  facts.processes.push_back(select_libraries(*loads));
  for (const Loads::Missing& missing : loads->missing) {
    facts.missing.push_back(missing.name + ", which " + missing.asked_by + " needs");
  }
  remark_on_sanitizers(facts);
  note_what_is_not_seen(facts);
  return facts;
}

void add_run(const WatchedRun& run, ProgramFacts& facts) {
  facts.was_run = true;
  facts.ranks = run.ranks;
  facts.notes.clear();
  if (run.processes.empty()) {
    facts.notes.push_back(
        "the loader recorded nothing: the program is static, or gets more rights than its user");
    return;
  }
  // What the loader would do tells where a library comes from; a run does not.
  const ProcessLoads foreseen = facts.processes.front();
  facts.processes.clear();
  for (const WatchedRun::Process& process : run.processes) {
    ProcessLoads loads{process.program.empty() ? "a forked process" : process.program, {}};
    for (const std::string& path : process.libraries) {
      const LibraryKind kind = library_kind(path);
      if (kind == LibraryKind::kOther) continue;
      const auto same = [&](const FoundLibrary& library) { return library.path == path; };
      const auto known = std::find_if(foreseen.libraries.begin(), foreseen.libraries.end(), same);
      std::error_code unresolved;
      const fs::path real = fs::canonical(path, unresolved);
      loads.libraries.push_back(
          known != foreseen.libraries.end()
              ? *known
              : FoundLibrary{kind, path, unresolved ? path : real.string(), "seen in the run", ""});
    }
    if (!loads.libraries.empty()) facts.processes.push_back(std::move(loads));
  }
}

}  // namespace hierbar
