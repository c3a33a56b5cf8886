// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reports in JSON, as `hierbar report` reads and merges them, and every form in which it shows
// them.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "fuzz_target.hpp"
#include "report/format/html.hpp"
#include "report/format/lstopo.hpp"
#include "report/merge.hpp"

namespace hierbar::test {
namespace {

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

// Only the page's own elements, and data that a browser reads as it was.
void check_html(const std::string& page) {
  static const std::string empty = report::to_html(report::Report{});
  for (const char* element :
       {"<script", "</script", "<pre", "</pre", "<style", "<img", "<svg", "<!--"}) {
    require(count(page, element) == count(empty, element), "no name becomes markup");
  }
  const std::string tag = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(tag) + tag.size();
  require(!nlohmann::json::parse(page.substr(begin, page.find("</script", begin) - begin), nullptr,
                                 false)
               .is_discarded(),
          "the page's data is JSON");
}

// Each line has as many fields as the first, whatever is in the quotes.
void check_csv(const std::string& csv) {
  bool is_quoted = false;
  std::size_t fields = 1, wanted = 0;
  for (const char c : csv) {
    if (c == '"') is_quoted = !is_quoted;
    if (c == ',' && !is_quoted) ++fields;
    if (c != '\n' || is_quoted) continue;
    if (wanted == 0) wanted = fields;
    require(fields == wanted, "each line of CSV has all fields");
    fields = 1;
  }
  require(!is_quoted && fields == 1, "CSV ends with a line's end");
}

// What goes to a terminal: complete lines, and nothing that would control it.
void check_text(const std::string& text) {
  require(std::none_of(text.begin(), text.end(),
                       [](unsigned char c) { return (c < ' ' && c != '\n') || c == 0x7F; }),
          "a report for people has no control characters");
  require(text.ends_with('\n'), "a report for people ends with a line's end");
}

}  // namespace
}  // namespace hierbar::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hierbar;
  report::Report report;
  try {
    report = report::parse_report(test::text_of(data, size));
  } catch (const std::runtime_error& error) {
    test::require(*error.what() != '\0', "a refusal has a reason");
    return 0;
  }
  // What is written leaves out what says nothing, so it is the same from the second time on.
  const report::Report again = report::parse_report(report::to_json(report));
  const std::string json = report::to_json(again);
  test::require(report::to_json(report::parse_report(json)) == json,
                "a report that is accepted can be read again");
  test::check_text(report::to_text(report));
  test::check_html(report::to_html(report));
  test::check_csv(report::to_csv(report));
  (void)report::find_heat(report);
  report::merge_report(report, again);
  test::check_text(report::to_text(report));
  (void)report::parse_report(report::to_json(report));
  return 0;
}
