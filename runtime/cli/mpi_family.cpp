// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/mpi_family.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/trusted_variable.hpp"

namespace hierbar {
namespace {

struct Mark {
  const char* text;
  MpiFamily family;
};

MpiFamily find_mark(const std::string& text, const std::vector<Mark>& marks) {
  const auto found =
      std::find_if(marks.begin(), marks.end(), [&](const Mark& mark) { return text.find(mark.text) != std::string::npos; });
  return found == marks.end() ? MpiFamily::kNone : found->family;
}

MpiFamily family_by_name(const std::string& file) {
  return find_mark(file, {{"hydra", MpiFamily::kMpich},
                          {"mpich", MpiFamily::kMpich},
                          {"openmpi", MpiFamily::kOpenMpi},
                          {"orterun", MpiFamily::kOpenMpi},
                          {"prterun", MpiFamily::kOpenMpi}});
}

bool is_mpi_launcher(const std::string& word) {
  const std::string name = std::filesystem::path(word).filename();
  return name.starts_with("mpiexec") || name.starts_with("mpirun") || name == "orterun" || name == "prterun";
}

MpiFamily family_by_version(const std::string& file) {
  FILE* pipe = popen((shell_quoted(file) + " --version 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return MpiFamily::kNone;
  std::string answer;
  std::array<char, 4096> buffer;
  for (std::size_t size; (size = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) answer.append(buffer.data(), size);
  pclose(pipe);
  return find_mark(answer, {{"OpenRTE", MpiFamily::kOpenMpi},
                            {"Open MPI", MpiFamily::kOpenMpi},
                            {"PRRTE", MpiFamily::kOpenMpi},
                            {"HYDRA", MpiFamily::kMpich},
                            {"Intel(R) MPI", MpiFamily::kMpich}});
}

// From the names of the libraries that the program loads. They are near the beginning of its file.
MpiFamily family_by_contents(const std::string& file) {
  constexpr std::size_t kMostBytes = 16U << 20;
  std::ifstream stream(file, std::ios::binary);
  std::string text(4, '\0');
  if (!stream.read(text.data(), 4) || text != "\177ELF") return MpiFamily::kNone;
  text.resize(kMostBytes);
  stream.read(text.data(), kMostBytes);
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return find_mark(
      text, {{"libmpi.so.40", MpiFamily::kOpenMpi}, {"libmpich.so.12", MpiFamily::kMpich}, {"libmpi.so.12", MpiFamily::kMpich}});
}

}  // namespace

const char* family_name(MpiFamily family) {
  constexpr const char* kNames[] = {"no MPI", "MPICH", "Open MPI"};
  return kNames[static_cast<int>(family)];
}

std::string find_in_path(const std::string& word) {
  const auto is_program = [](const std::string& file) {
    struct stat status{};
    return stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(file.c_str(), X_OK) == 0;
  };
  if (word.find('/') != std::string::npos) return is_program(word) ? word : "";
  const char* path = trusted_variable("PATH");
  std::istringstream directories(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (const std::string file = (directory.empty() ? "." : directory) + "/" + word; is_program(file)) return file;
  }
  return "";
}

FamilyGuess guess_family(const Program& command) {
  if (const std::string file = find_in_path(command.front()); is_mpi_launcher(command.front()) && !file.empty()) {
    std::error_code unresolved;
    const std::string real = std::filesystem::canonical(file, unresolved);
    if (const MpiFamily family = family_by_name(real); family != MpiFamily::kNone) {
      return {family, true, "'" + command.front() + "' is " + real};
    }
    if (const MpiFamily family = family_by_version(file); family != MpiFamily::kNone) {
      return {family, true, "'" + command.front() + " --version' says so"};
    }
  }
  for (const std::string& word : command) {
    const std::string file = find_in_path(word);
    const MpiFamily family = file.empty() ? MpiFamily::kNone : family_by_contents(file);
    if (family != MpiFamily::kNone) return {family, false, "'" + file + "' is linked with it"};
  }
  return {};
}

}  // namespace hierbar
