// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/runtimes/mpi/configuration.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

namespace hierbar::bench::mpi {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kIdentifyTimeout{20000};

// Open MPI's collective components that use shared memory, best first. Which of them exist depends
// on the version.
constexpr std::array<std::string_view, 3> kSharedMemoryComponents{"xhc", "acoll", "sm"};
constexpr int kPriority = 100;  // above all others

fs::path launcher_of(Implementation implementation, const MpiBenchOptions& options) {
  switch (implementation) {
    case Implementation::kMpich:
      return options.mpich_launcher;
    case Implementation::kWheel:
      return options.wheel_dir.empty() ? fs::path()
                                       : fs::absolute(options.wheel_dir) / "bin" / "mpiexec";
    case Implementation::kOpenMpi:
      return options.openmpi_launcher;
  }
  return {};
}

fs::path shim_for(Implementation implementation, const MpiBenchOptions& options) {
  return options.lib_dir / (implementation == Implementation::kOpenMpi ? "libhierbar_mpi_ompi.so"
                                                                       : "libhierbar_mpi.so");
}

std::string missing(const MpiConfiguration& configuration, const MpiBenchOptions& options) {
  if (configuration.launcher.empty()) {
    switch (configuration.implementation) {
      case Implementation::kMpich:
        return "MPICH is not installed (no mpiexec.mpich or mpiexec.hydra in PATH; Debian: mpich)";
      case Implementation::kWheel:
        return "--mpich-wheel was not given";
      case Implementation::kOpenMpi:
        return "Open MPI is not installed (no mpiexec.openmpi or mpirun.openmpi in PATH; Debian: "
               "openmpi-bin)";
    }
  }
  for (const fs::path& file : {configuration.launcher, configuration.worker}) {
    if (!fs::exists(file)) return fmt::format("{} does not exist", file.string());
  }
  const fs::path shim = shim_for(configuration.implementation, options);
  if (configuration.preload && !fs::exists(shim))
    return fmt::format("{} does not exist", shim.string());
  return "";
}

// "mpiexec.openmpi" -> "ompi_info.openmpi"
fs::path info_program(const fs::path& launcher) {
  const fs::path with_suffix =
      launcher.parent_path() / ("ompi_info" + launcher.extension().string());
  return fs::exists(with_suffix) ? with_suffix : launcher.parent_path() / "ompi_info";
}

void prefer_shared_memory(MpiConfiguration& configuration) {
  const ChildResult listed = run_child({info_program(configuration.launcher), "--param", "coll",
                                        "all", "--level", "9", "--parsable"},
                                       {}, kIdentifyTimeout);
  for (const std::string_view component : kSharedMemoryComponents) {
    if (listed.output.find(fmt::format("mca:coll:{0}:param:coll_{0}_priority:", component)) ==
        std::string::npos)
      continue;
    configuration.arguments.insert(
        configuration.arguments.end(),
        {"--mca", fmt::format("coll_{}_priority", component), std::to_string(kPriority)});
    return;
  }
  configuration.unavailable = listed.failure.empty()
                                  ? "this Open MPI has no shared-memory collectives"
                                  : fmt::format("ompi_info: {}", listed.failure);
}

MpiConfiguration make_configuration(const KnownConfiguration& known,
                                    const MpiBenchOptions& options) {
  MpiConfiguration configuration;
  configuration.name = known.name;
  configuration.explains = known.explains;
  configuration.family = known.family;
  configuration.implementation = known.implementation;
  configuration.preload = known.preload;
  configuration.launcher = launcher_of(known.implementation, options);
  configuration.worker = options.libexec_dir / (known.implementation == Implementation::kOpenMpi
                                                    ? "mpi_barrier_worker_openmpi"
                                                    : "mpi_barrier_worker_mpich");
  if (known.preload)
    configuration.variables["LD_PRELOAD"] = fs::absolute(shim_for(known.implementation, options));
  if (known.implementation == Implementation::kWheel && !options.wheel_dir.empty()) {
    configuration.wheel = std::make_shared<WheelLink>(options.wheel_dir);
    configuration.variables["LD_LIBRARY_PATH"] = configuration.wheel->dir();
  }
  if (known.name == "wheel-shm") {
    for (const char* call : {"BARRIER", "ALLREDUCE", "BCAST", "REDUCE"}) {
      configuration.variables[fmt::format("MPIR_CVAR_{}_POSIX_INTRA_ALGORITHM", call)] =
          "release_gather";
    }
    configuration.variables["MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD"] = "1";
    configuration.variables["MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE"] = "65536";
  }
  configuration.unavailable = missing(configuration, options);
  if (configuration.unavailable.empty() && known.name == "openmpi-shm")
    prefer_shared_memory(configuration);
  return configuration;
}

// The shim under MPICH, on pretended nodes.
MpiConfiguration make_meeting(const std::string& meeting, const MpiBenchOptions& options) {
  static_assert(kConfigurations[0].name == "hier");
  MpiConfiguration configuration = make_configuration(kConfigurations[0], options);
  configuration.name = "meet-" + meeting;
  configuration.explains = fmt::format("as hier, over {} pretended nodes", options.num_nodes);
  configuration.family = Family::kOther;
  configuration.variables["HIERBAR_FAKE_NODES"] = std::to_string(options.num_nodes);
  configuration.variables["HIERBAR_MPI_MEETING"] = meeting;
  return configuration;
}

// Open MPI alone, every barrier by one of its algorithms, with the component that has them before
// all others.
MpiConfiguration make_tuned(const std::string& meeting, const MpiBenchOptions& options) {
  static_assert(kConfigurations[2].name == "openmpi");
  MpiConfiguration configuration = make_configuration(kConfigurations[2], options);
  const std::string number = meeting.substr(kTunedPrefix.size());
  configuration.name = "meet-" + meeting;
  configuration.explains = fmt::format("Open MPI's coll_tuned_barrier_algorithm, {}",
                                       kTunedAlgorithms.at(std::stoul(number) - 1));
  configuration.family = Family::kOther;
  for (const auto& [name, value] :
       {std::pair<std::string, std::string>{"coll_tuned_priority", std::to_string(kPriority)},
        {"coll_tuned_use_dynamic_rules", "1"},
        {"coll_tuned_barrier_algorithm", number}}) {
    configuration.arguments.insert(configuration.arguments.end(), {"--mca", name, value});
  }
  return configuration;
}

bool was_asked_for(const KnownConfiguration& known, const MpiBenchOptions& options) {
  const auto& asked = options.configurations;
  if (asked.empty())
    return known.implementation != Implementation::kWheel || !options.wheel_dir.empty();
  return is_one_of(asked, known.name);
}

}  // namespace

