// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/doctor/bug_report.hpp"

#include <gnu/libc-version.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/launchers.hpp"
#include "base/process.hpp"
#include "cli/program/run_settings.hpp"
#include "hierbar/hierbar.h"
#include "placement/evidence/kernel_cpus.hpp"
#include "topology/export/machine_json.hpp"

namespace hierbar {
namespace {

using Json = nlohmann::ordered_json;

// The beginnings of names that decide about anything here, beside what launchers tell ranks.
constexpr std::string_view kNamesThatMatter[] = {"HIERBAR_",     "KMP_",          "OMP_",
                                                 "GOMP_",        "LIBOMP",        "OPENBLAS_",
                                                 "MKL_NUM",      "LD_PRELOAD",    "LD_LIBRARY_PATH",
                                                 "LD_AUDIT",     "OMPI_",         "PMIX_",
                                                 "PRTE_",        "MPIR_",         "MPICH_",
                                                 "MV2_",         "HYDRA_",        "I_MPI_",
                                                 "PMI_",         "UCX_",          "FI_",
                                                 "HWLOC_",       "SLURM_CPU",     "SLURM_NTASKS",
                                                 "SLURM_NNODES", "SLURM_TASKS",   "SRUN_CPUS",
                                                 "PALS_",        "GLIBC_TUNABLES"};
// Parts of names whose values are nobody's business.
constexpr std::string_view kSecrets[] = {"TOKEN",    "KEY",  "SECRET", "PASS", "CREDENTIAL", "AUTH",
                                         "COOKIE",   "KVS",  "JOBID",  "PORT", "URI",        "HOST",
                                         "NODELIST", "ADDR", "SERVER", "HNP"};

bool matters(std::string_view name) {
  const auto& launchers = known_launchers();
  return std::any_of(launchers.begin(), launchers.end(),
                     [name](const Launcher& launcher) { return tells_rank_by(launcher, name); }) ||
         std::any_of(std::begin(kNamesThatMatter), std::end(kNamesThatMatter),
                     [name](std::string_view start) { return name.starts_with(start); });
}
bool speaks_of_secrets(std::string_view name) {
  return std::any_of(std::begin(kSecrets), std::end(kSecrets), [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

// Every whole word `what`: a user called "root" is not to change "rooted".
void replace_word(std::string& text, const std::string& what, std::string_view with) {
  if (what.empty()) return;
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  };
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;) {
    const std::size_t end = at + what.size();
    const bool is_word =
        (at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]));
    if (is_word) text.replace(at, what.size(), with);
    at += is_word ? with.size() : 1;
  }
}

// "env API_TOKEN=abc ./app": such a word keeps its name only.
std::string without_secret(const std::string& word) {
  const std::size_t equals = word.find('=');
  std::string name = word.substr(0, equals);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return equals != std::string::npos && speaks_of_secrets(name)
             ? word.substr(0, equals) + "=(left out)"
             : word;
}

Json anonymous_json(const Json& value) {
  if (value.is_string()) return anonymous(without_secret(value.get<std::string>()));
  if (!value.is_structured()) return value;
  Json result = value.is_array() ? Json::array() : Json::object();
  for (const auto& [key, entry] : value.items()) {
    if (value.is_array()) {
      result.push_back(anonymous_json(entry));
    } else {
      result[key] = key == "host" ? Json("HOST") : anonymous_json(entry);
    }
  }
  return result;
}

std::string distribution() {
  std::ifstream file("/etc/os-release");
  constexpr std::string_view kName = "PRETTY_NAME=";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kName)) continue;
    std::string name = line.substr(kName.size());
    std::erase(name, '"');
    return name;
  }
  return "unknown";
}

