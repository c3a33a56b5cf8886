// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A program without OpenMP that loads a library with it, uses it, and unloads it again. libomp.so,
// which came with the library, stays.

// BUILD: plain -ldl
// NAME: plugin
// ENV: KMP_BLOCKTIME=0
// CHECK: --counter reports==1
// TEST: load_use_unload unload_while_workers_sleep first_use_in_another_thread loaded_until_the_end
//   ARGS: $program_dir/plugin.so {}

#include <dlfcn.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/libomp/programs/check.hpp"

namespace {

std::string plugin_path;

class Plugin {
 public:
  Plugin() : library_(dlopen(plugin_path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) omp_test::fail(__FILE__, __LINE__, dlerror());
    run_ = reinterpret_cast<int (*)(int)>(dlsym(library_, "plugin_run"));
    CHECK(run_ != nullptr);
  }
  ~Plugin() { CHECK_EQUAL(dlclose(library_), 0); }
  void check(int num_threads) const { CHECK_EQUAL(run_(num_threads), num_threads); }

 private:
  void* library_;
  int (*run_)(int);
};

void load_use_unload() {
  for (int round = 0; round < 8; ++round) {
    Plugin plugin;
    plugin.check(2 + round);
    plugin.check(3);
  }
}

void unload_while_workers_sleep() {
  for (int round = 0; round < 3; ++round) {
    Plugin plugin;
    plugin.check(5);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
}

void first_use_in_another_thread() {
  Plugin plugin;
  std::thread other([&] { plugin.check(4); });
  other.join();
  plugin.check(6);
}

void loaded_until_the_end() {
  static Plugin plugin;
  plugin.check(6);
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc >= 2);
  plugin_path = argv[1];
  return omp_test::run_case(argc - 1, argv + 1,
                            {{"load_use_unload", load_use_unload},
                             {"unload_while_workers_sleep", unload_while_workers_sleep},
                             {"first_use_in_another_thread", first_use_in_another_thread},
                             {"loaded_until_the_end", loaded_until_the_end}});
}
