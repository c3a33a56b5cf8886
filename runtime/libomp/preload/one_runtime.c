/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* An audit module for glibc's loader (rtld-audit(7)). It keeps a process from loading a second
   OpenMP runtime beside the one that `hierbar run` preloads.

   Preloading alone serves who asks for libgomp.so.1, which is the SONAME of the preloaded file.
   Others ask for another name and find a file of their own:

     libgomp-a34b3233.so.1.0.0   Python wheels, to which auditwheel copies the runtime under a hash
     libomp.so.5, libiomp5.so    programs of Clang and Intel's compilers with a DT_RPATH, for
                                 instance of conda or Spack, which comes before LD_LIBRARY_PATH

   Their symbols are bound to the preloaded runtime, but the second file is loaded as well, and its
   constructors run: GCC's binds the main thread when OMP_PLACES is set.

   Here each such name is answered with a file alias-N.so, which is empty. It defines the symbol
   versions that the loader looks for, and needs libgomp.so.1, for dlsym() with its handle. Each
   name needs a file of its own: glibc records the name by which a file was asked for only when it
   maps the file, and ends the process when a version is needed from a name that it did not record.
   When the files are used up, the library is loaded that was asked for; the preloaded one still
   serves.

   The module uses no libc, because the loader would load a second libc for it. The loader holds its
   lock during all calls, so nothing here is shared between threads. */

#define _GNU_SOURCE 1 /* Lmid_t and LA_SER_ORIG */
#include <link.h>

enum { kNumAliases = HIERBAR_NUM_ALIASES, kMaxName = 128, kMaxPath = 4096 };

static const char kPreloaded[] = "/hierbar/preload/libgomp.so.1";
static const char kFile[] = "libgomp.so.1";

static char path[kMaxPath];  /* of alias-N.so; empty until the preloaded runtime is there */
static unsigned file_offset; /* of "alias-N.so" in it */
static char names[kNumAliases][kMaxName]; /* the name that alias-N.so answers */

static unsigned length(const char *text) {
  unsigned n = 0;
  while (text[n] != '\0')
    ++n;
  return n;
}

static int equal(const char *a, const char *b, unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    if (a[i] != b[i])
      return 0;
  }
  return 1;
}

/* Whether `text` begins with `word`; what follows it is stored. */
static int cut(const char *text, const char *word, const char **rest) {
  const unsigned n = length(word);
  for (unsigned i = 0; i < n; ++i) {
    if (text[i] != word[i])
      return 0;
  }
  *rest = text + n;
  return 1;
}

static const char *base_name(const char *name) {
  const char *base = name;
  for (; *name != '\0'; ++name) {
    if (*name == '/')
      base = name + 1;
  }
  return base;
}

/* libgomp, libomp or libiomp5, with or without a hash, and ".so" with or without numbers. Not
   libgomp-plugin-nvptx.so.1 or libompd.so. */
static int is_openmp_runtime(const char *name) {
  const char *rest;
  if (!cut(name, "libgomp", &rest) && !cut(name, "libomp", &rest) && !cut(name, "libiomp5", &rest))
    return 0;
  if (*rest == '-') {
    for (++rest; (*rest >= '0' && *rest <= '9') || (*rest >= 'a' && *rest <= 'f'); ++rest) {
    }
  }
  return cut(rest, ".so", &rest) && (*rest == '\0' || *rest == '.');
}

/* The path of the alias for this name; null if there is none left. */
static char *find_alias(const char *name) {
  const unsigned size = length(name) + 1;
  if (size > kMaxName)
    return 0;
  for (unsigned i = 0; i < kNumAliases; ++i) {
    if (names[i][0] != '\0' && !equal(names[i], name, size))
      continue;
    for (unsigned j = 0; j < size; ++j)
      names[i][j] = name[j];
    path[file_offset + sizeof "alias-" - 1] = (char)('0' + i);
    return path;
  }
  return 0;
}

/* glibc before 2.35 sends every call between libraries through the loader when there is an audit
   module. It offers version 1 and is declined; preloading alone then has to serve. */
__attribute__((visibility("default"))) unsigned la_version(unsigned version) {
  return version < 2 ? 0 : version;
}

/* Called for each loaded file, the preloaded ones before those that the program needs. */
__attribute__((visibility("default"))) unsigned la_objopen(struct link_map *map, Lmid_t space,
                                                           uintptr_t *cookie) {
  (void)cookie;
  const unsigned size = length(map->l_name);
  const unsigned tail = sizeof kPreloaded - 1;
  if (space != LM_ID_BASE || size < tail || size + 1 > kMaxPath ||
      !equal(map->l_name + size - tail, kPreloaded, tail))
    return 0;
  file_offset = size - (sizeof kFile - 1);
  for (unsigned i = 0; i < file_offset; ++i)
    path[i] = map->l_name[i];
  static const char alias[] = "alias-0.so";
  for (unsigned i = 0; i < sizeof alias; ++i)
    path[file_offset + i] = alias[i];
  return 0;
}

/* Called for a name that no loaded file has. */
__attribute__((visibility("default"))) char *la_objsearch(const char *name, uintptr_t *cookie,
                                                          unsigned flag) {
  (void)cookie;
  if (flag == LA_SER_ORIG && path[0] != '\0' && is_openmp_runtime(base_name(name))) {
    char *alias = find_alias(name);
    if (alias)
      return alias;
  }
  return (char *)(uintptr_t)name; /* whose type the interface does not keep */
}
