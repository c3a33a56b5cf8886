// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// loader LIBRARY [OTHER]: calls work() of the library and unloads it; then renames OTHER to
// LIBRARY.

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* const library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (library == NULL) {
    fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "no library is given");
    return 1;
  }
  void (*const work)(void) = (void (*)(void))dlsym(library, "work");
  if (work == NULL) return 2;
  work();
  if (dlclose(library) != 0 || dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != NULL) return 3;
  return argc > 2 && rename(argv[2], argv[1]) != 0 ? 4 : 0;
}
