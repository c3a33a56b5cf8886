// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>

#include <string>

#include "cli/compare/output_comparison.hpp"
#include "cli/compare/own_figure.hpp"

namespace hierbar {
namespace {

using Kind = OutputDifference::Kind;

OutputDifference compared(std::initializer_list<const char*> as_it_is,
                          std::initializer_list<const char*> other) {
  OutputComparison comparison;
  for (const char* output : as_it_is) comparison.add_as_it_is(output);
  for (const char* output : other) comparison.add_other(output);
  return comparison.result();
}

TEST(OutputComparison, FindsNothingInEqualOutputs) {
  EXPECT_EQ(compared({"a\nb\n", "a\nb\n"}, {"a\nb\n", "a\nb\n"}).kind, Kind::kNone);
  EXPECT_EQ(compared({""}, {""}).kind, Kind::kNone);
}

TEST(OutputComparison, NamesTheFirstLineThatDiffers) {
  const OutputDifference difference = compared({"a\nb\nc\n"}, {"a\nb\nc\n", "a\nx\ny\n"});
  EXPECT_EQ(difference.kind, Kind::kLines);
  EXPECT_EQ(difference.num_lines, 2U);
  EXPECT_EQ(difference.first_line, 2U);
  EXPECT_EQ(difference.as_it_is, "b");
  EXPECT_EQ(difference.other, "x");
}

TEST(OutputComparison, LeavesOutLinesInWhichTheProgramItselfVaries) {
  EXPECT_EQ(compared({"pid 7\nok\n", "pid 8\nok\n"}, {"pid 9\nok\n"}).kind, Kind::kNone);
  const OutputDifference difference = compared({"pid 7\nok\n", "pid 8\nok\n"}, {"pid 9\nfailed\n"});
  EXPECT_EQ(difference.kind, Kind::kLines);
  EXPECT_EQ(difference.first_line, 2U);
  EXPECT_EQ(difference.num_compared, 1U);
}

TEST(OutputComparison, LearnsAlsoAfterTheOtherWayWhatVaries) {
  OutputComparison comparison;
  comparison.add_as_it_is("pid 7\n");
  comparison.add_other("pid 8\n");
  EXPECT_EQ(comparison.result().kind, Kind::kNumbers);
  comparison.add_as_it_is("pid 9\n");
  EXPECT_EQ(comparison.result().kind, Kind::kNone);
}

TEST(OutputComparison, SaysByHowMuchNumbersDiffer) {
  const OutputDifference difference =
      compared({"residual 1.0000e-08\nsum 4.0\n"}, {"residual 1.0001e-08\nsum 4.0\n"});
  EXPECT_EQ(difference.kind, Kind::kNumbers);
  EXPECT_NEAR(difference.largest, 1e-4, 1e-7);
  EXPECT_EQ(compared({"sum 1\nok\n"}, {"sum 2\nbad\n"}).kind, Kind::kLines);
}

TEST(OutputComparison, TellsTheSameLinesInAnotherOrder) {
  EXPECT_EQ(compared({"a\nb\n"}, {"b\na\n"}).kind, Kind::kOrder);
  EXPECT_EQ(compared({"a\nb\nc\n", "b\na\nc\n"}, {"c\na\nb\n"}).kind, Kind::kNone);
}

TEST(OutputComparison, TellsAnotherNumberOfLines) {
  const OutputDifference difference = compared({"a\nb\n"}, {"a\n"});
  EXPECT_EQ(difference.kind, Kind::kNumLines);
  EXPECT_EQ(difference.num_lines, 1U);
  EXPECT_EQ(difference.num_compared, 2U);
  EXPECT_EQ(compared({"a\nb\n", "a\n"}, {"x\n"}).kind, Kind::kNotCompared);
}

TEST(OutputComparison, LeavesOutIgnoredLines) {
  OutputComparison comparison([](const std::string& line) { return line.starts_with("time"); });
  comparison.add_as_it_is("time 1\nok\n");
  comparison.add_other("time 2\nok\n");
  EXPECT_EQ(comparison.result().kind, Kind::kNone);
  comparison.add_other("no time\nok\n");
  EXPECT_EQ(comparison.result().kind, Kind::kLines);
}

TEST(NumbersApart, ComparesNumbersAndTheTextBetween) {
  EXPECT_EQ(numbers_apart("a 1 b 2.0", "a 1 b 2.0"), 0);
  EXPECT_EQ(numbers_apart("1", "1.0"), 0);
  EXPECT_EQ(numbers_apart("x=1e3;", "x=2e3;"), 0.5);
  EXPECT_EQ(numbers_apart(".5", ".25"), 0.5);
  EXPECT_EQ(numbers_apart("a 1", "b 1"), std::nullopt);
  EXPECT_EQ(numbers_apart("1", "1 "), std::nullopt);
  EXPECT_EQ(numbers_apart("-1", "1"), std::nullopt);
  EXPECT_EQ(numbers_apart("", ""), 0);
  EXPECT_EQ(numbers_apart("1e999", "1"), std::nullopt) << "no number that can be kept";
}

double figure_in(const char* expression, const char* output) {
  const Result<OwnFigure> figure = OwnFigure::parse(expression);
  if (!figure) return -1;
  const Result<double> number = figure->read(output);
  return number ? *number : -2;
}

TEST(OwnFigure, LastMatchCounts) {
  EXPECT_EQ(figure_in("Time: ([0-9.]+) s", "Time: 1 s\nTime: 2.5 s\nend\n"), 2.5);
  EXPECT_EQ(figure_in("t=([^ ]+)", "t=1 t=2 t=3e-2"), 0.03);
}

TEST(OwnFigure, ExpressionHasOneGroup) {
  EXPECT_EQ(OwnFigure::parse("Time").error(), "it has 0 groups in parentheses");
  EXPECT_EQ(OwnFigure::parse("(a)(b)").error(), "it has 2 groups in parentheses");
  EXPECT_TRUE(OwnFigure::parse("(?:a|b)(c)").ok());
  EXPECT_EQ(OwnFigure::parse("(a").error(), "no regular expression");
}

TEST(OwnFigure, OnlyNumbersAboveZeroHaveARatio) {
  for (const char* output : {"t=0", "t=-1", "t=nan", "t=inf", "t=x", "t=1s", "t="})
    EXPECT_EQ(figure_in("t=(.*)", output), -2) << output;
  EXPECT_EQ(figure_in("t=(.*)", "u=1"), -2);
}

TEST(OwnFigure, PassesOverLinesThatAreVeryLong) {
  const std::string output = std::string(1U << 20, 'x') + "\nt=4\n";
  EXPECT_EQ(figure_in("x*t=([0-9]+)", output.c_str()), 4);
}

}  // namespace
}  // namespace hierbar
