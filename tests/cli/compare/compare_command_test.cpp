// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/installed_hierbar.hpp"
#include "tests/cli/run_hierbar.hpp"

namespace hierbar {
namespace {

using test::CommandResult;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

// Programs are scripts that print a figure of their own and write themselves what hierbar's
// libraries would count, so no answer depends on a clock.
class CompareCommand : public test::InstalledHierbar {
 protected:
  void SetUp() override {
    InstalledHierbar::SetUp();
    // app PLAIN OURS: prints the figures of one way or the other.
    make_tool("app",
              "figure=$1\n"
              "if [ \"$KMP_BARRIER\" = hier ]; then figure=$2; "
              "echo 'openmp 2000 0' >>\"$HIERBAR_SERVED_FILE\"; fi\n"
              "echo started\n"
              "echo \"time $figure\"\n");
    // under COMMAND: runs the command under hierbar only.
    make_tool("under",
              "if [ \"$KMP_BARRIER\" = hier ]; then "
              "echo 'openmp 2000 0' >>\"$HIERBAR_SERVED_FILE\"; eval \"$1\"; fi\n");
    make_tool("log", "echo \"${KMP_BARRIER:-plain}\" >>\"$1\"; exec app 1 1");
  }

  CommandResult compare(const std::string& arguments, const std::string& variables = "") {
    return run_installed("compare " + arguments, variables);
  }
  CommandResult compare_figures(const std::string& options, const std::string& figures) {
    return compare("--time 'time ([0-9.]+)' " + options + " -- app " + figures);
  }
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST_F(CompareCommand, AnswersInOneLine) {
  const CommandResult result = compare_figures("--runs 9", "10 8.6");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(first_line(result.output),
            "hierbar compare: faster, 0.86 of its time (0.86 to 0.86, 9 pairs), 2,000 barriers "
            "served");
}

TEST_F(CompareCommand, SaysWhetherItIsFasterOrSlower) {
  EXPECT_THAT(compare_figures("--runs 6", "1 1.25").output,
              HasSubstr("slower, 1.25 of its time (1.25 to 1.25, 6 pairs)"));
  EXPECT_THAT(compare_figures("--runs 6", "1 1.004").output,
              HasSubstr("no difference beyond the noise, 1.00 of its time"));
  EXPECT_THAT(compare_figures("--rate --runs 6", "1 1.25").output,
              HasSubstr("faster, 1.25 of its rate"));
  EXPECT_THAT(compare_figures("--runs 1", "1 2").output,
              HasSubstr("compare: 2.00 of its time (1 pair)"));
}

TEST_F(CompareCommand, SaysWhatFewPairsAreWorth) {
  EXPECT_THAT(compare_figures("--runs 3", "1 2").output,
              HasSubstr("3 pairs give a range of 75 % only; --runs 6 gives one of 95 %"));
  EXPECT_THAT(compare_figures("--runs 6", "1 2").output, Not(HasSubstr("only")));
}

TEST_F(CompareCommand, RunsBothWaysInTurnsAfterAWarmUp) {
  const std::string file = tools() + "/order";
  EXPECT_EQ(compare("--runs 3 --ignore-output -- log " + file).exit_code, 0);
  std::ifstream lines(file);
  const std::string order((std::istreambuf_iterator<char>(lines)), {});
  EXPECT_EQ(order, "plain\nhier\nplain\nhier\nhier\nplain\nplain\nhier\n");
}

TEST_F(CompareCommand, ShowsProgressOnStderrUnlessQuiet) {
  const CommandResult result = compare_figures("--runs 2", "1 1");
  EXPECT_THAT(result.errors, MatchesRegex("hierbar compare: warm-up\n"
                                          "hierbar compare: round 1 of 2, [0-9]+ s left\n"
                                          "hierbar compare: round 2 of 2, [0-9]+ s left\n"));
  EXPECT_EQ(compare_figures("--runs 2 --quiet", "1 1").errors, "");
}

TEST_F(CompareCommand, NamesWhyNothingWasServed) {
  const CommandResult result = compare("-- true");
  EXPECT_EQ(result.output, "hierbar compare: not active: no OpenMP and no MPI in the program\n");
  EXPECT_EQ(result.exit_code, 3);
  const CommandResult team = compare("-- sh -c 'echo openmp 0 0 >>$HIERBAR_SERVED_FILE'");
  EXPECT_THAT(
      team.output,
      StartsWith("hierbar compare: not active: teams of one thread, which need no barrier"));
}

TEST_F(CompareCommand, TellsDifferencesOfTheOutput) {
  const CommandResult result = compare("--runs 2 -- app ok failed");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("the output differs in 1 line; line 2: 'time ok' as it is, "
                                       "'time failed' with hierbar\n"));
  EXPECT_EQ(compare("--runs 2 --ignore-output -- app ok failed").exit_code, 0);
  const CommandResult numbers = compare("--runs 2 -- app 1.000 1.001");
  EXPECT_EQ(numbers.exit_code, 1);
  EXPECT_THAT(numbers.output, HasSubstr("differs in numbers, by 1.0e-03 of their value at most"));
}

TEST_F(CompareCommand, ComparesOnlyTheLinesOfTheResultIfTheseAreNamed) {
  EXPECT_EQ(
      compare("--runs 2 --result '^other|^result' -- sh -c 'app ok failed; echo result'").exit_code,
      0);
  const CommandResult result = compare("--runs 2 --result '^time' -- sh -c 'echo; app ok failed'");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("line 1: 'time ok' as it is, 'time failed' with hierbar\n"));
  const CommandResult none = compare("--runs 2 --result '^none' -- app ok ok");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.errors, HasSubstr("no line of the program's output matches '^none'"));
  EXPECT_THAT(compare("--result '(' -- app ok ok").errors,
              HasSubstr("--result: '(': no regular expression; allowed: a regular expression"));
  EXPECT_EQ(compare("--result a --ignore-output -- app ok ok").exit_code, 2);
}

