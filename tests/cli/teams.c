/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* teams [MS]

   Parallel regions with barriers, then a thread, a subprocess and a forked child that uses OpenMP
   and keeps its team for so many ms.
   Prints the files of OpenMP runtimes that are loaded, and how many cpus each may use. */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int omp_get_num_threads(void);

/* How many cpus the calling thread may use. */
static int num_cpus(void) {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : -1;
}

/* A line "runtime <path>" for each file of an OpenMP runtime that is loaded. */
static void print_runtimes(void) {
  char line[4096], last[4096] = "";
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    const char *path = strchr(line, '/');
    if (!path || !strcmp(path, last)) continue;
    strcpy(last, path);
    const char *file = strrchr(path, '/') + 1;
    if (!strncmp(file, "libgomp", 7) || !strncmp(file, "libomp", 6) || !strncmp(file, "libiomp", 7))
      printf("runtime %s", path);
  }
  if (maps) fclose(maps);
}

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
