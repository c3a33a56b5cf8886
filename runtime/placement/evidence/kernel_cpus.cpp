// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/kernel_cpus.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bound_thread.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace hierbar {
namespace {

void* ask_for_all(void* result) {
  // Some sandboxes refuse this. Then the thread keeps the mask that it has inherited.
  (void)KernelMask::of_all_cpus().bind();
  *static_cast<Result<CpuSet>*>(result) = own_cpus();
  return nullptr;
}

}  // namespace

Result<CpuSet> own_cpus(pid_t thread) {
  const KernelMask mask = KernelMask::of_thread(thread);
  const CpuSet cpus(mask.words().data(), static_cast<std::uint32_t>(mask.words().size()));
  if (cpus.empty()) return Error{std::string("sched_getaffinity: ") + std::strerror(errno)};
  return cpus;
}

// A pthread and no std::thread: that throws, which is not allowed inside a runtime that starts up.
Result<CpuSet> probe_kernel_cpus() {
  Result<CpuSet> result = CpuSet();
  pthread_t thread{};
  const int error = pthread_create(&thread, nullptr, ask_for_all, &result);
  if (error != 0) return Error{std::string("pthread_create: ") + std::strerror(error)};
  pthread_join(thread, nullptr);
  return result;
}

namespace {

// Empty where the file has no list of cpus.
CpuSet read_cpus(const std::string& path) {
  const Result<CpuSet> cpus = CpuSet::parse(read_first_word(path));
  return cpus ? *cpus : CpuSet();
}

}  // namespace

CpuSet online_cpus(const std::string& sys) { return read_cpus(sys + "/devices/system/cpu/online"); }

bool share_cores(const CpuSet& cpus, const std::string& sys) {
  const std::string directory = sys + "/devices/system/cpu/";
  if (read_first_word(directory + "smt/active") == "0") return false;
  for (const std::uint32_t cpu : cpus) {
    const CpuSet siblings =
        read_cpus(directory + "cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    if ((siblings & cpus).count() > 1) return true;
  }
  return false;
}

namespace {

// A hierarchy of control groups that distributes cpu time.
struct Hierarchy {
  std::string mount_point;
  std::string mounted_group;  // the group that is mounted there
  bool is_version_2;
};

// Views of `text`.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(separator)) != text.npos; text.remove_prefix(end + 1)) {
    parts.push_back(text.substr(0, end));
  }
  parts.push_back(text);
  return parts;
}

bool holds(std::string_view comma_list, std::string_view name) {
  const std::vector<std::string_view> parts = split(comma_list, ',');
  return std::find(parts.begin(), parts.end(), name) != parts.end();
}

// From /proc/self/mountinfo: "id parent device root mount-point options optional... - type source
// super-options".
std::vector<Hierarchy> read_hierarchies(const std::string& root) {
  std::vector<Hierarchy> hierarchies;
  const std::string text = read_whole_file(root + "/proc/self/mountinfo").value_or("");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    const auto separator = line.find(" - cgroup");
    if (separator == std::string_view::npos) continue;
    const std::vector<std::string_view> mount = split(line.substr(0, separator), ' ');
    const std::vector<std::string_view> type = split(line.substr(separator + 3), ' ');
    if (mount.size() < 5 || type.size() < 3) continue;
    const bool is_version_2 = type[0] == "cgroup2";
    const bool is_version_1 = type[0] == "cgroup" && holds(type[2], "cpu");
    if (is_version_1 || is_version_2) {
      hierarchies.push_back({std::string(mount[4]), std::string(mount[3]), is_version_2});
    }
  }
  return hierarchies;
}

// From the text of /proc/self/cgroup: "id:controllers:/group". Version 2 has no controllers there.
std::string_view find_group(std::string_view groups, bool is_version_2) {
  while (!groups.empty()) {
    const std::string_view line = take_line(groups);
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (is_version_2 ? controllers.empty() : holds(controllers, "cpu"))
      return line.substr(second + 1);
  }
  return "/";
}

// Most machines mount their control groups in one of these places, from the root on: version 2, and
// the hierarchy of version 1 that distributes cpu time. The process's group shows whether it is so;
// the list of all mounts takes longer to read than all else here.
std::optional<Hierarchy> find_usual_hierarchy(const std::string& root, std::string_view groups) {
  const auto has_group = [&](const Hierarchy& hierarchy, const char* file) {
    const std::string group(find_group(groups, hierarchy.is_version_2));
    return ::access((root + hierarchy.mount_point + group + file).c_str(), F_OK) == 0;
  };
  Hierarchy version_2{"/sys/fs/cgroup", "/", true};
  if (has_group(version_2, "/cgroup.controllers")) return version_2;
  Hierarchy version_1{"/sys/fs/cgroup/cpu", "/", false};
  if (has_group(version_1, "/cpu.cfs_quota_us")) return version_1;
  return std::nullopt;
}

// "max" and -1 mean no quota. Neither is read as a positive number.
std::uint64_t take_number(std::string_view& text) {
  std::int64_t number = 0;
  parse_whole(take_word(text), number);
  return number > 0 ? static_cast<std::uint64_t>(number) : 0;
}

// In microseconds, for each period; without one a group has no period to read.
std::optional<std::uint32_t> quota_of_group(const std::string& directory, bool is_version_2) {
  std::string text =
      read_whole_file(directory + (is_version_2 ? "/cpu.max" : "/cpu.cfs_quota_us")).value_or("");
  std::string_view rest = text;
  const std::uint64_t quota = take_number(rest);
  if (quota == 0) return std::nullopt;
  if (!is_version_2) {
    text = read_whole_file(directory + "/cpu.cfs_period_us").value_or("");
    rest = text;
  }
  const std::uint64_t period = take_number(rest);
  if (period == 0) return std::nullopt;
  const std::uint64_t cpus = quota / period + (quota % period == 0 ? 0 : 1);
  return cpus > 1'000'000'000 ? std::nullopt : std::optional(static_cast<std::uint32_t>(cpus));
}

void lower(std::optional<std::uint32_t>& smallest, const std::optional<std::uint32_t>& cpus) {
  if (cpus && (!smallest || *cpus < *smallest)) smallest = cpus;
}

}  // namespace

std::optional<std::uint32_t> read_cpu_quota(const std::string& root) {
  std::optional<std::uint32_t> smallest;
  const std::string groups = read_whole_file(root + "/proc/self/cgroup").value_or("");
  const std::optional<Hierarchy> usual = find_usual_hierarchy(root, groups);
  for (const Hierarchy& hierarchy : usual ? std::vector{*usual} : read_hierarchies(root)) {
    std::string group(find_group(groups, hierarchy.is_version_2));
    // The mounted group may itself be below the root, as in a container. A group of this process
    // that is not below the mounted one is taken for the mounted one.
    const std::string top = hierarchy.mounted_group == "/" ? "" : hierarchy.mounted_group;
    group = group.starts_with(top + "/") ? group.substr(top.size()) : "";
    for (;; group.erase(group.rfind('/'))) {
      if (group == "/") group.clear();
      lower(smallest, quota_of_group(root + hierarchy.mount_point + group, hierarchy.is_version_2));
      if (group.empty()) break;
    }
  }
  return smallest;
}

}  // namespace hierbar
