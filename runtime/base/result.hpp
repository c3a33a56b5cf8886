// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace hierbar {

// Why something could not be done: one line for people, without a full stop at the end.
struct Error {
  std::string text;
};

// A value, or the reason why there is none. For set-up code; the barrier itself cannot fail.
//
//   Result<CpuSet> cpus = CpuSet::parse(list);
//   if (!cpus.ok()) return Error{"--cpus: " + cpus.error()};
//   use(*cpus);
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires ok().
  T& value() & { return assert(ok()), *std::get_if<0>(&state_); }
  const T& value() const& { return assert(ok()), *std::get_if<0>(&state_); }
  T&& value() && { return assert(ok()), std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Requires !ok().
  const std::string& error() const { return assert(!ok()), std::get_if<1>(&state_)->text; }

 private:
  std::variant<T, Error> state_;
};

}  // namespace hierbar
