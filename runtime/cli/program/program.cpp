// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/program/program.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string_view>

#include "base/text.hpp"
#include "base/trusted_variable.hpp"

namespace hierbar {

Program cut_off_program(int& argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--") != 0) continue;
    Program program(argv + i + 1, argv + argc);
    argc = i;
    return program;
  }
  return {};
}

bool starts_programs(std::string_view command) {
  return command == "advise" || command == "check" || command == "compare" || command == "doctor" ||
         command == "run" || command == "show" || command == "tune";
}

int become(const Program& program) {
  std::vector<char*> arguments;
  for (const std::string& argument : program)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::cout.flush();
  execvp(arguments[0], arguments.data());
  const int problem = errno;
  std::cerr << "hierbar: cannot run '" << program[0] << "': " << std::strerror(problem) << '\n';
  return problem == ENOENT ? 127 : 126;
}

int become_with(const Program& program, const ChildSetting& setting) {
  for (const auto& [name, value] : setting.variables) setenv(name.c_str(), value.c_str(), 1);
  if (setting.input >= 0) dup2(setting.input, STDIN_FILENO);
  if (setting.output >= 0) dup2(setting.output, STDOUT_FILENO);
  if (setting.errors >= 0) dup2(setting.errors, STDERR_FILENO);
  return become(program);
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string shell_quoted(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string shell_line(const Program& program) {
  std::string text;
  for (const std::string& word : program) text += (text.empty() ? "" : " ") + shell_quoted(word);
  return text;
}

namespace {

std::string base_name(const std::string& word) { return std::filesystem::path(word).filename(); }

bool is_one_of(const std::string& word, const std::vector<std::string_view>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_python_name(const std::string& name) {
  return name.starts_with("python") || name.starts_with("pypy");
}

bool is_wrapper(const std::string& word) {
  const std::string name = base_name(word);
  return is_mpi_launcher(word) || is_srun(word) ||
         is_one_of(name, {"env", "taskset", "numactl", "nice", "ionice", "chrt", "timeout", "time",
                          "stdbuf", "setsid", "nohup", "setarch", "catchsegv", "flux", "aprun",
                          "jsrun", "hierbar"});
}

// Options whose value is another word that could be the name of a program, such as `-map-by node`.
bool takes_a_word(const std::string& option) {
  return is_one_of(option,
                   {"-bind-to",   "--bind-to",    "-map-by",    "--map-by", "-rank-by", "--rank-by",
                    "-host",      "--host",       "-hosts",     "-H",       "-f",       "-hostfile",
                    "--hostfile", "-machinefile", "-wdir",      "--wdir",   "-u",       "-s",
                    "--signal",   "-p",           "-A",         "-J",       "-w",       "-D",
                    "--mpi",      "-launcher",    "--launcher", "--mca",    "-mca"});
}

bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

// Variables that a wrapper's word sets: NAME=VALUE, or the two words behind -genv. Returns how many
// words belong to it; 0: it sets nothing.
std::size_t read_change(const Program& command, std::size_t at, StartedProgram& started) {
  const std::string& word = command[at];
  const auto following = [&](std::size_t i) {
    return at + i < command.size() ? command[at + i] : std::string();
  };
  if (is_one_of(word, {"-genv", "-env"}) && at + 2 < command.size()) {
    started.changes[following(1)] = following(2);
    return 3;
  }
  if (word == "-u" && base_name(started.wrappers.back()) == "env") {
    started.changes[following(1)] = std::nullopt;
    return 2;
  }
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || !is_name(word.substr(0, equals))) return 0;
  started.changes[word.substr(0, equals)] = word.substr(equals + 1);
  return 1;
}

// The program in a script's first line: "#!/usr/bin/env python3" is python3.
std::string program_of_script(const std::string& file) {
  constexpr int kMostSteps =
      4;  // of scripts that are run by scripts, as the kernel has a limit too
  std::string current = file;
  for (int step = 0; step < kMostSteps; ++step) {
    std::ifstream stream(current, std::ios::binary);
    std::string mark(2, '\0');
    std::string line;
    if (!stream.read(mark.data(), 2) || mark != "#!" || !std::getline(stream, line)) return current;
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (base_name(word) == "env") {
      while (words >> word && word.starts_with('-')) {
      }
    }
    current = find_in_path(word);
  }
  return current;
}

}  // namespace

std::string find_in_path(const std::string& word) {
  const auto is_program = [](const std::string& file) {
    struct stat status{};
    return stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           access(file.c_str(), X_OK) == 0;
  };
  if (word.find('/') != std::string::npos) return is_program(word) ? word : "";
  const char* path = trusted_variable("PATH");
  std::istringstream directories(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (const std::string file = (directory.empty() ? "." : directory) + "/" + word;
        is_program(file))
      return file;
  }
  return "";
}

bool is_mpi_launcher(const std::string& word) {
  const std::string name = base_name(word);
  return name.starts_with("mpiexec") || name.starts_with("mpirun") || name == "orterun" ||
         name == "prterun";
}

bool keeps_cpus(const StartedProgram& started) {
  return std::none_of(
      started.wrappers.begin(), started.wrappers.end(), [](const std::string& word) {
        return is_mpi_launcher(word) || is_srun(word) ||
               is_one_of(base_name(word), {"taskset", "numactl", "flux", "aprun", "jsrun"});
      });
}

bool is_srun(const std::string& word) { return base_name(word) == "srun"; }

Interpreter interpreter_of(const StartedProgram& started) {
  for (const std::string& file : {started.word, started.file}) {
    const std::string name = base_name(file);
    if (is_python_name(name)) return Interpreter::kPython;
    if (is_one_of(name, {"sh", "bash", "dash", "zsh", "ksh", "fish", "busybox"}))
      return Interpreter::kShell;
  }
  return Interpreter::kNone;
}

StartedProgram find_started_program(const Program& command) {
  StartedProgram started;
  std::size_t at = 0;
  while (at < command.size()) {
    const std::string& word = command[at];
    if (!started.wrappers.empty()) {
      if (const std::size_t words = read_change(command, at, started); words > 0) {
        at += words;
        continue;
      }
      if (takes_a_word(word)) {
        at += 2;
        continue;
      }
      // Numbers and other values of options are no programs.
      if (word.starts_with('-') ||
          (find_in_path(word).empty() && word.find('/') == std::string::npos)) {
        ++at;
        continue;
      }
    }
    if (!is_wrapper(word)) break;
    started.wrappers.push_back(word);
    ++at;
  }
  if (at >= command.size()) at = 0;  // a wrapper without a program, such as `env`, is the program
  started.first_word = at;
  started.word = command[at];
  started.file = find_in_path(started.word);
  if (started.file.empty()) return started;
  if (const std::string interpreter = program_of_script(started.file);
      interpreter != started.file) {
    started.script = started.file;
    started.file = interpreter;
  }
  return started;
}

std::string name_in_temporary_directory(const char* prefix) {
  std::error_code none;
  std::filesystem::path directory = std::filesystem::temp_directory_path(none);
  if (none) directory = "/tmp";
  return (directory / (std::string(prefix) + "XXXXXX")).string();
}

Environment with_changes(Environment environment,
                         std::map<std::string, std::optional<std::string>> changes) {
  const auto kept =
      std::make_shared<const std::map<std::string, std::optional<std::string>>>(std::move(changes));
  return [environment = std::move(environment), kept](const char* name) -> const char* {
    const auto found = kept->find(name);
    if (found == kept->end()) return environment(name);
    return found->second ? found->second->c_str() : nullptr;
  };
}

namespace {

constexpr std::string_view kHostOptions[] = {"-f",        "-host",    "-hosts",      "-hostlist",
                                             "-hostfile", "-machine", "-machinefile"};
constexpr const char* kHostVariables[] = {"HYDRA_HOST_FILE", "SLURM_JOB_ID", "PBS_JOBID",
                                          "LSB_JOBID", "PE_HOSTFILE"};

// The launcher's options before a program: `part` is the launcher and what stands between two ':'.
std::optional<std::uint32_t> ranks_of_part(const Program& part) {
  const std::size_t end = find_started_program(part).first_word;
  std::optional<std::uint32_t> ranks;
  for (std::size_t i = 1; i + 1 < end; ++i) {
    const std::string& option = part[i];
    if (std::find(std::begin(kHostOptions), std::end(kHostOptions), option) !=
        std::end(kHostOptions))
      return std::nullopt;
    if (option != "-n" && option != "-np") continue;
    std::uint32_t number = 0;
    if (!parse_whole(part[i + 1], number)) return std::nullopt;
    ranks = number;
  }
  return ranks;
}

}  // namespace

std::optional<std::uint32_t> ranks_on_this_node(const Program& command,
                                                const Environment& environment) {
  if (std::any_of(std::begin(kHostVariables), std::end(kHostVariables),
                  [&](const char* name) { return environment(name) != nullptr; })) {
    return std::nullopt;
  }
  std::uint32_t sum = 0;
  for (auto begin = command.begin() + 1;;) {
    const auto end = std::find(begin, command.end(), ":");
    Program part = {command.front()};
    part.insert(part.end(), begin, end);
    const std::optional<std::uint32_t> ranks = ranks_of_part(part);
    if (!ranks) return std::nullopt;
    sum += *ranks;
    if (end == command.end()) return sum;
    begin = end + 1;
  }
}

}  // namespace hierbar
