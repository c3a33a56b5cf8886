// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two OpenMP runtimes in one process: each has threads of its own, and a program that does not know
// of it gets slow or wrong. LLVM's libomp refuses to be the second one, unless KMP_DUPLICATE_LIB_OK
// is true. So that the second finds the first, each writes a file in /dev/shm, with the process's
// number in its name, and removes it when it ends. A process that ends by _exit() or is killed
// leaves it, and where /dev/shm is full, writing it is a SIGBUS.
//
// This library writes no file, and keeps the promise:
//
//   it is the second, after LLVM's or Intel's   it reads their file, as they do
//   it is the second, after another one of ours  it finds the other's kmp_hierbar_is_registered()
//   it is the first                              libomp asks for tools before it registers, by
//                                                calling ompt_start_tool(), which is ours where we
//                                                are in the program's global scope: linked or
//                                                preloaded
//
// What is not found: we are the first, and were loaded by dlopen() without RTLD_GLOBAL.

#include "libomp/kmp_hierbar_other_runtimes.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <initializer_list>

#include "base/served_file.hpp"
#include "base/trusted_variable.hpp"
#include "kmp.h"
#include "kmp_environment.h"
#include "kmp_i18n.h"
#include "kmp_str.h"
#include "libomp/barrier/kmp_hierbar_waits.h"
#include "libomp/kmp_hierbar_library.h"

static bool is_registered = false; // under __kmp_initz_lock

// For another library of ours in the same process. Exported, as all names kmp_* are, and not called
// here: the name may be bound to another library's.
extern "C" int kmp_hierbar_is_registered() { return is_registered; }

static void be_second(const char *initialized, const char *found) {
  char *allowed = __kmp_env_get("KMP_DUPLICATE_LIB_OK");
  if (!__kmp_str_match_true(allowed))
    __kmp_fatal(KMP_MSG(DuplicateLibrary, initialized, found), KMP_HNT(DuplicateLibrary),
                __kmp_msg_null);
  KMP_INTERNAL_FREE(allowed);
  __kmp_duplicate_library_ok = 1;
}

static const char *file_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

// ---- LLVM's and Intel's ----

// Only what this user has written. Read and not mapped: a file may be shorter than it says.
static bool read_text(const char *path, char *text, size_t size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd == -1)
    return false;
  struct stat status;
  ssize_t length = 0;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid())
    length = read(fd, text, size - 1);
  close(fd);
  text[length > 0 ? length : 0] = '\0';
  return *text != '\0';
}

// The value at an address that may be in no mapping. The kernel reads it for us.
static bool has_value(const unsigned long *address, unsigned long value) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return false;
  unsigned long found = 0;
  const bool is_there = write(ends[1], address, sizeof(found)) == sizeof(found) &&
                        read(ends[0], &found, sizeof(found)) == sizeof(found);
  close(ends[0]);
  close(ends[1]);
  return is_there && found == value;
}

// One registration: "address-value-file", where the value stands at the address while the runtime
// is there. A process that has executed another program may find that of its former one.
// Returns false if it is out of date.
static bool obey(const char *where, const char *text) {
  void *address = NULL;
  unsigned long value = 0;
  char file[256];
  if (sscanf(text, "%p-%lx-%255s", &address, &value, file) != 3) {
    kmp_str_buf_t line;
    __kmp_str_buf_init(&line);
    __kmp_str_buf_print(
        &line,
        "%s does not say \"address-value-file\", as an OpenMP runtime writes it; it is ignored",
        where);
    __kmp_hierbar_warn(NULL, line.str);
    __kmp_str_buf_free(&line);
    return true;
  }
  if (!has_value((const unsigned long *)address, value))
    return false;
  be_second(KMP_LIBRARY_FILE, file);
  return true;
}

// Where libomp writes: in /dev/shm, else in /tmp, else in the environment.
static void look_for_registrations() {
  char name[64], path[96], text[1024];
  KMP_SNPRINTF(name, sizeof(name), "__KMP_REGISTERED_LIB_%d_%d", (int)getpid(), (int)getuid());
  for (const char *directory : {"/dev/shm", "/tmp"}) {
    KMP_SNPRINTF(path, sizeof(path), "%s/%s", directory, name);
    if (read_text(path, text, sizeof(text)) && !obey(path, text))
      unlink(path);
  }
  if (const char *value = hierbar::trusted_variable(name))
    obey(name, value);
}