TEST_F(CompareCommand, ShortensLongLinesAndLeavesOutWhatATerminalObeys) {
  make_tool("long", "app 1 1; printf '\\033[31m'; under 'printf x'; seq 1000 | tr '\\n' ' '; echo");
  EXPECT_THAT(compare("--runs 2 -- long").output,
              AllOf(HasSubstr("line 3: '?[31m1 2 3 "), HasSubstr(" with hierbar"),
                    Not(HasSubstr(" 999 "))));
}

TEST_F(CompareCommand, FindsTheFigureAtTheEndOfALongOutput) {
  make_tool("talking", "yes 0123456789012345678901234567890 | head -n 200000; app 4 2");
  EXPECT_THAT(compare("--runs 2 --time 'time ([0-9.]+)' -- talking").output,
              HasSubstr("0.50 of its time"));
}

TEST_F(CompareCommand, LeavesOutWhatVariesByItself) {
  make_tool("varying", "date +%N; app 1 1");
  EXPECT_EQ(compare("--runs 2 -- varying").exit_code, 0);
}

TEST_F(CompareCommand, EachRunReadsTheSameInput) {
  const std::string file = tools() + "/input";
  std::ofstream(file) << "first\nsecond\nthird\n";
  make_tool("reading", "app 1 1; [ \"$(cat)\" = \"$(printf 'second\\nthird')\" ]");
  // The shell has read the first line.
  const CommandResult result =
      test::run_shell("sh -c 'read line; exec env -u KMP_BARRIER PATH=" + tools() + ":\"$PATH\" " +
                      command() + " compare --runs 2 -- reading' <" + file);
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
}

TEST_F(CompareCommand, ProgramThatFailsIsNotCompared) {
  const CommandResult result = compare("-- sh -c 'echo wrong input >&2; exit 3'");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("the program fails as it is: exit status 3; "
                                       "--ignore-failure compares it nevertheless; the last that "
                                       "it printed:\nwrong input\n"));
  EXPECT_EQ(compare("--runs 2 --ignore-failure -- sh -c 'app 1 1; exit 3'").exit_code, 0);
}

TEST_F(CompareCommand, SaysHowItEndsWithHierbarOnly) {
  EXPECT_THAT(compare("-- under 'exit 4'").errors,
              HasSubstr("the program ends with exit status 4 with hierbar, and with exit status 0 "
                        "as it is"));
  const CommandResult killed = compare("-- under 'kill -SEGV $$'");
  EXPECT_EQ(killed.exit_code, 1);
  EXPECT_THAT(killed.errors, HasSubstr("ends with signal 11 (Segmentation fault) with hierbar"));
}

