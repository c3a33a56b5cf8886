// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/decision/predict_team.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "placement/share/places.hpp"

namespace hierbar {
namespace {

// --- 1. Explicit places

// Limits, so that a mistyped number takes neither memory nor time.
constexpr std::int64_t kMaxPlaceItems = 1 << 16;
constexpr std::size_t kMaxPlaces = 1 << 13;
constexpr std::size_t kMaxCpusOfPlaces = 1 << 20;  // all places together

// Reads lists of "a", "a:length" and "a:length:stride". Blanks may stand before a number.
class PlaceReader {
 public:
  explicit PlaceReader(std::string_view text) : text_(text) {}

  Result<std::vector<CpuSet>> read() {
    std::vector<CpuSet> places;
    do {
      if (!read_interval(places))
        return Error{"'" + std::string(text_) + "' is not a list of places such as {0,1},{2,3}"};
    } while (accept(','));
    if (peek() != '\0')
      return Error{"'" + std::string(text_) + "' is not a list of places such as {0,1},{2,3}"};
    return places;
  }

 private:
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool read_number(std::int64_t& number) {
    peek();
    const auto [end, problem] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (problem != std::errc()) return false;
    at_ = static_cast<std::size_t>(end - text_.data());
    return true;
  }
  // Reads the ":length:stride" behind a cpu or a place.
  bool read_repeats(std::int64_t& length, std::int64_t& stride) {
    if (accept(':') && (!read_number(length) || length < 1 || length > kMaxPlaceItems))
      return false;
    const bool has_stride = length > 1 && accept(':');
    return !has_stride || (read_number(stride) && is_cpu(stride < 0 ? -(stride + 1) : stride));
  }
  static bool is_cpu(std::int64_t number) { return number >= 0 && number < kMaxMachineCpus; }

  bool read_cpus(CpuSet& place) {
    std::int64_t first = 0;
    std::int64_t length = 1;
    std::int64_t stride = 1;
    if (!read_number(first) || !read_repeats(length, stride)) return false;
    for (std::int64_t i = 0; i < length; ++i) {
      if (!is_cpu(first + i * stride)) return false;
      place.set(static_cast<std::uint32_t>(first + i * stride));
      if (++num_cpus_ > kMaxCpusOfPlaces) return false;
    }
    return true;
  }
  // Reads "{0,1}" or "{0,1}:4:2".
  bool read_interval(std::vector<CpuSet>& places) {
    CpuSet place;
    if (!accept('{')) return false;
    do {
      if (!read_cpus(place)) return false;
    } while (accept(','));
    std::int64_t length = 1;
    std::int64_t stride = place.count();
    if (!accept('}') || !read_repeats(length, stride)) return false;
    num_cpus_ += place.count() * (static_cast<std::size_t>(length) - 1);
    if (num_cpus_ > kMaxCpusOfPlaces ||
        places.size() + static_cast<std::size_t>(length) > kMaxPlaces)
      return false;
    for (std::int64_t i = 0; i < length; ++i) {
      CpuSet shifted;
      for (const std::uint32_t cpu : place) {
        if (!is_cpu(cpu + i * stride)) return false;
        shifted.set(static_cast<std::uint32_t>(cpu + i * stride));
      }
      places.push_back(shifted);
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t num_cpus_ = 0;  // of all places so far
};

// --- 2. What the variables ask for

std::uint32_t requested_threads(const Environment& environment, const CpuSet& mask) {
  const std::string text = value_of(environment, "OMP_NUM_THREADS");
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number > 0 ? std::min(number, static_cast<std::uint32_t>(kMaxPlaceItems)) : mask.count();
}

// The policy. Nothing: threads are not bound.
std::optional<ProcBind> requested_policy(const Environment& environment) {
  const std::vector<std::string> words = lower_words(value_of(environment, "OMP_PROC_BIND"), ',');
  const std::string policy = words.empty() ? "" : words.front();
  if (policy.empty()) {
    return value_of(environment, "OMP_PLACES").empty() ? std::nullopt
                                                       : std::optional(ProcBind::kSpread);
  }
  if (policy == "false") return std::nullopt;
  if (policy == "close") return ProcBind::kClose;
  return policy == "primary" || policy == "master" ? ProcBind::kPrimary : ProcBind::kSpread;
}

std::vector<CpuSet> units_in(const Machine& machine, Level level, const CpuSet& mask) {
  std::vector<CpuSet> places;
  for (const Unit& unit : machine.units) {
    if (const CpuSet cpus = unit.cpus & mask; unit.has(level) && !cpus.empty())
      places.push_back(cpus);
  }
  return places;
}

// The places; empty if they were not understood.
std::vector<CpuSet> requested_places(const Machine& machine, const CpuSet& mask,
                                     const Environment& environment, TeamShape& team) {
  const std::string text = value_of(environment, "OMP_PLACES");
  const std::vector<std::string> words = lower_words(text.substr(0, text.find('(')), ',');
  const std::string name = words.empty() ? "" : words.front();
  if (name.empty() || name == "cores") return cores_of(machine, mask);
  if (name == "threads") return cpus_core_by_core(cores_of(machine, mask));
  if (name == "sockets") return units_in(machine, Level::kPackage, mask);
  if (name == "ll_caches") return units_in(machine, Level::kL3, mask);
  if (name == "numa_domains") return units_in(machine, Level::kNuma, mask);
  const Result<std::vector<CpuSet>> listed = parse_places(text);
  if (!listed) {
    team.problem = "OMP_PLACES: " + listed.error() + "; taken as if it were not set";
    return {};
  }
  std::vector<CpuSet> places;
  for (const CpuSet& place : *listed) {
    team.foreign |= place - mask;
    if (const CpuSet usable = place & mask; !usable.empty()) places.push_back(usable);
  }
  return places;
}

}  // namespace

Result<std::vector<CpuSet>> parse_places(std::string_view text) { return PlaceReader(text).read(); }

TeamShape predict_team(const Machine& machine, const CpuSet& mask, const Environment& environment) {
  TeamShape team;
  const CpuSet usable = mask & machine.present;
  team.num_threads = requested_threads(environment, usable);
  std::vector<CpuSet> places;
  const std::optional<ProcBind> policy = requested_policy(environment);
  if (policy) places = requested_places(machine, usable, environment, team);
  team.is_bound = !places.empty();
  team.cpus = team.is_bound ? bind_threads(places, team.num_threads, *policy)
                            : std::vector<CpuSet>(team.num_threads, usable);
  return team;
}

}  // namespace hierbar
