// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/meeting/rendezvous.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "topology/export/machine_image.hpp"

namespace hierbar {
namespace {

// Names of ended meetings come and go, but not as often as this.
constexpr int kMaxAttempts = 16;

std::string name_prefix() { return "hierbar-place-" + std::to_string(geteuid()) + "-"; }

// The pid namespace is part of the name, because process numbers belong to one.
std::string path_of(const MeetingRequest& request) {
  return request.directory + "/" + name_prefix() +
         format_text("%016" PRIx64,
                     read_node_key(std::hash<std::string>{}(request.job_key)).words[0]);
}

std::string last_error(const std::string& what) { return what + ": " + std::strerror(errno); }

// An open file with a board at its beginning and, later, the image of the machine behind it.
class MeetingFile {
 public:
  MeetingFile() = default;
  MeetingFile(MeetingFile&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        memory_(std::exchange(other.memory_, MAP_FAILED)),
        size_(other.size_),
        num_ranks_(other.num_ranks_) {}
  MeetingFile& operator=(MeetingFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    std::swap(num_ranks_, other.num_ranks_);
    return *this;
  }
  ~MeetingFile() {
    if (memory_ != MAP_FAILED) munmap(memory_, size_);
    if (descriptor_ >= 0) close(descriptor_);
  }

  // Makes a file without a name. It is allocated, so that writing to it cannot fail. Not open if
  // there is no memory.
  static MeetingFile create(const std::string& directory, std::uint32_t num_ranks) {
    MeetingFile file;
    file.descriptor_ = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file.descriptor_ < 0) return file;
    const std::size_t size = MeetingMemory::size_bytes(num_ranks);
    if (!file.allocate(0, size)) return {};
    file.map(size);
    file.num_ranks_ = num_ranks;
    return file;
  }

  // Opens the file of that path, if it is this user's. If it is not open, errno tells why.
  static MeetingFile find(const std::string& path) {
    MeetingFile file;
    file.path_ = path;
    // O_NONBLOCK: another user's file could keep us waiting, one with a lease for most of a minute.
    file.descriptor_ = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status{};
    if (file.descriptor_ < 0 || fstat(file.descriptor_, &status) != 0) return file;
    if (status.st_uid != geteuid() || !S_ISREG(status.st_mode) || status.st_size < 128) {
      errno = EACCES;
      return file;
    }
    file.map(static_cast<std::size_t>(status.st_size));
    if (file.is_open()) file.num_ranks_ = MeetingMemory::num_ranks_in(file.memory_, file.size_);
    return file;
  }

