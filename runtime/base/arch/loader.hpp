// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

// By which names the loader of the C library (glibc) knows this architecture.

namespace hierbar {

#if defined(__x86_64__)
inline constexpr const char* kMultiarch = "x86_64-linux-gnu";  // Debian's directory of libraries
inline constexpr const char* kPlatform = "x86_64";             // $PLATFORM in a path
inline constexpr const char* kLibraryKind = "(libc6,x86-64)";  // in the list of `ldconfig -p`
inline constexpr std::int32_t kLibraryFlags = 0x0303;          // FLAG_X8664_LIB64, FLAG_ELF_LIBC6
inline constexpr const char* kFirstGlibc = "GLIBC_2.2.5";      // the version of its oldest symbols
#elif defined(__aarch64__)
inline constexpr const char* kMultiarch = "aarch64-linux-gnu";
inline constexpr const char* kPlatform = "aarch64";
inline constexpr const char* kLibraryKind = "(libc6,AArch64)";
inline constexpr std::int32_t kLibraryFlags = 0x0a03;  // FLAG_AARCH64_LIB64, FLAG_ELF_LIBC6
inline constexpr const char* kFirstGlibc = "GLIBC_2.17";
// $PLATFORM is the name of the processor's model on the following, so it is not known here.
#elif defined(__riscv) && __riscv_xlen == 64 && defined(__riscv_float_abi_double)
inline constexpr const char* kMultiarch = "riscv64-linux-gnu";
inline constexpr const char* kPlatform = "";
inline constexpr const char* kLibraryKind = "(libc6,double-float)";
inline constexpr std::int32_t kLibraryFlags =
    0x1003;  // FLAG_RISCV_FLOAT_ABI_DOUBLE, FLAG_ELF_LIBC6
inline constexpr const char* kFirstGlibc = "GLIBC_2.27";
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
inline constexpr const char* kMultiarch = "powerpc64le-linux-gnu";
inline constexpr const char* kPlatform = "";
inline constexpr const char* kLibraryKind = "(libc6,64bit)";
inline constexpr std::int32_t kLibraryFlags = 0x0503;  // FLAG_POWERPC_LIB64, FLAG_ELF_LIBC6
inline constexpr const char* kFirstGlibc = "GLIBC_2.17";
#elif defined(__s390x__)
inline constexpr const char* kMultiarch = "s390x-linux-gnu";
inline constexpr const char* kPlatform = "";
inline constexpr const char* kLibraryKind = "(libc6,64bit)";
inline constexpr std::int32_t kLibraryFlags = 0x0403;  // FLAG_S390_LIB64, FLAG_ELF_LIBC6
inline constexpr const char* kFirstGlibc = "GLIBC_2.2";
#elif defined(__arm__) && defined(__ARM_PCS_VFP)
inline constexpr const char* kMultiarch = "arm-linux-gnueabihf";
inline constexpr const char* kPlatform = "";
inline constexpr const char* kLibraryKind = "(libc6,hard-float)";
inline constexpr std::int32_t kLibraryFlags = 0x0903;  // FLAG_ARM_LIBHF, FLAG_ELF_LIBC6
inline constexpr const char* kFirstGlibc = "GLIBC_2.4";
#else
inline constexpr const char* kMultiarch = "";
inline constexpr const char* kPlatform = "";
inline constexpr const char* kLibraryKind = "(libc6)";
inline constexpr std::int32_t kLibraryFlags = 0x0003;  // FLAG_ELF_LIBC6
// kFirstGlibc is missing: what needs it does not compile.
#endif

}  // namespace hierbar
