// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The entry points of all shims' functions. Each is one jump, which leaves arguments, whatever the
// family's types are, and the return address as they are: the shim asks for its caller. CMake makes
// entry_names.inc from ../exports.map, so there is no second list.

#include "mpi/front/entries.hpp"

#include <cstring>

#include "mpi/library/mpi_symbols.hpp"

// HIERBAR_ENTRY_NAME(name): the entry point; what its target is at first (6:); its Entry (5:).
#if defined(__x86_64__)
#define HIERBAR_JUMPS       \
  "  endbr64\n"             \
  "  jmp *5f(%rip)\n"       \
  "6:\n"                    \
  "  endbr64\n"             \
  "  leaq 5f(%rip), %r11\n" \
  "  jmp hierbar_mpi_first_call\n"
#else
// (T2) load-acquire; pairs with (T1): what a shim's function reads was written by dlopen().
#define HIERBAR_JUMPS          \
  "  hint #34\n"               \
  "  adrp x16, 5f\n"           \
  "  add x16, x16, :lo12:5f\n" \
  "  ldar x16, [x16]\n"        \
  "  br x16\n"                 \
  "6:\n"                       \
  "  hint #34\n"               \
  "  adrp x17, 5f\n"           \
  "  add x17, x17, :lo12:5f\n" \
  "  b hierbar_mpi_first_call\n"
#endif
#define HIERBAR_ENTRY_NAME(name)           \
  "  .text\n"                              \
  "  .p2align 4\n"                         \
  "  .globl " #name                        \
  "\n"                                     \
  "  .type " #name ", %function\n" #name   \
  ":\n"                                    \
  "  .cfi_startproc\n" HIERBAR_JUMPS       \
  "  .cfi_endproc\n"                       \
  "  .size " #name ", . - " #name          \
  "\n"                                     \
  "  .section .data.rel.hierbar, \"aw\"\n" \
  "5:\n"                                   \
  "  .quad 6b, 7f\n"                       \
  "  .section .rodata.hierbar, \"a\"\n"    \
  "7:\n"                                   \
  "  .asciz \"" #name "\"\n"

__asm__(
    "  .section .data.rel.hierbar, \"aw\"\n"
    "  .p2align 3\n"
    "  .globl hierbar_mpi_entries\n"
    "  .hidden hierbar_mpi_entries\n"
    "hierbar_mpi_entries:\n"
#include <entry_names.inc>
    "  .section .data.rel.hierbar, \"aw\"\n"
    "  .globl hierbar_mpi_entries_end\n"
    "  .hidden hierbar_mpi_entries_end\n"
    "hierbar_mpi_entries_end:\n"
    "  .text\n");

// All registers that may hold arguments are kept; find_target() finds the function.
__asm__(R"(
  .text
  .p2align 4
  .type hierbar_mpi_first_call, %function
hierbar_mpi_first_call:
  .cfi_startproc
)"
#if defined(__x86_64__)
        R"(
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbp, 0
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $192, %rsp
  movaps %xmm0, (%rsp)
  movaps %xmm1, 16(%rsp)
  movaps %xmm2, 32(%rsp)
  movaps %xmm3, 48(%rsp)
  movaps %xmm4, 64(%rsp)
  movaps %xmm5, 80(%rsp)
  movaps %xmm6, 96(%rsp)
  movaps %xmm7, 112(%rsp)
  movq %rdi, 128(%rsp)
  movq %rsi, 136(%rsp)
  movq %rdx, 144(%rsp)
  movq %rcx, 152(%rsp)
  movq %r8, 160(%rsp)
  movq %r9, 168(%rsp)
  movq %rax, 176(%rsp)
  movq %r10, 184(%rsp)
  movq %r11, %rdi
  movq 8(%rbp), %rsi
  call hierbar_mpi_find_target
  movq %rax, %r11
  movaps (%rsp), %xmm0
  movaps 16(%rsp), %xmm1
  movaps 32(%rsp), %xmm2
  movaps 48(%rsp), %xmm3
  movaps 64(%rsp), %xmm4
  movaps 80(%rsp), %xmm5
  movaps 96(%rsp), %xmm6
  movaps 112(%rsp), %xmm7
  movq 128(%rsp), %rdi
  movq 136(%rsp), %rsi
  movq 144(%rsp), %rdx
  movq 152(%rsp), %rcx
  movq 160(%rsp), %r8
  movq 168(%rsp), %r9
  movq 176(%rsp), %rax
  movq 184(%rsp), %r10
  leave
  .cfi_def_cfa %rsp, 8
  .cfi_restore %rbp
  jmp *%r11
)"
#else
        R"(
  hint #34
  stp x29, x30, [sp, #-224]!
  .cfi_def_cfa_offset 224
  .cfi_offset 29, -224
  .cfi_offset 30, -216
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov x0, x17
  mov x1, x30
  bl hierbar_mpi_find_target
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
  .cfi_def_cfa_offset 0
  .cfi_restore 29
  .cfi_restore 30
  br x16
)"
#endif
        R"(
  .cfi_endproc
  .size hierbar_mpi_first_call, . - hierbar_mpi_first_call
)");

extern "C" {
extern hierbar::mpi::Entry hierbar_mpi_entries[];
extern hierbar::mpi::Entry hierbar_mpi_entries_end[];

[[gnu::visibility("hidden"), gnu::used]] void* hierbar_mpi_find_target(
    hierbar::mpi::Entry* entry, const void* caller) noexcept {
  void* const target = hierbar::mpi::find_target(*entry, caller);
  entry->target.store(target, std::memory_order_release);  // (T1)
  return target;
}
}

namespace hierbar::mpi {

const Entry* find_entry(const char* name) {
  for (const Entry* entry = hierbar_mpi_entries; entry != hierbar_mpi_entries_end; ++entry) {
    if (std::strcmp(entry->name, name) == 0) return entry;
  }
  return nullptr;
}

}  // namespace hierbar::mpi
