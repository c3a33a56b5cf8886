// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// dlsym(), for programs that open their MPI library and take its functions by name
// (docs/design/mpi-calls.md#d0179). All other calls, and those in which a name is not asked of a
// file, are jumps to the next dlsym(): a tool's, or the C library's.
//
// 1. The next dlsym() must see the address from which the program calls, because RTLD_NEXT depends
//    on it. So the entry point is in assembler, and ends with that jump.
// 2. It is called before any constructor has run, by sanitizers and allocators that set themselves
//    up. So what every call passes is no call of the C library, has no memory of a thread, and is
//    compiled without sanitizers.

#include <dlfcn.h>
#include <link.h>

#include <atomic>

#include "base/arch/loader.hpp"
#include "mpi/entry/dlsym.hpp"
#include "mpi/library/mpi_symbols.hpp"

namespace hierbar::mpi {
namespace {

using Dlsym = void* (*)(void* handle, const char* symbol);

// Relaxed: every thread finds the same function, which nobody writes.
constinit std::atomic<Dlsym> next_dlsym{nullptr};

// By dlvsym(), because dlsym() is this one. A tool's function without a version is found as well.
Dlsym find_next_dlsym() noexcept {
  Dlsym next = next_dlsym.load(std::memory_order_relaxed);
  if (next != nullptr) return next;
  next = reinterpret_cast<Dlsym>(dlvsym(RTLD_NEXT, "dlsym", hierbar::kFirstGlibc));
  next_dlsym.store(next, std::memory_order_relaxed);
  return next;
}

// By hand: a sanitizer has its own strncmp(), which may not be called yet.
bool begins_with_mpi(const char* symbol) noexcept {
  if (*symbol == 'P') ++symbol;
  return symbol[0] == 'M' && symbol[1] == 'P' && symbol[2] == 'I';
}

// The handle of dlopen(nullptr), behind which all preloaded files are.
bool is_of_program(void* handle) noexcept {
  link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && *map->l_name == '\0';
}

// What the entry point does: it returns `answer`, or jumps to `next` if that is not null.
struct Decision {
  void* answer;
  Dlsym next;
};

}  // namespace
}  // namespace hierbar::mpi

using hierbar::mpi::Decision;
using hierbar::mpi::Dlsym;

bool hierbar::mpi::is_in_base_namespace(void* handle) {
  Lmid_t space = -1;
  return dlinfo(handle, RTLD_DI_LMID, &space) == 0 && space == LM_ID_BASE;
}

extern "C" [[gnu::visibility("hidden"), gnu::used]] Decision hierbar_mpi_decide(
    void* handle, const char* symbol, const void* caller) noexcept {
  const Dlsym next = hierbar::mpi::find_next_dlsym();
  if (handle == RTLD_NEXT || next == nullptr || !hierbar::mpi::begins_with_mpi(symbol))
    return {nullptr, next};
  void* const definition = next(handle, symbol);
  if (definition == nullptr) return {nullptr, next};
  const bool asks_all = handle == RTLD_DEFAULT || hierbar::mpi::is_of_program(handle);
  if (asks_all && hierbar::mpi::are_in_one_file(definition, &hierbar::mpi::next_dlsym) &&
      hierbar::mpi::is_only_here(symbol, caller)) {
    // It finds nothing either, so that dlerror() says so.
    return {next(RTLD_NEXT, symbol), nullptr};
  }
  if (handle == RTLD_DEFAULT) return {nullptr, next};
  void* const ours = hierbar::mpi::function_in_place_of(definition, handle, symbol, caller);
  if (ours == nullptr) return {nullptr, next};
  // What was asked for the answer has left an error of names that are not found, and programs look
  // at dlerror() rather than at the answer. What is found takes it away.
  next(handle, symbol);
  return {ours, nullptr};
}

#if defined(__x86_64__)
__asm__(R"(
  .text
  .p2align 4
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  movq 24(%rsp), %rdx
  call hierbar_mpi_decide
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  testq %rdx, %rdx
  jne 1f
  ret
1:
  jmp *%rdx
  .cfi_endproc
  .size dlsym, . - dlsym
)");
#elif defined(__aarch64__)
__asm__(R"(
  .text
  .p2align 4
  .globl dlsym
  .type dlsym, %function
dlsym:
  .cfi_startproc
  hint #34
  stp x29, x30, [sp, #-32]!
  .cfi_def_cfa_offset 32
  .cfi_offset 29, -32
  .cfi_offset 30, -24
  stp x0, x1, [sp, #16]
  mov x29, sp
  mov x2, x30
  bl hierbar_mpi_decide
  mov x9, x0
  mov x16, x1
  ldp x0, x1, [sp, #16]
  ldp x29, x30, [sp], #32
  .cfi_def_cfa_offset 0
  .cfi_restore 29
  .cfi_restore 30
  cbnz x16, 1f
  mov x0, x9
  ret
1:
  br x16
  .cfi_endproc
  .size dlsym, . - dlsym
)");
#else
#error "dlsym() has no entry point for this architecture"
#endif
