// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/format/html_page.hpp"

#include <nlohmann/json.hpp>

#include "report/format/html_assets.hpp"

namespace hierbar::report {
namespace {

using Json = nlohmann::ordered_json;

std::string escape(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '"')
      escaped += "&quot;";
    else
      escaped += c;
  }
  return escaped;
}

// Replaces broken UTF-8. Text from to_json() has none, but other text may.
std::string readable(const std::string& text) {
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

// In a script element only "<" can begin the element's end. In JSON it occurs only in strings.
std::string for_script(const std::string& json) {
  std::string safe;
  for (const char c : json) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

}  // namespace

std::string html_page(const HtmlPage& page) {
  const std::string title = escape(readable(page.title));
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += "<meta name=\"generator\" content=\"hierbar " HIERBAR_VERSION "\">\n";
  html += "<title>" + title + "</title>\n<style>\n";
  html += html_style();
  html += "</style>\n</head>\n<body>\n<header><h1>" + title + "</h1></header>\n<main id=\"pictures\"></main>\n";
  html += "<details id=\"text\" open><summary>" + page.text_name + "</summary>\n<pre>" + escape(readable(page.text)) +
          "</pre></details>\n";
  html += "<script type=\"application/json\" id=\"data\">" + for_script(page.data) + "</script>\n";
  html += std::string("<script>\n\"use strict\";\n") + html_shared() + page.script + "</script>\n</body>\n</html>\n";
  return html;
}

}  // namespace hierbar::report
