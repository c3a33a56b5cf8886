// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/variables.hpp"

namespace hierbar::test {

using Variables = std::map<std::string, std::string>;

// An environment of these variables and no others.
inline Environment environment_of(Variables variables) {
  return [variables = std::move(variables)](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

// A new directory below `parent`, which goes with all that is in it.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::string& parent = std::filesystem::temp_directory_path())
      : path_(parent + "/hierbar-test-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no directory in " + parent);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  // Of all that is in it.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename());
    return names;
  }

 private:
  std::string path_;
};

// Users without rights, one to be attacked and one to attack. Neither needs an entry in
// /etc/passwd.
inline constexpr uid_t kVictim = 54321;
inline constexpr uid_t kAttacker = 54322;

inline bool can_become_others() { return geteuid() == 0; }
inline constexpr const char* kCannotBecomeOthers = "not root: nobody else can be played here";

// Runs `body` as that user in a process of its own. Returns what it returns, or 255 if it did not
// get there.
template <class Body>
int run_as(uid_t user, const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    int result = 255;
    try {
      if (setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0) result = body();
    } catch (...) {  // nothing of the test runs twice
    }
    _exit(result);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

// A file that everybody may write to, which the attacker keeps leased while this lives.
class LeasedFile {
 public:
  explicit LeasedFile(const std::string& path) : path_(path) {
    int ends[2];
    if (pipe(ends) != 0) return;
    owner_ = fork();
    if (owner_ == 0) hold(ends[1]);
    close(ends[1]);
    char told = 0;
    is_leased_ = read(ends[0], &told, 1) == 1 && told == 1;
    close(ends[0]);
  }
  ~LeasedFile() {
    kill(owner_, SIGKILL);
    waitpid(owner_, nullptr, 0);
    unlink(path_.c_str());
  }
  LeasedFile(const LeasedFile&) = delete;
  LeasedFile& operator=(const LeasedFile&) = delete;

  bool is_leased() const { return is_leased_; }

 private:
  [[noreturn]] void hold(int told) const {
    std::signal(SIGIO, SIG_IGN);  // by which the kernel asks for the lease
    umask(0);
    const bool is_other = setresgid(kAttacker, kAttacker, kAttacker) == 0 &&
                          setresuid(kAttacker, kAttacker, kAttacker) == 0;
    const int file = is_other ? open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0666) : -1;
    const char is_held =
        ftruncate(file, 1 << 20) == 0 && fcntl(file, F_SETLEASE, F_WRLCK) == 0 ? 1 : 0;
    if (write(told, &is_held, 1) != 1) _exit(1);
    for (;;) pause();
  }

  const std::string path_;
  pid_t owner_ = -1;
  bool is_leased_ = false;
};

}  // namespace hierbar::test
