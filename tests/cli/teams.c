/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* teams [MS]

   Parallel regions with barriers, then a thread, a subprocess and a forked child that uses OpenMP
   and keeps its team for so many ms.
   Prints the files of OpenMP runtimes that are loaded, and how many cpus each may use. */
#include "own_process.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int omp_get_num_threads(void);

static void *look(void *result) {
  *(int *)result = num_cpus();
  return NULL;
}

static int region(void) {
  int sum = 0;
#pragma omp parallel num_threads(2)
  {
    const int size = omp_get_num_threads();
    for (int i = 0; i < 10; ++i) {
#pragma omp barrier
    }
    __atomic_fetch_add(&sum, size, __ATOMIC_RELAXED);
  }
  return sum;
}

int main(int argc, char **argv) {
  const int at_start = num_cpus();
  if (region() != 4) return 2;
  int of_thread = 0;
  pthread_t thread;
  pthread_create(&thread, NULL, look, &of_thread);
  pthread_join(thread, NULL);
  print_runtimes();
  printf("cpus start %d thread %d after %d subprocess ", at_start, of_thread, num_cpus());
  fflush(stdout);
  if (system("nproc") != 0) return 3;
  const pid_t child = fork();
  if (child == 0) {
    const int sum = region();
    usleep(argc > 1 ? atoi(argv[1]) * 1000 : 0);
    exit(sum == 4 ? 7 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 4;
}
