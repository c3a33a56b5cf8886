// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_FP_CONTROL_H
#define KMP_HIERBAR_FP_CONTROL_H

// The floating-point control words (rounding, precision, what traps) that a region hands from its
// primary to its workers, as propagateFPControl() and updateHWFPControl() of libomp do.

#include "kmp.h"

#if KMP_ARCH_X86 || KMP_ARCH_X86_64

struct kmp_hierbar_fp_control_t {
  bool is_inherited; // KMP_INHERIT_FP_CONTROL
  kmp_int16 x87;
  kmp_uint32 mxcsr;

  void read_registers() {
    __kmp_store_x87_fpu_control_word(&x87);
    __kmp_store_mxcsr(&mxcsr);
    mxcsr &= KMP_X86_MXCSR_MASK;
  }
  // What the primary's fork has put into the team.
  void keep(const kmp_team_t *team) {
    is_inherited = __kmp_inherit_fp_control && team->t.t_fp_control_saved;
    x87 = team->t.t_x87_fpu_control_word;
    mxcsr = team->t.t_mxcsr;
  }
  // From here on restore() does nothing.
  void forget() { is_inherited = false; }
  // Not zero if the registers hold something else.
  kmp_uint64 differ() const {
    if (!is_inherited)
      return 0;
    kmp_hierbar_fp_control_t now;
    now.read_registers();
    return (kmp_uint16)(now.x87 ^ x87) | (now.mxcsr ^ mxcsr);
  }
  void restore() {
    if (differ() == 0)
      return;
    __kmp_clear_x87_fpu_status_word();
    __kmp_load_x87_fpu_control_word(&x87);
    __kmp_load_mxcsr(&mxcsr);
  }
};

#else

struct kmp_hierbar_fp_control_t { // libomp leaves the registers of other processors alone
  void keep(const kmp_team_t *) {}
  void forget() {}
  kmp_uint64 differ() const { return 0; }
  void restore() {}
};

#endif

#endif // KMP_HIERBAR_FP_CONTROL_H