std::vector<MpiConfiguration> make_configurations(const MpiBenchOptions& options) {
  std::vector<MpiConfiguration> configurations;
  for (const KnownConfiguration& known : kConfigurations) {
    if (was_asked_for(known, options)) configurations.push_back(make_configuration(known, options));
  }
  for (const std::string& meeting : options.meetings) {
    const auto make = meeting.starts_with(kTunedPrefix) ? make_tuned : make_meeting;
    configurations.push_back(make(meeting, options));
  }
  return configurations;
}

std::vector<MpiConfiguration> make_configurations(const CollectiveBenchOptions& options) {
  auto configurations = make_configurations(static_cast<const MpiBenchOptions&>(options));
  for (MpiConfiguration& configuration : configurations) {
    if (configuration.preload) configuration.variables["HIERBAR_MPI"] = "collectives";
  }
  return configurations;
}

WheelLink::WheelLink(const fs::path& wheel_dir) {
  std::string name = fs::temp_directory_path() / "hierbar-wheel-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("--mpich-wheel: cannot make a directory like " + name);
  dir_ = name;
  const fs::path lib_dir = fs::absolute(wheel_dir) / "lib";
  fs::create_symlink(lib_dir / "libmpi.so.12", dir_ / "libmpich.so.12");
  std::error_code error;  // if lib/ is missing, the program will report what it lacks
  for (const auto& entry : fs::directory_iterator(lib_dir, error)) {
    const fs::path link = dir_ / entry.path().filename();
    if (!fs::exists(fs::symlink_status(link))) fs::create_symlink(entry.path(), link);
  }
}

