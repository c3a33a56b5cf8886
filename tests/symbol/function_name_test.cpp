// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symbol/code_place.hpp"

#include <gtest/gtest.h>

namespace hierbar {
namespace {

TEST(FunctionName, ReadsWhatCompilersMangle) {
  EXPECT_EQ(demangle("_ZN5model4stepEi"), "model::step(int)");
  EXPECT_EQ(demangle("__solver_MOD_step"), "solver::step");
  EXPECT_EQ(demangle("step_"), "step_");
  EXPECT_EQ(demangle("__MOD_"), "__MOD_");
  EXPECT_EQ(demangle("_Znonsense!"), "_Znonsense!");
}

TEST(FunctionName, OfARegionIsThatOfItsFunction) {
  EXPECT_EQ(source_function("step._omp_fn.12"), "step");                         // GCC
  EXPECT_EQ(source_function("_ZN5model4stepEi._omp_fn.0"), "model::step(int)");  // GCC, C++
  EXPECT_EQ(source_function("__solver_MOD_step._omp_fn.0"), "solver::step");     // gfortran
  EXPECT_EQ(source_function("step.omp_outlined_debug__"), "step");               // Clang 19 with -g
  EXPECT_EQ(source_function("_ZN5model4stepEi.omp_outlined.3"), "model::step(int)");  // Clang 19
  EXPECT_EQ(source_function(".omp_outlined._debug__"), "");  // Clang 16 says no name
  EXPECT_EQ(source_function("step"), "step");
}

TEST(FunctionName, IsShortForPeople) {
  EXPECT_EQ(short_name("step"), "step");
  EXPECT_EQ(short_name("model::step(int)"), "model::step");
  EXPECT_EQ(short_name("(anonymous namespace)::model::step(std::vector<int, std::allocator<int> > "
                       "const&) const"),
            "model::step");
  EXPECT_EQ(short_name("void model::step<int, (char)3>(int (*)(int))"),
            "model::step<int, (char)3>");
  EXPECT_EQ(short_name("std::vector<int, float> make<a b>(int)"), "make<a b>");
  EXPECT_EQ(short_name("run()::{lambda(int)#1}::operator()(int) const"),
            "run()::{lambda(int)#1}::operator()");
  EXPECT_EQ(short_name("run(int)::inner"), "run(int)::inner");
  EXPECT_EQ(short_name("()"), "()");
  EXPECT_EQ(short_name("call<main()::<lambda(int)> >"), "call<main()::<lambda(int)> >")
      << "as GCC names it in debug information";
  EXPECT_EQ(short_name("Solver<std::vector<double, std::allocator<double> > >::step<int>(int)"),
            "Solver<...>::step<int>");
  EXPECT_EQ(short_name("a::operator<(std::vector<double, std::allocator<double> > const&)"),
            "a::operator<");
}

TEST(FunctionName, OfASymbolKeepsWhatMakesItUnique) {
  EXPECT_EQ(symbol_name("_ZN5model4stepEi.omp_outlined"), "model::step.omp_outlined");
  EXPECT_EQ(symbol_name("__solver_MOD_step._omp_fn.1"), "solver::step._omp_fn.1");
  EXPECT_EQ(symbol_name(".omp_outlined..1"), ".omp_outlined..1");
  EXPECT_EQ(symbol_name("_Z4stepi"), "step");
}

TEST(FunctionName, TellsRegionsFromOtherFunctions) {
  EXPECT_TRUE(is_outlined("step._omp_fn.0"));
  EXPECT_TRUE(is_outlined(".omp_outlined..1"));
  EXPECT_FALSE(is_outlined("step"));
  EXPECT_FALSE(is_outlined("omp_fn"));
}

}  // namespace
}  // namespace hierbar
