// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/format/html.hpp"

#include <nlohmann/json.hpp>

#include "report/format/html_assets.hpp"
#include "report/process_rows.hpp"

namespace hierbar::ompt {
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
std::string for_script(const Json& value) {
  std::string safe;
  for (const char c : value.dump()) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

// Drops what the page does not draw. With hundreds of threads it would be most of the file.
void drop_buckets_of_threads(Json& site) {
  for (Json& thread : site.at("threads")) {
    thread.at("imbalance_ns").erase("buckets");
    thread.at("sync_ns").erase("buckets");
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

// The report as to_json() writes it, with what the page needs besides.
Json page_data(const Report& report) {
  Json data = Json::parse(to_json(report));
  for (std::size_t i = 0; i < report.sites.size(); ++i) {
    Json& site = data.at("sites").at(i);
    drop_buckets_of_threads(site);
    for (const char* name : {"imbalance_ns", "sync_ns", "barrier_ns"}) add_ends(site.at(name));
    for (Json& level : site.at("levels")) add_ends(level.at("ns"));
    site["participant"] = is_of_ranks(report.sites[i].kind) ? "rank" : "thread";
  }
  return data;
}

}  // namespace

std::string to_html(const Report& report) {
  const std::string title = "Barriers of " + name_of(report) + " on " + readable(report.process.host);
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  page += "<meta name=\"generator\" content=\"hierbar " HIERBAR_VERSION "\">\n";
  page += "<title>" + escape(title) + "</title>\n<style>\n";
  page += html_style();
  page += "</style>\n</head>\n<body>\n<header><h1>" + escape(title) + "</h1></header>\n<main id=\"pictures\"></main>\n";
  page += "<details id=\"text\" open><summary>The report as text</summary>\n<pre>" + escape(readable(to_text(report))) +
          "</pre></details>\n";
  page += "<script type=\"application/json\" id=\"data\">" + for_script(page_data(report)) + "</script>\n";
  page += "<script>\n\"use strict\";\n";
  page += html_script();
  page += "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace hierbar::ompt
