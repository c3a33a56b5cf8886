// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/profile.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "base/words.hpp"
#include "plan/domains.hpp"

namespace hierbar {
namespace {

std::string ignored(const std::string& path, const std::string& reason) {
  return "profile '" + path + "' ignored: " + reason + "; run 'hierbar tune' to make it anew, or set " + kProfileVariable +
         "=off";
}

class File {
 public:
  // Does not block: a pipe of that name would wait for its writer.
  explicit File(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  bool is_regular() const {
    struct stat status{};
    return fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  }

  // At most kMaxProfileBytes + 1 bytes, so that a file that is too large is found, even if it
  // grows.
  Result<std::string> read_all() const {
    std::string text;
    std::array<char, 4096> buffer{};
    while (text.size() <= kMaxProfileBytes) {
      const ssize_t count = read(descriptor_, buffer.data(), std::min(buffer.size(), kMaxProfileBytes + 1 - text.size()));
      if (count == 0) break;
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return Error{std::strerror(errno)};
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  int descriptor_;
};

Result<Profile> load_open_profile(const File& file, const std::string& path) {
  if (!file.is_regular()) return Error{"it is no regular file"};
  const Result<std::string> text = file.read_all();
  if (!text) return Error{text.error()};
  if (text->size() > kMaxProfileBytes) return Error{"it is larger than " + std::to_string(kMaxProfileBytes >> 10) + " KiB"};
  Result<Profile> profile = parse_profile(*text);
  if (profile) profile->path = path;
  return profile;
}

}  // namespace

MachineIdentity identity_of(const Machine& machine) {
  constexpr Level kTopDown[] = {Level::kPackage, Level::kDie, Level::kNuma, Level::kL3,
                                Level::kCluster, Level::kL2,  Level::kCore};
  MachineIdentity identity{machine.name, ""};
  for (const Level level : kTopDown) {
    const auto count =
        std::count_if(machine.units.begin(), machine.units.end(), [level](const Unit& unit) { return unit.has(level); });
    if (count > 0) identity.shape.append(level_name(level)).append(" " + std::to_string(count) + ", ");
  }
  identity.shape += "cpu " + std::to_string(machine.present.count());
  return identity;
}

TeamSpread spread_of(const Machine& machine, const std::vector<LocalityPath>& paths) {
  std::set<int> cores;
  for (const LocalityPath& path : paths) {
    if (!path.bound || is_shared_by_cores(machine.units[path.smallest()])) {
      return TeamSpread{static_cast<std::uint32_t>(paths.size()), 0, 0};
    }
    cores.insert(path.smallest());
  }
  const std::vector<Domain> domains = partition_into_domains(machine, paths, domain_level(machine, std::nullopt));
  return TeamSpread{static_cast<std::uint32_t>(paths.size()), static_cast<std::uint32_t>(cores.size()),
                    static_cast<std::uint32_t>(domains.size())};
}

std::string default_profile_path(const Environment& environment) {
  std::string directory = value_of(environment, "XDG_CONFIG_HOME");
  if (!directory.starts_with('/')) {  // the XDG specification says to ignore relative paths
    const std::string home = value_of(environment, "HOME");
    if (!home.starts_with('/')) return "";
    directory = home + "/.config";
  }
  return directory + "/hierbar/profile.json";
}

Result<Profile> load_profile(const std::string& path) {
  const File file(path);
  if (!file.is_open()) return Error{std::strerror(errno)};
  return load_open_profile(file, path);
}

std::optional<Profile> read_profile(const Environment& environment, bool other_machine, std::vector<std::string>& problems) {
  std::string path = value_of(environment, kProfileVariable);
  const bool named = !path.empty();
  if (lower_word(path) == "off" || (!named && other_machine)) return std::nullopt;
  if (!named) path = default_profile_path(environment);
  if (path.empty()) return std::nullopt;
  const File file(path);
  if (!file.is_open()) {
    const int error = errno;
    const bool nothing_there = error == ENOENT || error == ENOTDIR;
    if (named || !nothing_there) problems.push_back(ignored(path, std::strerror(error)));
    return std::nullopt;
  }
  Result<Profile> profile = load_open_profile(file, path);
  if (profile) return *std::move(profile);
  problems.push_back(ignored(path, profile.error()));
  return std::nullopt;
}

std::string foreign_profile(const Profile& profile, const Machine& machine) {
  const MachineIdentity here = identity_of(machine);
  if (profile.machine == here) return {};
  const auto text = [](const MachineIdentity& identity) { return "'" + identity.cpu + "' (" + identity.shape + ")"; };
  return ignored(profile.path, "it is of another machine, " + text(profile.machine) + ", and this is " + text(here));
}

std::string describe_profile(const Profile& profile) {
  std::string teams;
  for (const TunedPlan& plan : profile.plans) {
    if (plan.is_default()) continue;
    teams += (teams.empty() ? "" : ", ") + std::to_string(plan.team.num_participants);
  }
  return "profile " + profile.path + ": " +
         (teams.empty() ? "the automatic shapes are best" : "measured shapes for teams of " + teams);
}

void apply_profile(const Profile& profile, const Machine& machine, const std::vector<LocalityPath>& paths,
                   const PlanSettings& settings, ShapeOptions& options) {
  if (!settings.levels.empty()) return;  // the levels ask for another shape
  const TeamSpread team = spread_of(machine, paths);
  const auto plan =
      std::find_if(profile.plans.begin(), profile.plans.end(), [&](const TunedPlan& tuned) { return tuned.team == team; });
  if (plan == profile.plans.end() || plan->is_default()) return;
  options.num_leaders = plan->num_leaders;
  if (!settings.release_is_chosen) options.release = plan->release;
  options.is_tuned = true;
}

}  // namespace hierbar