TEST_F(CompareCommand, NamesTheTeamSizeThatFails) {
  make_tool("small", "[ $OMP_NUM_THREADS -lt 4 ] || exit 5; app 1 1");
  EXPECT_THAT(compare("--threads 2,4 -- small").errors,
              HasSubstr("the program fails as it is, 4 threads: exit status 5; "));
  make_tool("smaller", "[ $OMP_NUM_THREADS -lt 4 ] || under 'exit 6' || exit 6; app 1 1");
  EXPECT_THAT(compare("--threads 2,4 -- smaller").errors,
              HasSubstr("ends with exit status 6 with hierbar, 4 threads, and with exit status 0 "
                        "as it is"));
}

TEST_F(CompareCommand, KilledProgramFailsWhateverIsIgnored) {
  const CommandResult result = compare("--ignore-failure -- sh -c 'kill -KILL $$'");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("the program fails as it is: signal 9 (Killed)\n"));
}

// The program itself sends the signal to the command, its parent, once two pairs are complete.
TEST_F(CompareCommand, InterruptGivesWhatIsThere) {
  const std::string file = tools() + "/count";
  make_tool("interrupting",
            "echo >>" + file + "\n[ $(wc -l <" + file +
                ") -lt 7 ] || { trap '' INT; kill -INT $PPID; sleep 1; }\napp 1 0.5");
  const CommandResult result = compare("--time 'time ([0-9.]+)' --runs 1000 -- interrupting");
  EXPECT_EQ(result.exit_code, 128 + 2) << result.errors;
  EXPECT_THAT(first_line(result.output),
              HasSubstr("faster, 0.50 of its time (0.50 to 0.50, 2 pairs)"));
  EXPECT_THAT(result.output, HasSubstr("ended by signal 2 after 2 of 1,000 pairs, in a run "));
}

TEST_F(CompareCommand, InterruptBeforeTheFirstPairSaysSo) {
  const CommandResult result = compare("-- sh -c 'trap \"\" INT; kill -INT $PPID; sleep 1'");
  EXPECT_EQ(result.exit_code, 128 + 2);
  EXPECT_THAT(result.output, HasSubstr("no pair of runs is complete"));
  EXPECT_THAT(result.output, HasSubstr("ended by signal 2 in the warm-up, in a run as it is"));
}

TEST_F(CompareCommand, NamesTheBestTeamSizeOfEachWay) {
  make_tool(
      "scaling",
      "case $OMP_NUM_THREADS:$KMP_BARRIER in\n"
      "1:*) app 10 10;; 2:) app 6 6;; 2:hier) app 5 5;; 4:) app 6 6;; 4:hier) app 3 3;; esac");
  const CommandResult result =
      compare("--time 'time ([0-9.]+)' --runs 6 --threads 1,2,4 -- scaling");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(first_line(result.output), HasSubstr("faster, 0.50 of its time (0.50 to 0.50, 6"));
  EXPECT_THAT(result.output, HasSubstr("best as it is, 2 threads: 6; no difference beyond the "
                                       "noise with 4\n"));
  EXPECT_THAT(result.output, HasSubstr("best hierbar, 4 threads: 3\n"));
  EXPECT_THAT(result.output, ContainsRegex("hierbar, 2 threads .*, 0.83 \\(0.83 to 0.83\\) of "
                                           "this team as it is\n"));
}

TEST_F(CompareCommand, SaysWhyTheBestTeamHasNoBarrier) {
  make_tool("small",
            "case $OMP_NUM_THREADS in 1) echo openmp 0 0 >>$HIERBAR_SERVED_FILE; "
            "echo time 1;; 2) app 5 4;; esac");
  EXPECT_THAT(first_line(compare("--time 'time ([0-9.]+)' --runs 6 --ignore-output --threads 1,2 "
                                 "-- small")
                             .output),
              HasSubstr("1.00 of its time (1.00 to 1.00, 6 pairs), no barrier served: teams of "
                        "one thread, which need no barrier"));
}

