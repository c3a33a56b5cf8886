// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace hierbar::report {

// Reads a whole number from a file that anybody may have written. The JSON library's own
// conversions truncate numbers that do not fit, and for a fraction that is too large the result is
// undefined. Throws std::runtime_error with the value and the allowed range.
template <std::integral Number, class Json>
Number whole_number(const Json& value, Number least = std::numeric_limits<Number>::min(),
                    Number most = std::numeric_limits<Number>::max()) {
  const auto fits = [&](auto number) {
    return std::cmp_greater_equal(number, least) && std::cmp_less_equal(number, most);
  };
  if (value.is_number_unsigned()) {
    if (const auto number = value.template get<std::uint64_t>(); fits(number))
      return static_cast<Number>(number);
  } else if (value.is_number_integer()) {
    if (const auto number = value.template get<std::int64_t>(); fits(number))
      return static_cast<Number>(number);
  }
  constexpr std::size_t kMostText = 40;
  throw std::runtime_error("'" + value.dump(-1, ' ', /*ensure_ascii=*/true).substr(0, kMostText) +
                           "' is not a whole number from " + std::to_string(least) + " to " +
                           std::to_string(most));
}

// The same for an array.
template <std::integral Number, class Json>
std::vector<Number> whole_numbers(const Json& values) {
  std::vector<Number> numbers;
  for (const Json& value : values) numbers.push_back(whole_number<Number>(value));
  return numbers;
}

}  // namespace hierbar::report
