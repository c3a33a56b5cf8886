// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Taskloops, which one thread of the team meets and all may run, and what opens a team.

#include <array>

#include "forms.hpp"

namespace loop_fuzzer::LOOP_FUZZER_COMPILER {

namespace {

// An object that notices when it is not a copy.
class Copied {
 public:
  Copied() { fill(this); }
  Copied(const Copied& other) {
    fill(this);
    if (!other.is_intact()) words_[0] = nullptr;
  }
  Copied& operator=(const Copied&) = delete;
  ~Copied() { words_.fill(nullptr); }

  bool is_intact() const {
    for (const void* word : words_) {
      if (word != this) return false;
    }
    return true;
  }

 private:
  static void fill(Copied* object) { object->words_.fill(object); }
  std::array<const void*, 6> words_;
};

#define ALL_SPLITS(BODY, ...)                                               \
  switch (loop.split) {                                                     \
    case Split::kNone:                                                      \
      LOOP_FUZZER_FORMS(BODY, __VA_ARGS__) break;                           \
    case Split::kGrainsize:                                                 \
      LOOP_FUZZER_FORMS(BODY, __VA_ARGS__ grainsize(chunk)) break;          \
    case Split::kGrainsizeStrict:                                           \
      LOOP_FUZZER_FORMS(BODY, __VA_ARGS__ grainsize(strict : chunk)) break; \
    case Split::kNumTasks:                                                  \
      LOOP_FUZZER_FORMS(BODY, __VA_ARGS__ num_tasks(chunk)) break;          \
    case Split::kNumTasksStrict:                                            \
      LOOP_FUZZER_FORMS(BODY, __VA_ARGS__ num_tasks(strict : chunk)) break; \
  }

#define VISIT_IN_TASK(i) ledger.visit_in_task(iteration_of<T>(loop, i), task)
#define VISIT_WITH_COPY(i) \
  VISIT_IN_TASK(i);        \
  if (!copied.is_intact()) ledger.complain("a task's copy of an object is broken")
#define VISIT_OR_CANCEL(i)                                  \
  const std::uint64_t iteration = iteration_of<T>(loop, i); \
  ledger.visit(iteration);                                  \
  if (iteration == loop.cancel_at) {                        \
    LOOP_FUZZER_PRAGMA(omp cancel taskgroup)                \
  }                                                         \
  LOOP_FUZZER_PRAGMA(omp cancellation point taskgroup)

template <class T>
void run_plain(const Loop& loop, Ledger& ledger) {
  LOOP_FUZZER_BOUNDS(loop.outer);
  const int chunk = loop.chunk;
  int task = -1;
  ALL_SPLITS(VISIT_IN_TASK, omp taskloop firstprivate(task) shared(loop, ledger))
}

template <class T>
void run_nogroup(const Loop& loop, Ledger& ledger) {
  LOOP_FUZZER_BOUNDS(loop.outer);
  const int chunk = loop.chunk;
  int task = -1;
  ALL_SPLITS(VISIT_IN_TASK, omp taskloop nogroup firstprivate(task) shared(loop, ledger))
#pragma omp taskwait  // for the bounds: tasks may refer to them
}

template <class T>
void run_with_copies(const Loop& loop, Ledger& ledger) {
  LOOP_FUZZER_BOUNDS(loop.outer);
  const int chunk = loop.chunk;
  int task = -1;
  const Copied copied;
  ALL_SPLITS(VISIT_WITH_COPY, omp taskloop firstprivate(task, copied) shared(loop, ledger))
}

template <class T>
void run_cancelled(const Loop& loop, Ledger& ledger) {
  LOOP_FUZZER_BOUNDS(loop.outer);
  const int chunk = loop.chunk;
  ALL_SPLITS(VISIT_OR_CANCEL, omp taskloop shared(loop, ledger))
}

}  // namespace

void run_taskloop(const Loop& loop, Ledger& ledger) {
#pragma omp single
  with_type(loop.type, [&]<class T>() {
    if (loop.construct == Construct::kTaskloop) run_plain<T>(loop, ledger);
    if (loop.construct == Construct::kTaskloopNogroup) run_nogroup<T>(loop, ledger);
    if (loop.construct == Construct::kTaskloopCopy) run_with_copies<T>(loop, ledger);
    if (loop.construct == Construct::kCancelTaskloop) run_cancelled<T>(loop, ledger);
  });
}

static void run(const Loop& loop, Ledger& ledger) {
  if (is_taskloop(loop.construct)) return run_taskloop(loop, ledger);
  switch (loop.construct) {
    case Construct::kOrdered:
    case Construct::kDoacross:
      return run_ordered(loop, ledger);
    case Construct::kCollapse:
    case Construct::kReduction:
    case Construct::kCancelFor:
      return run_special(loop, ledger);
    default:
      return run_worksharing(loop, ledger);
  }
}

static void open_region(int num_threads, void (*body)(void*), void* argument) {
#pragma omp parallel num_threads(num_threads)
  body(argument);
}

long reduction_sum = 0;

#define NAME_OF(compiler) #compiler
#define NAME(compiler) NAME_OF(compiler)
const Constructs constructs = {NAME(LOOP_FUZZER_COMPILER), open_region, run};

}  // namespace loop_fuzzer::LOOP_FUZZER_COMPILER