// ---- our own ----

static int add_name(struct dl_phdr_info *object, size_t, void *names) {
  if (object->dlpi_name != NULL && *object->dlpi_name != '\0')
    __kmp_str_buf_cat((kmp_str_buf_t *)names, object->dlpi_name, strlen(object->dlpi_name) + 1);
  return 0;
}

// The function of that name in one object, and not in those that it needs.
static void *own_function(const char *path, const char *name) {
  void *object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (object == NULL)
    return NULL;
  void *function = dlsym(object, name);
  Dl_info info;
  if (function != NULL && (dladdr(function, &info) == 0 || strcmp(info.dli_fname, path) != 0))
    function = NULL;
  dlclose(object);
  return function;
}

static void look_for_our_own() {
  const char *const self = __kmp_hierbar_own_file();
  if (self == NULL)
    return;
  kmp_str_buf_t names;
  __kmp_str_buf_init(&names);
  dl_iterate_phdr(add_name, &names); // which holds the loader's lock: no dlopen() inside
  for (const char *path = names.str; path < names.str + names.used; path += strlen(path) + 1) {
    if (strcmp(path, self) == 0)
      continue;
    int (*const other)() = (int (*)())own_function(path, "kmp_hierbar_is_registered");
    if (other != NULL && other())
      be_second(KMP_LIBRARY_FILE, file_of(path));
  }
  __kmp_str_buf_free(&names);
}

// ---- hooks ----

bool __kmp_hierbar_register_library() {
#if KMP_ARCH_X86 || KMP_ARCH_X86_64
  static bool has_ticks = false; // a forked child's clock is the parent's
  if (!has_ticks)
    __kmp_hierbar_measure_ticks();
  has_ticks = true;
#endif
  look_for_registrations();
  look_for_our_own();
  is_registered = true;
  return true;
}

bool __kmp_hierbar_unregister_library() {
  is_registered = false;
  return true;
}

// libomp's own start is over when it has registered, so that this is somebody else's.
void __kmp_hierbar_meet_runtime(void *caller) {
  Dl_info info, self;
  if (!is_registered || dladdr(caller, &info) == 0 ||
      dladdr((void *)&look_for_our_own, &self) == 0 || info.dli_fbase == self.dli_fbase)
    return;
  if (own_function(info.dli_fname, "__kmpc_fork_call") !=
      NULL) // and no tool, which asks for the next one
    be_second(file_of(info.dli_fname), KMP_LIBRARY_FILE);
}

// ---- for `hierbar run` ----

// At the end of a process that `hierbar run` counts: says whether it has loaded another OpenMP
// runtime beside this one, so that a program without served barriers has a reason.
namespace {

// libgomp.so.1, libgomp-a34b3233.so.1.0.0 (as Python wheels have it), libomp.so.5, libiomp5.so
bool is_runtime_name(const char *name) {
  static const char *const stems[] = {"libgomp", "libomp", "libiomp5"};
  for (const char *stem : stems) {
    const size_t size = strlen(stem);
    if (strncmp(name, stem, size) == 0 && (name[size] == '.' || name[size] == '-') &&
        strstr(name, ".so") != NULL)
      return true;
  }
  return false;
}

int look_at(struct dl_phdr_info *file, size_t, void *own) {
  const char *slash = strrchr(file->dlpi_name, '/');
  if (slash == NULL || !is_runtime_name(slash + 1) ||
      file->dlpi_addr == *static_cast<ElfW(Addr) *>(own))
    return 0;
  char line[4096 + 32];
  const int size =
      snprintf(line, sizeof line, "%s %s\n", hierbar::kOtherRuntimeLine, file->dlpi_name);
  if (size > 0 && static_cast<size_t>(size) < sizeof line)
    hierbar::add_line_to_served_file(line, static_cast<size_t>(size));
  return 1;
}

// A destructor of the library and not of the runtime: it runs where the runtime was never used,
// too.
__attribute__((destructor)) void report_other_runtime() {
  if (hierbar::served_file() == NULL)
    return;
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&report_other_runtime), &info) == 0)
    return;
  ElfW(Addr) own = reinterpret_cast<ElfW(Addr)>(info.dli_fbase);
  dl_iterate_phdr(look_at, &own);
}

} // namespace
