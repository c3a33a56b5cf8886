// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

// This process and others on this node, as the kernel tells of them, and names that they give each
// other.

namespace hierbar {

// A random number that is not 0. That two processes draw the same one is next to impossible.
std::uint64_t random_id();

// What /proc/<pid>/stat tells about a process.
struct ProcessStat {
  std::string name;  // of its program, cut to 15 characters by the kernel
  char state = 0;    // R, S, D, T, Z, ...: see proc(5)
  int parent = 0;
  std::uint64_t start_ticks = 0;  // clock ticks after boot
};

// Nothing if there is no such process, or not any more. `proc` is where /proc is mounted.
std::optional<ProcessStat> read_process_stat(int pid, const std::string& proc = "/proc");

// Names this boot of this kernel. All containers of a node have the same name. Empty if it cannot
// be read.
std::string read_boot_id(const std::string& proc = "/proc");

// Names one process among all that ever ran on this kernel, as far as a process can tell. A process
// number alone is not enough: it belongs to one pid namespace, and it is used again after the
// process's end.
struct ProcessName {
  std::uint64_t pid_namespace;
  // Clock ticks after boot. 0: unknown, for instance because the process has ended.
  std::uint64_t start_time;
  std::int32_t pid;
};

ProcessName own_process();

// The start time of any process of the own pid namespace, and its state as a word ("running",
// "sleeping", ...).
std::uint64_t start_time_of(std::int32_t pid);
std::string state_of(std::int32_t pid, std::uint64_t start_time);
// Whether the process can still do something. One that has ended, but that nobody has waited for,
// cannot.
bool is_alive(std::int32_t pid, std::uint64_t start_time);

// Two processes have equal keys if they can share memory under /dev/shm and see each other's
// process numbers. The key contains the kernel (boot id), the pid namespace, the user, and the
// directory itself: its device and inode. Containers with mounts and user namespaces of their own,
// one for each rank, are on one node where they have the host's /dev/shm. Who joins a segment
// checks that it is the one that was made, so a wrong guess is found out there. The key does not
// contain the host's name: containers choose their own, and clones of one machine have the same.
struct NodeKey {
  std::uint64_t words[2];

  friend bool operator==(const NodeKey& a, const NodeKey& b) {
    return a.words[0] == b.words[0] && a.words[1] == b.words[1];
  }
};

// This process's key, with one more thing mixed in: which of several pretended nodes it is on.
NodeKey read_node_key(std::uint64_t fake_node);

// Whether Linux schedules each Unix session as a group (autogroups). A yield of the only runnable
// process of a session does not reach the processes of other sessions before the group has had its
// time. `file` is the kernel's switch; tests use another one.
bool read_has_autogroups(const std::string& file = "/proc/sys/kernel/sched_autogroup_enabled");

// Whether a process is in another session than this one, or cannot be seen from here.
bool is_in_other_session(pid_t process);

// The name of this node; "unknown" if the kernel does not say it.
std::string host_name();

// What a shell's command prints on stdout; empty if it cannot be started.
std::string command_output(const std::string& command);

}  // namespace hierbar