  // Gives the file its name. Returns false, with errno EEXIST, if another file has that name.
  bool link_as(const std::string& path) {
    const std::string own = "/proc/self/fd/" + std::to_string(descriptor_);
    if (linkat(AT_FDCWD, own.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0) return false;
    path_ = path;
    return true;
  }

  // Removes the name, unless it belongs to another file by now.
  void unlink() const { remove_name(path_, descriptor_); }

  bool is_open() const { return memory_ != MAP_FAILED; }
  std::uint32_t num_ranks() const { return num_ranks_; }  // 0: not a board
  MeetingMemory memory() const { return {memory_, num_ranks_}; }

  // The image is written and read through the file, so that a full file system is an error and no
  // signal. Returns the number of bytes; 0: none.
  std::uint32_t write_image(const Machine& machine) const {
    const std::vector<std::uint32_t> image = machine_image(machine);
    const std::size_t bytes = image.size() * sizeof(image[0]);
    if (bytes >= UINT32_MAX || !allocate(image_offset(), bytes)) return 0;
    const ssize_t written = pwrite(descriptor_, image.data(), bytes, image_offset());
    return written == static_cast<ssize_t>(bytes) ? static_cast<std::uint32_t>(bytes) : 0;
  }
  // Returns nothing also if the file is shorter than that.
  std::optional<Machine> read_image(std::uint32_t bytes) const {
    struct stat status{};
    if (fstat(descriptor_, &status) != 0 ||
        image_offset() + static_cast<off_t>(bytes) > status.st_size)
      return std::nullopt;
    std::vector<std::uint32_t> image(bytes / sizeof(std::uint32_t));
    if (bytes == 0 || bytes % sizeof(std::uint32_t) != 0 ||
        pread(descriptor_, image.data(), bytes, image_offset()) != static_cast<ssize_t>(bytes))
      return std::nullopt;
    Result<Machine> machine = machine_from_image(image);
    if (!machine) return std::nullopt;
    return *std::move(machine);
  }

 private:
  bool allocate(off_t offset, std::size_t bytes) const {
    int error;
    do {
      error = posix_fallocate(descriptor_, offset, static_cast<off_t>(bytes));
    } while (error == EINTR);
    errno = error;
    return error == 0;
  }
  void map(std::size_t size) {
    size_ = size;
    memory_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  }
  off_t image_offset() const {
    return static_cast<off_t>((MeetingMemory::size_bytes(num_ranks_) + 4095) / 4096 * 4096);
  }

  std::string path_;
  int descriptor_ = -1;
  void* memory_ = MAP_FAILED;
  std::size_t size_ = 0;
  std::uint32_t num_ranks_ = 0;
};

// What one rank has found at the path of the meeting.
struct Arrival {
  MeetingFile file;
  bool is_maker = false;
  bool is_duplicate = false;
};

// Makes the board, in the first rank, and takes this rank's slot.
Result<Arrival> make_board(const MeetingRequest& request, const ProcessName& self,
                           const std::string& path) {
  sweep_meetings(request.directory);
  MeetingFile file = MeetingFile::create(request.directory, request.num_ranks);
  if (!file.is_open())
    return Error{last_error("cannot make shared memory in " + request.directory)};
  file.memory().make(self, static_cast<std::uint64_t>(monotonic_ns()) + request.patience_ns);
  if (!file.memory().claim(request.rank, self))
    return Error{"new memory of a meeting has an owner"};
  if (!file.link_as(path)) {
    if (errno != EEXIST) return Error{last_error("cannot name shared memory " + path)};
    // Another rank was faster.
    return Arrival{};
  }
  return Arrival{std::move(file), true, false};
}

// Takes the slot on a board that exists. Not open: the board is of a meeting that has ended, and
// its name is gone.
Result<Arrival> join_board(const MeetingRequest& request, const ProcessName& self,
                           MeetingFile file) {
  if (file.num_ranks() == 0)
    return Error{"the shared memory belongs to another version of hierbar"};
  const MeetingMemory memory = file.memory();
  if (memory.is_stale()) {
    file.unlink();
    return Arrival{};
  }
  if (file.num_ranks() != request.num_ranks) {
    return Error{"this rank is one of " + std::to_string(request.num_ranks) +
                 " on the node, another says of " + std::to_string(file.num_ranks())};
  }
  if (memory.claim(request.rank, self)) return Arrival{std::move(file), false, false};
  // The slot is taken: by an earlier program of this rank, whose meeting has ended, or by another
  // process.
  if (memory.verdict() != Verdict::kOpen || memory.owner_is_dead(request.rank)) {
    file.unlink();
    return Arrival{};
  }
  memory.seal(Verdict::kDuplicate);
  return Arrival{std::move(file), false, true};
}

Result<Arrival> arrive(const MeetingRequest& request) {
  const ProcessName self = own_process();
  if (self.start_time == 0) return Error{"/proc does not show this process"};
  const std::string path = path_of(request);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    MeetingFile file = MeetingFile::find(path);
    if (!file.is_open() && errno != ENOENT)
      return Error{last_error("cannot use shared memory " + path)};
    Result<Arrival> arrival = file.is_open() ? join_board(request, self, std::move(file))
                                             : make_board(request, self, path);
    if (!arrival || arrival->file.is_open()) return arrival;
  }
  return Error{"the shared memory " + path + " comes and goes"};
}

const char* kind_of(mode_t mode) {
  if (S_ISREG(mode)) return "file";
  if (S_ISDIR(mode)) return "directory";
  return S_ISLNK(mode) ? "link" : "special file";
}

bool fits(const CpuSet& cpus) { return cpus.last() < static_cast<int>(MeetingMemory::kMaxCpus); }

}  // namespace

Result<Meeting> meet(const MeetingRequest& request, const std::function<const Machine*()>& load,
                     const std::function<Verdict(const std::vector<RankFacts>&)>& late) {
  if (!fits(request.facts.need.mask) || !fits(request.facts.pool)) {
    return Error{"there are cpus above " + std::to_string(MeetingMemory::kMaxCpus - 1)};
  }
  Result<Arrival> arrival = arrive(request);
  if (!arrival) return Error{arrival.error()};
  const MeetingMemory memory = arrival->file.memory();
  if (!arrival->is_duplicate) memory.post(request.rank, request.facts);
  if (arrival->is_maker) {
    const Machine* machine = load();
    memory.publish_machine(machine == nullptr ? 0 : arrival->file.write_image(*machine));
  }
  Meeting meeting;
  meeting.verdict = arrival->is_duplicate ? Verdict::kDuplicate : memory.wait(late);
  arrival->file.unlink();
  if (meeting.verdict == Verdict::kComplete && !memory.has_all_facts()) {
    return Error{
        "the shared memory is damaged: the meeting is complete, but facts of some ranks are "
        "missing"};
  }
  meeting.facts = memory.facts();
  meeting.is_maker = arrival->is_maker;
  if (!arrival->is_maker) meeting.machine = arrival->file.read_image(memory.image_bytes());
  return meeting;
}

std::optional<std::string> find_squatter(const MeetingRequest& request) {
  const std::string path = path_of(request);
  struct stat status{};
  if (lstat(path.c_str(), &status) != 0) return std::nullopt;
  if (status.st_uid == geteuid() && S_ISREG(status.st_mode)) return std::nullopt;
  return "the " + std::string(kind_of(status.st_mode)) + " " + path + " of user " +
         std::to_string(status.st_uid);
}

int sweep_meetings(const std::string& directory) {
  DIR* entries = opendir(directory.c_str());
  if (entries == nullptr) return 0;
  int removed = 0;
  while (const dirent* entry = readdir(entries)) {
    if (std::strncmp(entry->d_name, name_prefix().c_str(), name_prefix().size()) != 0) continue;
    const MeetingFile file = MeetingFile::find(directory + "/" + entry->d_name);
    if (!file.is_open() || file.num_ranks() == 0 || !file.memory().is_stale()) continue;
    file.unlink();
    ++removed;
  }
  closedir(entries);
  return removed;
}

}  // namespace hierbar
