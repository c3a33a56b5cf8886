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
#else
inline constexpr const char* kMultiarch = "";
inline constexpr const char* kPlatform = "";
inline constexpr const char* kLibraryKind = "(libc6)";
inline constexpr std::int32_t kLibraryFlags = 0x0003;  // FLAG_ELF_LIBC6
// kFirstGlibc is missing: what needs it does not compile.
#endif

}  // namespace hierbar
