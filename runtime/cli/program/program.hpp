// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/variables.hpp"

namespace hierbar {

// What follows "--" on the command line: a program and its arguments. Empty if there is none.
using Program = std::vector<std::string>;

// Cuts "-- program ..." off the command line. `argc` then counts what is left. After the first "--"
// everything belongs to the program, options too.
Program cut_off_program(int& argc, char** argv);

// Whether this command takes a program behind "--".
bool starts_programs(std::string_view command);

// Replaces this process by the program, which is searched for as a shell does and gets this
// process's environment. Returns only on failure: prints a message and returns 127 or 126, as a
// shell does.
int become(const Program& program);

// What a child has in place of what this process has.
struct ChildSetting {
  std::vector<std::pair<std::string, std::string>> variables;  // names and values
  // File descriptors that become its stdin, stdout and stderr; -1: this process's.
  int input = -1;
  int output = -1;
  int errors = -1;
};

// Sets up this process, which is a child, and becomes the program. Returns as become() does.
int become_with(const Program& program, const ChildSetting& setting);

// The exit code that a shell has for a status of wait(): the program's own, or 128 and the number
// of the signal that ended it.
int exit_code_of(int status);

// The word, quoted for a shell if it needs quotes.
std::string shell_quoted(const std::string& word);
// The same of all words.
std::string shell_line(const Program& program);

// What a command starts in the end: launchers and wrappers are programs that start what is named in
// their arguments, and a script is run by its interpreter.
struct StartedProgram {
  std::string file;                   // what the loader loads; empty if there is no such file
  std::string word;                   // the word of the command that names it or its script
  std::string script;                 // the file of the script, if `file` is the interpreter of one
  std::size_t first_word = 0;         // its index in the command
  std::vector<std::string> wrappers;  // the words in front that start it: "srun", "env"
  // What these do to variables; nothing: the variable is unset.
  std::map<std::string, std::optional<std::string>> changes;
};

// Follows launchers (mpiexec, srun, ...) and wrappers (env, taskset, timeout, hierbar run, ...) to
// the first word behind them that is a program, and scripts to the program in their first line.
StartedProgram find_started_program(const Program& command);

// An interpreter's file does not show what it loads or starts in the end.
enum class Interpreter { kNone, kPython, kShell };

// By the name in the command, which may be that of a script that chooses the interpreter (pyenv),
// or by the file's.
Interpreter interpreter_of(const StartedProgram& started);

// Whether the program may use the same cpus as this process: no launcher or binder is in between.
bool keeps_cpus(const StartedProgram& started);

// The base name of a word that is a launcher of MPI programs or Slurm's srun.
bool is_mpi_launcher(const std::string& word);
bool is_srun(const std::string& word);

// The file that a shell would run for this word. Empty if there is none.
std::string find_in_path(const std::string& word);

// A name of a temporary file for mkstemp() and its like, which begins with `prefix`: in TMPDIR, or
// in /tmp where that is not set or no directory.
std::string name_in_temporary_directory(const char* prefix);

// `environment`, with the changes.
Environment with_changes(Environment environment,
                         std::map<std::string, std::optional<std::string>> changes);

// How many ranks a command of MPICH's launcher starts on this node: the sum of its -n and -np.
// Nothing if it does not say, or if the ranks may be on other nodes as well, since the command or
// the environment names hosts or this is a batch job.
std::optional<std::uint32_t> ranks_on_this_node(const Program& command,
                                                const Environment& environment);

}  // namespace hierbar
