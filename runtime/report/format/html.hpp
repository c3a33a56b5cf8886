// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "report/report.hpp"

namespace hierbar::report {

struct HtmlPage {
  std::string title;
  std::string text_name;  // what `text` is: "The report as text"
  std::string text;       // all figures, for who sees no pictures
  std::string data;       // JSON, which the script draws
  const char* script;     // calls drawPage() of html/page.js: html_report() or html_prediction()
};

// A page in the style of all our pages, which loads nothing. No name in the title, text or data
// becomes markup, and broken UTF-8 in the title and text is replaced.
std::string html_page(const HtmlPage& page);

// A page that contains all it needs and loads nothing. It has the figures as JSON, the scripts of
// html/ that draw pictures from them, and the report as text for browsers without scripts. See
// docs/design/reports.md#d0059.
std::string to_html(const Report& report);

// The files of html/, unchanged. `hierbar_embed_text()` of cmake/HierbarCompile.cmake makes these
// functions.
const char* html_style();
const char* html_shared();      // what all pages have in common
const char* html_report();      // the report's pictures
const char* html_prediction();  // those of a prediction

}  // namespace hierbar::report
