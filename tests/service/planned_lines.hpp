// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "service/plan_service.h"

// What a process gets from libhierbar.so, as lines of text.
namespace hierbar::test {

using Lines = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

inline constexpr const char* kKunpeng = "pack:2 die:2 [numa] l3:1 group:8 l2:4 core:1 pu:1";

inline void append_line(void* lines, const char* line) {
  static_cast<Lines*>(lines)->push_back(line);
}

// The library reads settings and the machine once in a process, so every test looks at it from a
// new one. `body` appends what it sees to its argument.
template <typename Body>
Lines in_new_process(const Variables& variables, const Body& body) {
  int ends[2];
  if (pipe(ends) != 0) return {"no pipe"};
  const pid_t child = fork();
  if (child == 0) {
    for (const char* name :
         {"HIERBAR_TOPOLOGY", "HIERBAR_LEVELS", "HIERBAR_RELEASE", "HIERBAR_PROFILE"})
      unsetenv(name);
    setenv("XDG_CONFIG_HOME", "/nowhere", 1);
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    alarm(60);
    Lines lines;
    body(lines);
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    const bool written =
        write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    std::_Exit(written ? 0 : 1);  // not _exit(): ThreadSanitizer looks there for threads, and
                                  // fork() does not bring the parent's
  }
  close(ends[1]);
  Lines lines;
  FILE* input = fdopen(ends[0], "r");
  char buffer[4096];
  while (fgets(buffer, sizeof buffer, input) != nullptr) {
    lines.emplace_back(buffer);
    lines.back().pop_back();
  }
  fclose(input);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) lines.push_back("the process ended with status " + std::to_string(status));
  return lines;
}

// Bindings of single cpus.
class Bindings {
 public:
  explicit Bindings(const std::vector<std::uint32_t>& cpus)
      : words_(cpus.size()), cpus_(cpus.size()) {
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      words_[i].resize(cpus[i] / 64 + 1);
      words_[i].back() = std::uint64_t{1} << (cpus[i] % 64);
      cpus_[i] = hierbar_cpus{words_[i].data(), static_cast<std::uint32_t>(words_[i].size())};
    }
  }
  const hierbar_cpus* data() const { return cpus_.data(); }

 private:
  std::vector<std::vector<std::uint64_t>> words_;
  std::vector<hierbar_cpus> cpus_;
};

// 14 participants, one on each NUMA node of a Kunpeng in turn.
inline Bindings by_numa_node() {
  std::vector<std::uint32_t> cpus;
  for (std::uint32_t i = 0; i < 14; ++i) cpus.push_back(i % 4 * 32 + i / 4);
  return Bindings(cpus);
}

// What is reported, then "leaders: 0 1 2" or "error <errno>".
inline void plan_into(Lines& lines, std::uint32_t num_participants,
                      const hierbar_cpus* cpus = nullptr,
                      decltype(&hierbar_plan_create) create = hierbar_plan_create) {
  const hierbar_plan* plan = reinterpret_cast<const hierbar_plan*>(&lines);
  const int error = create(num_participants, cpus, append_line, &lines, &plan);
  if (error != 0) {
    lines.push_back("error " + std::to_string(error) +
                    (plan == nullptr ? "" : ", a plan nevertheless"));
    return;
  }
  std::string leaders = "leaders:";
  for (std::uint32_t i = 0; i < plan->num_leaders; ++i)
    leaders += ' ' + std::to_string(plan->leaders[i]);
  lines.push_back(leaders + (plan->release == HIERBAR_RELEASE_LINES ? ", lines" : ""));
  hierbar_plan_destroy(plan);
}

}  // namespace hierbar::test
