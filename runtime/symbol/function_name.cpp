// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symbol/function_name.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace hierbar {
namespace {

// GCC's; Clang's; Clang's before 17, which had no name before it.
constexpr std::string_view kMarks[] = {"._omp_fn.", ".omp_outlined", "._omp_outlined"};

std::size_t find_mark(std::string_view name) {
  for (const std::string_view mark : kMarks)
    if (const std::size_t at = name.find(mark); at != std::string_view::npos) return at;
  return std::string_view::npos;
}

// gfortran's procedure of a module: "__solver_MOD_step".
std::string fortran_name(const std::string& name) {
  const std::size_t at = name.find("_MOD_");
  if (name.rfind("__", 0) != 0 || at == std::string::npos || at <= 2) return name;
  return name.substr(2, at - 2) + "::" + name.substr(at + 5);
}

// "(int) const" at the end.
void cut_parameters(std::string& text) {
  const std::size_t close = text.rfind(')');
  if (close == std::string::npos || text.find_first_not_of(" &constvlaie", close + 1) != std::string::npos) return;
  std::size_t open = close;
  for (int depth = 1; depth > 0 && open > 0;) {
    --open;
    depth += text[open] == ')' ? 1 : text[open] == '(' ? -1 : 0;
  }
  if (open != 0) text.erase(open);
}

// "void " at the begin, which a name has if its function is a template's.
void cut_result(std::string& text) {
  int depth = 0;
  for (std::size_t at = text.size(); at > 0; --at) {
    const char c = text[at - 1];
    depth += c == '>' || c == ')' || c == '}' ? 1 : c == '<' || c == '(' || c == '{' ? -1 : 0;
    if (c != ' ' || depth != 0) continue;
    text.erase(0, at);
    return;
  }
}

// Arguments of templates that are longer than what is shown, "<...>".
void cut_arguments(std::string& text) {
  constexpr std::size_t kLongest = 30;
  std::size_t open = 0;
  for (std::size_t at = 0, depth = 0; at < text.size(); ++at) {
    if (text[at] == '<' && depth++ == 0) open = at;
    if (text[at] != '>' || depth == 0 || --depth > 0 || at - open <= kLongest) continue;
    text.replace(open + 1, at - open - 1, "...");
    at = open + 4;
  }
}

}  // namespace

std::string demangle(const std::string& name) {
  if (name.rfind("_Z", 0) != 0) return fortran_name(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                             &std::free);
  return status == 0 ? readable.get() : name;
}

std::string source_function(const std::string& name) { return demangle(name.substr(0, find_mark(name))); }

std::string short_name(const std::string& name) {
  std::string text = name;
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = text.find(kUnnamed)) != std::string::npos;) text.erase(at, kUnnamed.size());
  cut_parameters(text);
  if (text.find("operator") != std::string::npos) return text;  // "operator<" opens nothing
  cut_result(text);
  cut_arguments(text);
  return text;
}

std::string symbol_name(const std::string& name) {
  const std::size_t dot = name.find('.', 1);
  return short_name(demangle(name.substr(0, dot))) + (dot == std::string::npos ? "" : name.substr(dot));
}

bool is_outlined(const std::string& name) { return find_mark(name) != std::string_view::npos; }

}  // namespace hierbar