WheelLink::~WheelLink() {
  std::error_code error;  // what cannot be removed stays
  fs::remove_all(dir_, error);
}

std::optional<Answer> parse_answer(const std::string& output) {
  const std::size_t start = output.find("{\"version\"");
  if (start == std::string::npos) return std::nullopt;
  const std::string line = output.substr(start, output.find('\n', start) - start);
  try {
    const auto parsed = nlohmann::json::parse(line);
    Answer answer;
    answer.version = parsed.at("version").get<std::string>();
    answer.file = parsed.at("library").get<std::string>();
    answer.barrier = parsed.at("barrier").get<std::string>();
    answer.cpus = parsed.at("cpus").get<std::vector<int>>();
    answer.program = parsed.at("program").get<Answer::Figures>();
    if (parsed.contains("own")) answer.own = parsed.at("own").get<Answer::Figures>();
    return answer;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

void identify(MpiConfiguration& configuration) {
  const std::string limit_s =
      std::to_string(std::chrono::ceil<std::chrono::seconds>(kIdentifyTimeout).count() + 1);
  const auto command =
      launch_command(configuration, 2, false, {"--budget-ms", "1", "--limit-s", limit_s});
  const ChildResult result = run_child(command, {}, kIdentifyTimeout);
  const auto answer = parse_answer(result.output);
  if (!result.failure.empty() || !answer) {
    configuration.unavailable =
        result.failure.empty() ? "the program's answer cannot be read" : result.failure;
    return;
  }
  configuration.version = answer->version;
  configuration.library = answer->file;
  configuration.unavailable = mismatch(configuration, *answer, false);
}

std::string mismatch(const MpiConfiguration& configuration, const Answer& answer, bool bound) {
  const std::string_view expected =
      configuration.implementation == Implementation::kOpenMpi ? "Open MPI" : "MPICH";
  if (!answer.version.starts_with(expected))
    return fmt::format("{} served it, not {}", answer.version, expected);
  if (!configuration.library.empty() && configuration.library != answer.file) {
    return fmt::format("{} served it, after {} had", answer.file, configuration.library);
  }
  const auto preload = configuration.variables.find("LD_PRELOAD");
  std::error_code error;
  if (preload == configuration.variables.end() && answer.barrier != answer.file) {
    return fmt::format("MPI_Barrier comes from {}", answer.barrier);
  }
  if (preload != configuration.variables.end() &&
      !fs::equivalent(answer.barrier, preload->second, error)) {
    return fmt::format("MPI_Barrier comes from {}, not from {}", answer.barrier, preload->second);
  }
  const std::set<int> distinct(answer.cpus.begin(), answer.cpus.end());
  if (bound && distinct.size() < answer.cpus.size())
    return "the launcher bound two ranks to one cpu";
  return "";
}

std::vector<std::string> launch_command(const MpiConfiguration& configuration, int num_ranks,
                                        bool bound,
                                        const std::vector<std::string>& worker_arguments) {
  std::vector<std::string> command{configuration.launcher};
  const auto add = [&command](const std::vector<std::string>& words) {
    command.insert(command.end(), words.begin(), words.end());
  };
  if (configuration.implementation == Implementation::kOpenMpi) {
    if (geteuid() == 0) command.emplace_back("--allow-run-as-root");
    add(bound ? std::vector<std::string>{"--bind-to", "core"}
              : std::vector<std::string>{"--oversubscribe"});
    for (const auto& [name, value] : configuration.variables)
      add({"-x", fmt::format("{}={}", name, value)});
  } else {
    if (bound) add({"-bind-to", "core"});
    for (const auto& [name, value] : configuration.variables) add({"-genv", name, value});
  }
  add(configuration.arguments);
  add({"-n", std::to_string(num_ranks), configuration.worker});
  add(worker_arguments);
  return command;
}

}  // namespace hierbar::bench::mpi
