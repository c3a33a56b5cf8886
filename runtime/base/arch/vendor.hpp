// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace hierbar {

// Who made this processor, where the best way depends on it. On a virtual machine asking takes
// about a microsecond.
enum class CpuVendor { kAmd, kIntel, kOther };

inline CpuVendor cpu_vendor() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  unsigned int highest, begin, end, middle;
  if (__get_cpuid(0, &highest, &begin, &end, &middle) == 0) return CpuVendor::kOther;
  if (begin == signature_AMD_ebx) return CpuVendor::kAmd;
  if (begin == signature_INTEL_ebx) return CpuVendor::kIntel;
#endif
  return CpuVendor::kOther;
}

}  // namespace hierbar
