// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory in a file system that has no room for all of it.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "hierbar/hierbar.h"
#include "tests/support/surroundings.hpp"

namespace hierbar {
namespace {

constexpr std::size_t kRoom = 256U << 10;
constexpr int kNoMounts = 77;

// Its exit status, or 128 and the signal's number.
int run_in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Puts a file system of kRoom over the directory, for this process and its children alone.
bool mount_small(const std::string& directory) {
  const bool is_apart = unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
  return is_apart && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", directory.c_str(), "tmpfs", 0, ("size=" + std::to_string(kRoom)).c_str()) ==
             0;
}

// A new file that is all hole; null if there is none.
void* map_hole(const std::string& path, std::size_t size) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) return nullptr;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : memory;
}

// Runs `body` with the path of a file that can be made in a file system of kRoom. Returns its exit
// status; kNoMounts where there can be no such file system.
int run_where_room_is_small(const std::function<int(const std::string& file)>& body) {
  const test::TemporaryDirectory directory;
  return run_in_child(
      [&] { return mount_small(directory.path()) ? body(directory / "memory") : kNoMounts; });
}

TEST(Populate, MakesAFullFileSystemAnErrorInPlaceOfASignal) {
  const int result = run_where_room_is_small([](const std::string& file) {
    void* memory = map_hole(file, 2 * kRoom);
    if (memory == nullptr) return 1;
    if (hierbar_barrier_populate(memory, 2 * kRoom) != HIERBAR_ERR_NO_MEMORY) return 2;
    // Without it:
    const int touched = run_in_child([memory] {
      signal(SIGBUS, SIG_DFL);  // in place of a sanitizer's handler
      std::memset(memory, 1, 2 * kRoom);
      return 0;
    });
    return touched == 128 + SIGBUS ? 0 : 3;
  });
  if (result == kNoMounts) GTEST_SKIP() << "no mount namespaces here";
  EXPECT_EQ(result, 0);
}

TEST(Populate, KeepsThePagesWhenTheFileSystemGetsFullLater) {
  const int result = run_where_room_is_small([](const std::string& file) {
    constexpr std::uint32_t kParticipants = 100;
    hierbar_attributes attributes;
    hierbar_attributes_init(&attributes, kParticipants);
    std::size_t size = 0;
    if (hierbar_barrier_size(&attributes, &size) != HIERBAR_OK || size > kRoom) return 1;
    void* memory = map_hole(file, size);
    if (memory == nullptr || hierbar_barrier_populate(memory, size) != HIERBAR_OK) return 2;
    void* rest = map_hole(file + ".rest", 2 * kRoom);
    if (rest == nullptr || hierbar_barrier_populate(rest, 2 * kRoom) != HIERBAR_ERR_NO_MEMORY)
      return 3;
    // The memory is still zero, so a barrier can be made in it, and every byte of it can be
    // touched.
    if (hierbar_barrier_init_shared(memory, size, &attributes) != HIERBAR_OK) return 4;
    return run_in_child([&] {
      std::memset(memory, 1, size);
      return 0;
    });
  });
  if (result == kNoMounts) GTEST_SKIP() << "no mount namespaces here";
  EXPECT_EQ(result, 0);
}

TEST(Populate, ChangesNothingAndTakesPartsOfPages) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), size = 4 * page;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* bytes = static_cast<unsigned char*>(memory);
  std::memset(bytes + page, 7, page);
  EXPECT_EQ(hierbar_barrier_populate(bytes + page - HIERBAR_MEMORY_ALIGNMENT, 2 * page),
            HIERBAR_OK);
  unsigned char present[4] = {};
  ASSERT_EQ(mincore(memory, size, present), 0);
  for (const int expected_present : {0, 1, 2})
    EXPECT_EQ(present[expected_present] & 1, 1) << expected_present;
  EXPECT_EQ(present[3] & 1, 0);
  EXPECT_EQ(std::count(bytes, bytes + size, 7), static_cast<std::ptrdiff_t>(page));
  munmap(memory, size);
}

TEST(Populate, RefusesWhatCannotBeABarriersMemory) {
  alignas(HIERBAR_MEMORY_ALIGNMENT) static unsigned char memory[256];
  EXPECT_EQ(hierbar_barrier_populate(nullptr, 10), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_populate(memory + 1, 10), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_populate(memory, 0), HIERBAR_OK);
  void* read_only = mmap(nullptr, 1, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_EQ(hierbar_barrier_populate(read_only, 1), HIERBAR_ERR_NO_MEMORY);
  munmap(read_only, 1);
}

}  // namespace
}  // namespace hierbar
