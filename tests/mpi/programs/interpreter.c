/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* Runs a program that was built as a library, the way an interpreter loads an extension module:
   nobody but the module sees its MPI library. MPI is finalised by an exit handler of the
   interpreter's. Arguments: the library, then the program's. */

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (module == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*run)(int, char**);
  *(void**)&run = dlsym(module, "_Z3runiPPc"); /* int run(int, char**) in C++ */
  int (*finalize)(void);
  *(void**)&finalize = dlsym(RTLD_DEFAULT, "MPI_Finalize");
  if (finalize == NULL) *(void**)&finalize = dlsym(module, "MPI_Finalize");
  const int status = run(argc - 1, argv + 1);
  return status != 0 ? status : finalize();
}
