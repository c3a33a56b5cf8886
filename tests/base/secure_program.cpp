// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Uses this project's libraries in a process that may have more rights than its user, and says on
// the standard output whether it has. Arguments: `api`, or `openmp` and the path of an OpenMP
// library, and perhaps that of a tool.

#include <dlfcn.h>
#include <sys/auxv.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hierbar/hierbar.h"

namespace {

constexpr unsigned kThreads = 6;  // more than those for which nobody asks hwloc

bool use_api() {
  hierbar_attributes attributes;
  hierbar_attributes_init(&attributes, kThreads);
  hierbar_barrier* barrier = nullptr;
  const hierbar_status status = hierbar_barrier_create(&attributes, &barrier);
  hierbar_barrier_destroy(barrier);
  return status == HIERBAR_OK;
}

// As a program does that GCC has compiled. The tool is this program's own choice, not its user's.
bool use_openmp(const char* file, const char* tool) {
  void* library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return false;
  }
  if (tool != nullptr) setenv("OMP_TOOL_LIBRARIES", tool, 1);
  static const auto barrier = reinterpret_cast<void (*)()>(dlsym(library, "GOMP_barrier"));
  const auto parallel = reinterpret_cast<void (*)(void (*)(void*), void*, unsigned, unsigned)>(
      dlsym(library, "GOMP_parallel"));
  if (barrier == nullptr || parallel == nullptr) return false;
  parallel([](void*) { barrier(); }, nullptr, kThreads, 0);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("AT_SECURE %lu\n", getauxval(AT_SECURE));
  if (argc == 2 && std::strcmp(argv[1], "api") == 0) return use_api() ? 0 : 1;
  if (argc >= 3 && std::strcmp(argv[1], "openmp") == 0) return use_openmp(argv[2], argv[3]) ? 0 : 1;
  return 2;
}
