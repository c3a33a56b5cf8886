// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/process.hpp"

#include <limits.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace hierbar {

std::uint64_t random_id() {
  std::uint64_t id = 0;
  while (id == 0) {
    if (getrandom(&id, sizeof(id), 0) == sizeof(id)) continue;
    // The fallback is not random, but differs from call to call on one machine.
    id = static_cast<std::uint64_t>(monotonic_ns()) << 22 ^ static_cast<std::uint64_t>(getpid());
  }
  return id;
}

// The line is "pid (name) state parent ...", and the start time is field 22. The name may contain
// blanks and parentheses, so the fields are counted from the last parenthesis.
std::optional<ProcessStat> read_process_stat(int pid, const std::string& proc) {
  // A read fails for a process that ends in this moment.
  const std::string line = read_whole_file(proc + "/" + std::to_string(pid) + "/stat").value_or("");
  const auto open = line.find('(');
  const auto close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;

  ProcessStat stat;
  stat.name = line.substr(open + 1, close - open - 1);
  std::string_view fields = std::string_view(line).substr(close + 1);
  const std::string_view state = take_word(fields);
  const std::string_view parent = take_word(fields);
  for (int field = 5; field < 22; ++field) take_word(fields);
  if (state.empty() || !parse_whole(parent, stat.parent) ||
      !parse_whole(take_word(fields), stat.start_ticks))
    return std::nullopt;
  stat.state = state.front();
  return stat;
}

std::string read_boot_id(const std::string& proc) {
  return read_first_word(proc + "/sys/kernel/random/boot_id");
}

namespace {

std::uint64_t inode_of(const char* path) {
  struct stat status{};
  return stat(path, &status) == 0 ? status.st_ino : 0;
}

const char* word_for(char state) {
  switch (state) {
    case 'R':
      return "running";
    case 'S':
      return "sleeping";
    case 'D':
      return "waiting for a device";
    case 'T':
    case 't':
      return "stopped";
    case 'Z':
    case 'X':
      return "dead";
    default:
      return "alive";
  }
}

// Nothing if that process has ended, even if another one has its number now.
std::optional<char> state_letter(std::int32_t pid, std::uint64_t start_time) {
  const std::optional<ProcessStat> stat = read_process_stat(pid);
  if (!stat || stat->start_ticks != start_time) return std::nullopt;
  return stat->state;
}

// FNV-1a over 64-bit words. Two processes of one node must get the same value; others almost never
// do.
class Hash {
 public:
  explicit Hash(std::uint64_t seed) : value_(0xCBF29CE484222325U ^ seed) {}
  void add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte)
      value_ = (value_ ^ (word >> (8 * byte) & 0xFF)) * 0x100000001B3U;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_;
};

// The effective user, by its number in the user namespace around the own one. In a container
// without privileges that is the user who has started it, whatever number the user has inside.
std::uint64_t outer_user() {
  const std::uint64_t own = geteuid();
  std::FILE* file = std::fopen("/proc/self/uid_map", "re");
  if (file == nullptr) return own;
  std::uint64_t inside, outside, count, found = own;
  while (std::fscanf(file, "%" SCNu64 " %" SCNu64 " %" SCNu64, &inside, &outside, &count) == 3) {
    if (own >= inside && own - inside < count) found = outside + (own - inside);
  }
  std::fclose(file);
  return found;
}

}  // namespace

std::uint64_t start_time_of(std::int32_t pid) {
  const std::optional<ProcessStat> stat = read_process_stat(pid);
  return stat ? stat->start_ticks : 0;
}

std::string state_of(std::int32_t pid, std::uint64_t start_time) {
  const std::optional<char> state = state_letter(pid, start_time);
  return state ? word_for(*state) : "gone";
}

bool is_alive(std::int32_t pid, std::uint64_t start_time) {
  const std::optional<char> state = state_letter(pid, start_time);
  return state && *state != 'Z' && *state != 'X';
}

ProcessName own_process() {
  const auto pid = static_cast<std::int32_t>(getpid());
  return {inode_of("/proc/self/ns/pid"), start_time_of(pid), pid};
}

NodeKey read_node_key(std::uint64_t fake_node) {
  const std::string boot_id = read_boot_id();
  struct stat shared{};
  const std::uint64_t user = outer_user();
  const bool has_shared = stat("/dev/shm", &shared) == 0;
  NodeKey key{};
  for (std::uint64_t i = 0; i < 2; ++i) {
    Hash hash(i * 0x9E3779B97F4A7C15U);
    for (const char c : boot_id) hash.add(static_cast<unsigned char>(c));
    hash.add(inode_of("/proc/self/ns/pid"));
    hash.add(user);
    hash.add(has_shared ? shared.st_dev : 0);
    hash.add(has_shared ? shared.st_ino : 0);
    hash.add(fake_node);
    key.words[i] = hash.value();
  }
  return key;
}

bool read_has_autogroups(const std::string& file) {
  int value = 0;
  return parse_whole(read_first_word(file), value) && value != 0;
}

bool is_in_other_session(pid_t process) { return getsid(process) != getsid(0); }

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = "";
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::string command_output(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string output;
  std::array<char, 4096> buffer;
  for (std::size_t size; (size = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), size);
  pclose(pipe);
  return output;
}

}  // namespace hierbar