TEST_F(CompareCommand, ComparesOtherRuntimesWithBoth) {
  make_tool("preloaded",
            "case $LD_PRELOAD in *libomp*) figure=8;; *) figure=10;; esac; app $figure 4");
  const std::string runtime = tools() + "/libomp.so";
  std::filesystem::copy_file(HIERBAR_STAND_IN, runtime);
  const CommandResult result =
      compare("--time 'time ([0-9.]+)' --runs 6 --with libomp=" + tools() + " -- preloaded");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(first_line(result.output), HasSubstr("faster, 0.40 of its time"));
  EXPECT_THAT(result.output, HasSubstr("libomp: faster, 0.80 of the program's time (0.80 to 0.80"));
  EXPECT_THAT(result.output, HasSubstr("hierbar: faster, 0.50 of libomp's time (0.50 to 0.50"));
}

TEST_F(CompareCommand, PrintsJsonBesideTheAnswer) {
  const CommandResult result = compare_figures("--runs 6 --json", "10 5");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("faster, 0.50 of its time"));
  const auto json = nlohmann::json::parse(result.output);
  EXPECT_EQ(json["figure"], "the program's own");
  EXPECT_EQ(json["rounds"], 6);
  EXPECT_EQ(json["signal"], nullptr);
  ASSERT_EQ(json["ways"].size(), 2U);
  EXPECT_EQ(json["ways"][0]["name"], "as it is");
  EXPECT_EQ(json["ways"][0]["runs"].size(), 6U);
  EXPECT_EQ(json["ways"][0]["ratio"], nullptr);
  const auto& ours = json["ways"][1];
  EXPECT_EQ(ours["variables"]["KMP_BARRIER"], "hier");
  EXPECT_EQ(ours["openmp"]["served"], 2000);
  EXPECT_EQ(ours["ratio"]["median"], 0.5);
  EXPECT_EQ(ours["ratio"]["verdict"], "faster");
  EXPECT_EQ(ours["output"]["kind"], "none");
}

TEST_F(CompareCommand, WritesJsonToAFile) {
  const std::string file = tools() + "/result.json";
  const CommandResult failed = compare("--json " + file + " -- sh -c 'printf \"\\377\"; exit 3'");
  EXPECT_EQ(failed.exit_code, 1);
  const auto json = nlohmann::json::parse(std::ifstream(file));
  EXPECT_EQ(json["failure"]["exit_status"], 3);
  const CommandResult nowhere = compare("--json /no/such/file -- app 1 1");
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.errors, HasSubstr("--json: "));
}

TEST_F(CompareCommand, OwnFigureMustBeThere) {
  const CommandResult result = compare("--time 'seconds: ([0-9.]+)' -- app 1 1");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors,
              HasSubstr("no line of the program's output matches 'seconds: ([0-9.]+)'"));
}

TEST_F(CompareCommand, RefusesBadOptionsByNameAndValue) {
  const std::pair<const char*, const char*> kCases[] = {
      {"", "no program; put it after '--'"},
      {"-- no_such_program", "PROGRAM: 'no_such_program': there is no such program; allowed: "},
      {"--runs 0 -- app", "--runs: '0': no such number; allowed: 1 to 1000"},
      {"--time-limit 0 -- app", "--time-limit: '0': not a valid time; allowed: seconds above 0"},
      {"--time x -- app", "--time: 'x': it has 0 groups in parentheses; allowed: "},
      {"--rate -- app", "--rate requires --time"},
      {"--rounds 3 -- app", "is called --runs"},
      {"--with pgomp -- app",
       "--with: 'pgomp': there is no runtime 'pgomp'; allowed: a list of "
       "libgomp, libomp, libiomp5"},
      {"--with libomp=/no -- app", "--with: 'libomp=/no': there is no libomp.so at '/no'; allowed"},
      {"--threads 2,x -- app",
       "--threads: '2,x': 'x' is not a valid number; allowed: a comma list"},
      {"--mpi none,x -- app", "--mpi: 'none,x': no such MPI; allowed: auto"},
  };
  for (const auto& [arguments, message] : kCases) {
    const CommandResult result = compare(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_THAT(result.errors, HasSubstr(message)) << arguments;
  }
}

}  // namespace
}  // namespace hierbar
