// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two OpenMP runtimes in one process find each other, whichever comes first, and no process leaves
// a file behind. The second argument is another runtime's libomp.so: LLVM's, unpatched.

// BUILD: clang -ldl

#include <dlfcn.h>
#include <omp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "tests/libomp/programs/check.hpp"

namespace {

std::string others_path;

void use_ours() {
  int num_threads = 0;
#pragma omp parallel num_threads(3) reduction(+ : num_threads)
  ++num_threads;
  CHECK_EQUAL(num_threads, 3);
}

void use(const std::string& path, int mode = RTLD_LOCAL) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | mode);
  if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  CHECK(library != nullptr);
  CHECK(reinterpret_cast<int (*)()>(dlsym(library, "omp_get_max_threads"))() > 0);
}

struct End {
  int status;
  std::string errors;  // what it wrote to stderr
  pid_t pid;
};

// In a process of its own, which no runtime has been used in.
template <class Body>
End in_a_process(Body&& body) {
  int ends[2];
  CHECK_EQUAL(pipe(ends), 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    body();
    _exit(7);
  }
  close(ends[1]);
  std::string errors;
  char text[4096];
  for (ssize_t length; (length = read(ends[0], text, sizeof text)) > 0;)
    errors.append(text, length);
  close(ends[0]);
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  std::fputs(errors.c_str(), stderr);
  return {status, errors, child};
}

template <class Body>
void expect_refusal(Body&& body) {
  const End end = in_a_process(body);
  CHECK(WIFSIGNALED(end.status));
  CHECK_EQUAL(WTERMSIG(end.status), SIGABRT);
  CHECK(end.errors.find(
            "Error #15: Initializing libomp.so, but found libomp.so already initialized") !=
        std::string::npos);
}

template <class Body>
End expect_end(Body&& body) {
  const End end = in_a_process(body);
  CHECK(WIFEXITED(end.status));
  CHECK_EQUAL(WEXITSTATUS(end.status), 7);
  return end;
}

// A copy of our library in a file of its own is another library.
std::string copy_of_ours() {
  Dl_info info;
  CHECK(dladdr(dlsym(RTLD_DEFAULT, "__kmpc_fork_call"), &info) != 0);
  const std::string directory = "/tmp/hierbar-other-runtimes-" + std::to_string(getpid());
  std::ifstream in(info.dli_fname, std::ios::binary);
  CHECK_EQUAL(mkdir(directory.c_str(), 0700), 0);
  std::ofstream(directory + "/libomp.so", std::ios::binary) << in.rdbuf();
  return directory + "/libomp.so";
}

void remove_copy(const std::string& path) {
  unlink(path.c_str());
  rmdir(path.substr(0, path.rfind('/')).c_str());
}

void ours_is_first() {
  expect_refusal([] { use_ours(), use(others_path); });
  expect_refusal([] { use_ours(), use(others_path, RTLD_GLOBAL); });
}

// Forks, and dies as the child does.
template <class Body>
void in_a_forked_child(Body&& body) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) body(), _exit(7);
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) raise(WTERMSIG(status));
  CHECK_EQUAL(WEXITSTATUS(status), 7);
}

// A child has those runtimes that it uses itself.
void forked_children() {
  expect_end([] { use_ours(), in_a_forked_child([] { use(others_path); }); });
  expect_refusal([] { use_ours(), in_a_forked_child([] { use(others_path), use_ours(); }); });
  expect_refusal([] { use_ours(), in_a_forked_child([] { use_ours(), use(others_path); }); });
}

void ours_is_second() {
  expect_refusal([] { use(others_path), use_ours(); });
}

void both_are_ours() {
  const std::string copy = copy_of_ours();
  expect_refusal([&] { use(copy), use_ours(); });
  expect_refusal([&] { use_ours(), use(copy); });
  remove_copy(copy);
}

void allowed() {
  setenv("KMP_DUPLICATE_LIB_OK", "TRUE", 1);
  expect_end([] { use_ours(), use(others_path), use_ours(); });
  expect_end([] { use(others_path), use_ours(); });
}

std::string registration(const char* directory, pid_t pid) {
  return std::string(directory) + "/__KMP_REGISTERED_LIB_" + std::to_string(pid) + "_" +
         std::to_string(getuid());
}

void no_file_is_left() {
  use_ours();
  for (int child = 0; child < 5; ++child) {
    const End end = expect_end([] { use_ours(); });
    for (const char* directory : {"/dev/shm", "/tmp"}) {
      CHECK(access(registration(directory, end.pid).c_str(), F_OK) != 0);
      CHECK(access(registration(directory, getpid()).c_str(), F_OK) != 0);
    }
  }
}

// Where /dev/shm is full, writing to a new page of it is a signal; so is this.
void no_file_can_be_written() {
  expect_end([] {
    const rlimit none = {0, 0};
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &none), 0);
    use_ours();
  });
}

void write_registration(const char* text) {
  std::ofstream(registration("/dev/shm", getpid())) << text;
  CHECK_EQUAL(access(registration("/dev/shm", getpid()).c_str(), F_OK), 0);
}

// A program that LLVM's runtime was at work in has executed this one: same process, other memory.
void file_of_a_former_program() {
  const End end = expect_end([] {
    write_registration("0x1238-cafe1234-libomp.so");
    use_ours();
    CHECK(access(registration("/dev/shm", getpid()).c_str(), F_OK) != 0);
  });
  CHECK(end.errors.empty());
}

void file_of_somebody_elses() {
  const End end = expect_end([] {
    write_registration("who is this?");
    use_ours();
    unlink(registration("/dev/shm", getpid()).c_str());
  });
  CHECK(end.errors.find("Warning: hierbar: /dev/shm/__KMP_REGISTERED_LIB_") != std::string::npos);
  CHECK_EQUAL(end.errors.find('\n') + 1, end.errors.size());
}

}  // namespace

int main(int argc, char** argv) {
  omp_test::Case cases[] = {{"ours_is_first", ours_is_first},
                            {"forked_children", forked_children},
                            {"ours_is_second", ours_is_second},
                            {"both_are_ours", both_are_ours},
                            {"allowed", allowed},
                            {"no_file_is_left", no_file_is_left},
                            {"no_file_can_be_written", no_file_can_be_written},
                            {"file_of_a_former_program", file_of_a_former_program},
                            {"file_of_somebody_elses", file_of_somebody_elses}};
  CHECK_EQUAL(argc, 3);
  others_path = argv[2];
  for (const omp_test::Case& one : cases) {
    if (std::strcmp(argv[1], one.name) == 0) return one.run(), 0;
  }
  return 2;
}