Json versions() {
  utsname system{};
  uname(&system);
  const Libraries libraries = find_libraries();
  const auto there = [](const std::string& file) {
    return file.empty() ? Json(nullptr) : Json(anonymous(file));
  };
  return {{"hierbar", HIERBAR_VERSION_STRING},
          {"kernel", std::string(system.sysname) + " " + system.release},
          {"architecture", system.machine},
          {"distribution", distribution()},
          {"glibc", gnu_get_libc_version()},
          {"openmp_runtime", there(libraries.openmp_runtime)},
          {"mpich_shim", there(libraries.mpich_shim)},
          {"openmpi_shim", there(libraries.openmpi_shim)},
          {"abi_shim", there(libraries.abi_shim)},
          {"ompt_tool", there(libraries.ompt_tool)}};
}

}  // namespace

std::string anonymous(std::string text) {
  const passwd* user = getpwuid(getuid());
  if (user != nullptr && std::string_view(user->pw_dir).size() > 1) {
    const std::string home = user->pw_dir;
    for (std::size_t at = 0; (at = text.find(home, at)) != std::string::npos; ++at) {
      const std::size_t end = at + home.size();
      if (end == text.size() || text[end] == '/' || text[end] == ':')
        text.replace(at, home.size(), "~");
    }
  }
  if (user != nullptr) replace_word(text, user->pw_name, "USER");
  replace_word(text, host_name(), "HOST");
  return text;
}

Json variables_that_matter(const std::string& environment) {
  Json variables = Json::object();
  std::istringstream entries(environment);
  for (std::string entry; std::getline(entries, entry, '\0');) {
    const std::size_t equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    if (equals == std::string::npos || !matters(name)) continue;
    variables[name] = speaks_of_secrets(name) ? "(left out)" : anonymous(entry.substr(equals + 1));
  }
  return variables;
}

Json bug_report(const Machine& machine, const Json& doctor_report,
                const std::vector<std::string>& messages) {
  // As this process got it: nothing of it is obeyed here.
  std::ifstream file("/proc/self/environ", std::ios::binary);
  const std::string environment((std::istreambuf_iterator<char>(file)), {});
  const std::optional<std::uint32_t> quota = read_cpu_quota();
  Json lines = Json::array();
  for (const std::string& message : messages) lines.push_back(anonymous(message));
  return {{"format", "hierbar-bug-report-1"},
          {"versions", versions()},
          {"cpu_quota", quota ? Json(*quota) : Json(nullptr)},
          {"autogroups", read_has_autogroups()},
          {"variables", variables_that_matter(environment)},
          {"doctor", anonymous_json(doctor_report)},
          {"last_messages", lines},
          {"machine", anonymous_json(to_json(machine))}};
}

std::vector<std::string> messages_in(std::string_view text) {
  constexpr std::string_view kStarts[] = {"OMP: ",     "hierbar", "libgomp: ", "Fatal error in ",
                                          "[mpiexec@", "MPICH ",  "Assertion "};
  std::vector<std::string> messages;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const bool matters =
        std::any_of(std::begin(kStarts), std::end(kStarts),
                    [&line](std::string_view start) { return line.starts_with(start); });
    if (matters) messages.push_back(line);
  }
  if (messages.size() > kMostMessages)
    messages.erase(messages.begin(), messages.end() - kMostMessages);
  return messages;
}

KeptMessages::KeptMessages() {
  file_ = memfd_create("messages", MFD_CLOEXEC);
  stderr_ = file_ < 0 ? -1 : dup(STDERR_FILENO);
  if (stderr_ < 0) return;
  std::fflush(stderr);
  dup2(file_, STDERR_FILENO);
}

KeptMessages::~KeptMessages() {
  if (stderr_ >= 0) {
    std::fflush(stderr);
    dup2(stderr_, STDERR_FILENO);
    close(stderr_);
    const std::string kept = text();
    std::fwrite(kept.data(), 1, kept.size(), stderr);
  }
  if (file_ >= 0) close(file_);
}

std::string KeptMessages::text() const {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t size;
       (size = pread(file_, buffer.data(), buffer.size(), static_cast<off_t>(text.size()))) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return text;
}

std::vector<std::string> KeptMessages::last() const {
  return stderr_ < 0 ? std::vector<std::string>() : messages_in(text());
}

}  // namespace hierbar
