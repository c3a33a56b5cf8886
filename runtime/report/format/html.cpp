// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/format/html.hpp"

#include <nlohmann/json.hpp>

#include "report/format/html_assets.hpp"
#include "report/format/html_page.hpp"
#include "report/process_rows.hpp"

namespace hierbar::report {
namespace {

using Json = nlohmann::ordered_json;

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
    if (report.sites[i].threads_of_ranks.empty()) continue;
    for (std::uint32_t k = 0; k < report.sites[i].team_size; ++k) site["members"].push_back(participant_name(report.sites[i], k));
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
