// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/format/html.hpp"

#include <nlohmann/json.hpp>

#include "report/report.hpp"

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
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
      .get<std::string>();
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
  html += "</style>\n</head>\n<body>\n<header><h1>" + title +
          "</h1></header>\n<main id=\"pictures\"></main>\n";
  html += "<details id=\"text\" open><summary>" + page.text_name + "</summary>\n<pre>" +
          escape(readable(page.text)) + "</pre></details>\n";
  html += "<script type=\"application/json\" id=\"data\">" + for_script(page.data) + "</script>\n";
  html += std::string("<script>\n\"use strict\";\n") + html_shared() + page.script +
          "</script>\n</body>\n</html>\n";
  return html;
}

namespace {

using Json = nlohmann::ordered_json;

// Drops what the page does not draw. With hundreds of threads it would be most of the file.
void drop_buckets_of_threads(Json& site) {
  for (Json& thread : site.at("threads")) {
    for (Json& value : thread) {
      if (value.is_object()) value.erase("buckets");
    }
  }
}

// Makes [shortest, count] to [shortest, shortest of the next bucket, count], so that the page need
// not know how wide buckets are.
void add_ends(Json& times) {
  for (Json& bucket : times.at("buckets")) {
    const auto first = bucket.at(0).get<std::uint64_t>();
    bucket = {first, Histogram::first_ns(Histogram::bucket_of(first) + 1), bucket.at(1)};
  }
}

// What the names of columns mean, as [name, meaning].
Json meanings() {
  Json list = Json::array();
  for (const auto& column : kThreadTimes) list.push_back({column.name, column.meaning});
  for (const auto& column : kThreadSums) {
    if (!column.is_share) list.push_back({column.text, column.meaning});
  }
  for (const auto& column : kSiteTimes) list.push_back({column.name, column.meaning});
  return list;
}

// The report as to_json() writes it, with what the page needs besides.
Json page_data(const Report& report) {
  Json data = Json::parse(to_json(report));
  data["meanings"] = meanings();
  for (std::size_t i = 0; i < report.sites.size(); ++i) {
    Json& site = data.at("sites").at(i);
    drop_buckets_of_threads(site);
    for (Json& value : site) {
      if (value.is_object() && value.contains("buckets")) add_ends(value);
    }
    for (Json& level : site.at("levels")) add_ends(level.at("ns"));
    site["participant"] = is_of_ranks(report.sites[i].kind) ? "rank" : "thread";
    if (report.sites[i].threads_of_ranks.empty()) continue;
    for (std::uint32_t k = 0; k < report.sites[i].team_size; ++k)
      site["members"].push_back(participant_name(report.sites[i], k));
  }
  return data;
}

}  // namespace

std::string to_html(const Report& report) {
  return html_page({.title = "Barriers of " + name_of(report) + " on " + report.process.host,
                    .text_name = "The report as text",
                    .text = to_text(report),
                    .data = page_data(report).dump(),
                    .script = html_report()});
}

}  // namespace hierbar::report
