// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The memory in which the ranks of a node meet, as a rank finds it that comes when it is there.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "fuzz_target.hpp"
#include "placement/meeting/rendezvous.hpp"

namespace hierbar::test {
namespace {

constexpr std::uint32_t kNumRanks = 3;
constexpr std::size_t kMostBytes = 1U << 18;

// A directory of its own, gone at the end.
class MeetingPlace {
 public:
  MeetingPlace()
      : directory_(std::filesystem::temp_directory_path() /
                   ("hierbar-fuzz-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(directory_);
    // The name is the meeting's own affair: the maker sees it.
    MeetingRequest request = this->request();
    request.num_ranks = 1;
    const auto look = [this]() -> const Machine* {
      path_ = std::filesystem::directory_iterator(directory_)->path();
      return nullptr;
    };
    require(
        meet(request, look, [](const auto&) { return Verdict::kNobody; }).ok() && !path_.empty(),
        "a rank meets itself");
  }
  ~MeetingPlace() { std::filesystem::remove_all(directory_); }
  MeetingPlace(const MeetingPlace&) = delete;
  MeetingPlace& operator=(const MeetingPlace&) = delete;

  MeetingRequest request() const {
    return {.job_key = "fuzz",
            .rank = 0,
            .num_ranks = kNumRanks,
            .facts = {{CpuSet::range(0, 3), 2}, CpuSet::range(0, 7)},
            .patience_ns = 1'000'000,
            .directory = directory_};
  }
  void put(const std::uint8_t* data, std::size_t size) const {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  void clear() const { std::filesystem::remove(path_); }

 private:
  std::filesystem::path directory_;
  std::filesystem::path path_;
};

void check(const Meeting& meeting) {
  switch (meeting.verdict) {
    case Verdict::kComplete:
      require(meeting.facts.size() == kNumRanks, "a complete meeting has all ranks' facts");
      break;
    case Verdict::kEqualParts:
    case Verdict::kNobody:
    case Verdict::kDuplicate:
    case Verdict::kDead:
      require(meeting.facts.size() <= kNumRanks, "a rank has one slot");
      break;
    default:
      require(false, "a meeting ends with one of the verdicts");
  }
}

}  // namespace
}  // namespace hierbar::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hierbar;
  static const test::MeetingPlace place;
  if (size > test::kMostBytes) return 0;
  place.put(data, size);
  const Result<Meeting> meeting = meet(
      place.request(), []() -> const Machine* { return nullptr; },
      [](const auto&) { return Verdict::kNobody; });
  if (meeting) {
    test::check(*meeting);
  } else {
    test::require(!meeting.error().empty(), "a refusal has a reason");
  }
  place.clear();
  return 0;
}
