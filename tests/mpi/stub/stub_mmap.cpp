// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For ThreadSanitizer, which does not know that two addresses can be the same memory: whoever maps
// a file for sharing that is mapped already gets the same address again.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

namespace {

struct Mapping {
  dev_t device;
  ino_t inode;
  void* address;
  int num_users;  // 0: this entry is free
};

// Neither locks nor memory of the C library's: ThreadSanitizer calls these functions while it sets
// itself up.
std::array<Mapping, 64> mappings;
std::atomic_flag lock;

struct Guard {
  Guard() {
    while (lock.test_and_set(std::memory_order_acquire)) continue;
  }
  ~Guard() { lock.clear(std::memory_order_release); }
};

template <class Match>
Mapping* find(Match match) {
  const auto found = std::find_if(mappings.begin(), mappings.end(), match);
  return found == mappings.end() ? nullptr : &*found;
}

// ThreadSanitizer's own; null while it sets itself up.
decltype(&mmap) next_mmap = nullptr;
decltype(&munmap) next_munmap = nullptr;

__attribute__((constructor)) void find_next() {
  next_mmap = reinterpret_cast<decltype(&mmap)>(dlsym(RTLD_NEXT, "mmap"));
  next_munmap = reinterpret_cast<decltype(&munmap)>(dlsym(RTLD_NEXT, "munmap"));
}

void* map(void* wish, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (next_mmap != nullptr) return next_mmap(wish, bytes, protection, flags, file, offset);
  return reinterpret_cast<void*>(syscall(SYS_mmap, wish, bytes, protection, flags, file, offset));
}

}  // namespace

extern "C" void* mmap(void* wish, size_t bytes, int protection, int flags, int file,
                      off_t offset) noexcept {
  struct stat status{};
  if ((flags & MAP_SHARED) == 0 || file < 0 || offset != 0 || fstat(file, &status) != 0) {
    return map(wish, bytes, protection, flags, file, offset);
  }
  const Guard guard;
  Mapping* entry = find([&](const Mapping& known) {
    return known.num_users > 0 && known.device == status.st_dev && known.inode == status.st_ino;
  });
  if (entry != nullptr) {
    ++entry->num_users;
    return entry->address;
  }
  void* address = map(wish, bytes, protection, flags, file, offset);
  entry = find([](const Mapping& known) { return known.num_users == 0; });
  if (address == MAP_FAILED) return address;
  // Without an entry the next one would get another address, and races would be reported that are
  // none.
  if (entry == nullptr) __builtin_trap();
  *entry = {status.st_dev, status.st_ino, address, 1};
  return address;
}

extern "C" int munmap(void* address, size_t bytes) noexcept {
  {
    const Guard guard;
    Mapping* entry =
        find([&](const Mapping& known) { return known.num_users > 0 && known.address == address; });
    if (entry != nullptr && --entry->num_users > 0) return 0;
  }
  if (next_munmap != nullptr) return next_munmap(address, bytes);
  return static_cast<int>(syscall(SYS_munmap, address, bytes));
}
