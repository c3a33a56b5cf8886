// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/common/random.hpp"
#include "tests/libomp/region_fuzzer/forms.hpp"

namespace region_fuzzer {

using hierbar::test::Random;

// libomp's own functions, which GCC's library to link with does not have.
template <class Argument>
void call_libomp(const char* name, Argument argument) {
  reinterpret_cast<void (*)(Argument)>(dlsym(RTLD_DEFAULT, name))(argument);
}

// --verbose
inline bool is_verbose = false;

// What is random in one root thread.
class Generator {
 public:
  Generator(std::uint64_t seed, int root, bool is_alone, int max_threads)
      : random_(seed * 64 + static_cast<std::uint64_t>(root)),
        is_alone_(is_alone),
        max_threads_(max_threads) {
    step_.seed = seed;
    step_.root = root;
  }

  Random& random() { return random_; }
  const Model& model() const { return model_; }
  int size() {
    return 1 + static_cast<int>(random_.below(static_cast<std::uint32_t>(max_threads_)));
  }

  // Mostly the region before once more, so that it may be lean; else another one.
  const Step& next_step(long number) {
    step_.number = number;
    if (repetitions_-- > 0) return step_;
    repetitions_ = random_.one_in(3) ? 0 : random_.below(12);
    do step_.form = static_cast<Form>(random_.below(static_cast<std::uint32_t>(Form::kCount)));
    while (!is_alone_ && step_.form == Form::kNoArguments);
    step_.parts = 0;
    for (std::uint32_t i = random_.below(4); i > 0; --i)
      step_.parts |= 1U << random_.below(kNumParts - 1);
    const bool may_cancel = omp_get_cancellation() && step_.form == Form::kPlain;
    if (may_cancel && random_.one_in(2))
      step_.parts = random_.one_in(2) ? kCancel : kCancel | kDynamicLoop;
    step_.num_threads = random_.one_in(2) ? model_.num_threads : size();
    step_.condition = !random_.one_in(3);
    step_.nested_threads = 1 + static_cast<int>(random_.below(3));
    step_.late_thread = static_cast<int>(random_.below(static_cast<std::uint32_t>(max_threads_)));
    step_.late_us = random_.one_in(4) ? 1500 : 60;
    return step_;
  }

  // Between two regions.
  void change_something() {
    if (repetitions_ > 0 && !random_.one_in(8)) return;
    const std::uint32_t change = random_.below(14);
    if (is_verbose)
      std::fprintf(stderr, "root %d: change %u\n", step_.root, static_cast<unsigned>(change));
    switch (change) {
      case 0:
        omp_set_num_threads(model_.num_threads = size());
        break;
      case 1:
        omp_set_max_active_levels(model_.max_active_levels =
                                      1 + static_cast<int>(random_.below(2)));
        break;
      case 2:
        model_.schedule = random_.one_in(2) ? omp_sched_dynamic : omp_sched_guided;
        omp_set_schedule(model_.schedule, model_.chunk = 1 + static_cast<int>(random_.below(4)));
        break;
      case 3:
        std::fesetround(model_.rounding = random_.one_in(2) ? FE_DOWNWARD : FE_TONEAREST);
        break;
      case 4:
        omp_set_default_allocator(model_.allocator = random_.one_in(2) ? omp_const_mem_alloc
                                                                       : omp_default_mem_alloc);
        break;
      case 5:
        call_libomp("kmp_set_blocktime", random_.one_in(2) ? 0 : 20);
        break;
      case 6:
        usleep(random_.one_in(4) ? 2500 : 100);
        break;
      case 7:
        if (random_.one_in(20)) call_libomp("kmp_set_defaults", "KMP_WARNINGS=off");
        break;
      case 8:
        omp_pause_resource(omp_pause_soft, omp_get_initial_device());
        break;
      case 9:
        if (is_alone_ && random_.one_in(10)) start_afresh();
        break;
      case 10:
        if (is_alone_ && random_.one_in(10)) fork_child();
        break;
      case 11: {  // one thread that no region has: a new root
        if (random_.one_in(4)) open_region_elsewhere();
        break;
      }
      default:
        break;
    }
  }

  void begin() {
    model_.num_threads = size();
    model_.apply();
  }

 private:
  void start_afresh() {
    omp_pause_resource(omp_pause_hard, omp_get_initial_device());
    model_.apply();
  }

  // The child has one thread, and its parent's memory.
  void fork_child() {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      model_.apply();
      for (int i = 0; i < 6; ++i) run(step_with(Form::kPlain, kBarrier | kTasks), model_);
      std::_Exit(0);
    }
    int status = -1;
    if (child > 0) waitpid(child, &status, 0);
    step_.check("exit status of a forked child", status, 0);
  }

  // Without tasks: libomp's workers give the memory of a task back to the thread that made it, even
  // when that one has ended (any barrier of LLVM 22 fails here in one of ten runs).
  void open_region_elsewhere() {
    std::thread([this] {
      const Model other;
      other.apply();
      for (int i = 0; i < 4; ++i) run(step_with(Form::kNumThreads, kBarrier | kDynamicLoop), other);
    }).join();
  }

  Step step_with(Form form, std::uint32_t parts) const {
    Step step = step_;
    step.form = form;
    step.parts = parts;
    step.num_threads = 3;
    return step;
  }

  Random random_;
  bool is_alone_;
  int max_threads_;
  Model model_;
  Step step_;
  std::uint32_t repetitions_ = 0;
};

}  // namespace region_fuzzer
