// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/segment.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <new>

#include "base/files.hpp"
#include "base/text.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace hierbar::mpi {
namespace {

constexpr std::uint64_t kMagic = 0x33'72'61'62'72'65'69'68;  // "hierbar3": version 3 of this layout
constexpr const char* kDirectory = "/dev/shm";

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}
// Whole pages.
std::uint32_t units_of_pages_for(std::size_t bytes) {
  return NodeSegment::units_for(round_up(bytes, page_bytes()));
}

std::string make_name(std::uint64_t id) {
  const ProcessName self = own_process();
  return format_text("/hierbar-%u-%" PRIu64 "-%d-%" PRIu64 "-%016" PRIx64, geteuid(),
                     self.pid_namespace, self.pid, self.start_time, id);
}

Error failure(const char* what, const std::string& name, int error) {
  return Error{std::string(what) + " " + kDirectory + name + ": " + std::strerror(error)};
}

int allocate(int file, std::size_t bytes) {
  int error;
  do {
    error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  } while (error == EINTR);
  return error;
}

// Whether pages can be allocated through a mapping. Kernels before 5.14 cannot do that; there
// everything is allocated at once.
bool can_populate(void* memory) { return madvise(memory, page_bytes(), MADV_POPULATE_WRITE) == 0; }

}  // namespace

struct NodeSegment::Header {
  std::uint64_t magic;
  // Drawn by the creator. A member that reads the same number sees the same memory.
  std::uint64_t id;
  std::uint32_t num_members;
  std::uint32_t num_units;
  // 0: create() has allocated all pages.
  std::uint32_t populates_late;
  std::uint32_t reserved;
  // The number of blocks ever made. Any member reads and writes it.
  std::atomic<std::uint64_t> generation;
  std::atomic<std::uint32_t> ran_out;
  // Shared by members that go to sleep at the same time.
  SharedCalls fences;
};

// Where the parts of a segment lie. This follows from the two numbers in the header.
struct NodeSegment::Layout {
  static constexpr std::size_t kMembers = 128;
  static_assert(sizeof(Header) <= kMembers);

  std::uint32_t num_members, num_units;
  std::size_t map, units, end;

  Layout(std::uint32_t members, std::uint32_t units_of_blocks)
      : num_members(members),
        num_units(units_of_blocks),
        map(round_up(kMembers + sizeof(Member) * num_members, 128)),
        units(
            round_up(map + sizeof(SegmentAllocator::Word) * SegmentAllocator::num_words(num_units),
                     page_bytes())),
        end(units + std::size_t{num_units} * kUnitBytes) {}
};

Result<std::unique_ptr<NodeSegment>> NodeSegment::create(std::uint32_t num_members,
                                                         std::size_t bytes) {
  const Layout layout(num_members, units_of_pages_for(bytes));
  const std::uint64_t id = random_id();
  const std::string name = make_name(id);
  const OpenFile file(
      shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.get() < 0) return failure("cannot create", name, errno);
  int error = allocate(file.get(), layout.units);
  void* memory = MAP_FAILED;
  if (error == 0 && ftruncate(file.get(), static_cast<off_t>(layout.end)) != 0) error = errno;
  if (error == 0)
    memory = mmap(nullptr, layout.end, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (error == 0 && memory == MAP_FAILED) error = errno;
  const bool populates_late = error == 0 && can_populate(memory);
  if (error == 0 && !populates_late) error = allocate(file.get(), layout.end);
  if (error != 0) {
    if (memory != MAP_FAILED) munmap(memory, layout.end);
    shm_unlink(name.c_str());
    return failure("cannot allocate", name, error);
  }
  std::unique_ptr<NodeSegment> segment(
      new NodeSegment(static_cast<std::byte*>(memory), layout, name, true));
  segment->fill_header(id, populates_late);
  return segment;
}

Result<std::unique_ptr<NodeSegment>> NodeSegment::create_private(std::uint32_t num_members,
                                                                 std::size_t bytes) {
  const Layout layout(num_members, units_of_pages_for(bytes));
  void* memory =
      mmap(nullptr, layout.end, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Error{std::string("cannot allocate memory: ") + std::strerror(errno)};
  std::unique_ptr<NodeSegment> segment(
      new NodeSegment(static_cast<std::byte*>(memory), layout, "", false));
  segment->fill_header(random_id(), /*populates_late=*/false);
  return segment;
}

void NodeSegment::fill_header(std::uint64_t id, bool populates_late) {
  Header& head = header();
  head.num_members = num_members_;
  head.num_units = num_units_;
  head.populates_late = populates_late ? 1 : 0;
  head.id = id;
  new (&head.fences) SharedCalls;
  head.magic = kMagic;
}

Result<std::unique_ptr<NodeSegment>> NodeSegment::join(const std::string& name, std::uint64_t id,
                                                       std::uint32_t num_members) {
  // O_NONBLOCK: if this rank does not see the other one's /dev/shm, anybody may have made something
  // of that name, and to open that might block. A lease on a regular file would block, too.
  const OpenFile file(shm_open(name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0));
  if (file.get() < 0) return failure("cannot open", name, errno);
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return failure("cannot read the size of", name, errno);
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Error{std::string(kDirectory) + name +
                 " belongs to another user, or other users may access it"};
  }
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes < Layout(num_members, 1).end)
    return Error{std::string(kDirectory) + name + " is too small"};
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return failure("cannot map", name, errno);
  const auto& header = *static_cast<const Header*>(memory);
  const Layout layout(num_members, header.num_units);
  if (header.magic != kMagic || header.id != id || header.num_members != num_members ||
      layout.end != bytes) {
    munmap(memory, bytes);
    return Error{std::string(kDirectory) + name +
                 " is not the segment that the other rank made, or has another version"};
  }
  return std::unique_ptr<NodeSegment>(
      new NodeSegment(static_cast<std::byte*>(memory), layout, name, false));
}

NodeSegment::NodeSegment(std::byte* memory, const Layout& layout, std::string name, bool owns_name)
    : memory_(memory),
      num_members_(layout.num_members),
      num_units_(layout.num_units),
      map_offset_(layout.map),
      units_offset_(layout.units),
      bytes_(layout.end),
      name_(std::move(name)),
      owns_name_(owns_name) {}

void NodeSegment::unlink() {
  if (owns_name_) shm_unlink(name_.c_str());
  owns_name_ = false;
}

NodeSegment::~NodeSegment() {
  unlink();
  munmap(memory_, bytes_);
}

NodeSegment::Header& NodeSegment::header() const { return *reinterpret_cast<Header*>(memory_); }
std::uint64_t NodeSegment::id() const { return header().id; }

NodeSegment::Member& NodeSegment::member(std::uint32_t index) const {
  return reinterpret_cast<Member*>(memory_ + Layout::kMembers)[index];
}

SegmentAllocator NodeSegment::units() const {
  return {reinterpret_cast<SegmentAllocator::Word*>(memory_ + map_offset_), num_units_};
}

void* NodeSegment::unit(std::uint32_t index) const {
  return memory_ + units_offset_ + std::size_t{index} * kUnitBytes;
}

bool NodeSegment::populate(std::uint32_t first, std::uint32_t count) const {
  if (header().populates_late == 0) return true;
  const std::size_t page = page_bytes();
  const auto begin = reinterpret_cast<std::uintptr_t>(unit(first)) / page * page;
  const auto end = round_up(reinterpret_cast<std::uintptr_t>(unit(first + count)), page);
  int status;
  do {
    status = madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
  } while (status != 0 && (errno == EINTR || errno == EAGAIN));
  return status == 0;
}

bool NodeSegment::clear(std::uint32_t unit_index, std::size_t offset, std::size_t bytes) const {
  const auto first = static_cast<std::uint32_t>(offset / kUnitBytes);
  if (!populate(unit_index + first, units_for(offset + bytes) - first)) return false;
  std::memset(static_cast<std::byte*>(unit(unit_index)) + offset, 0, bytes);
  return true;
}

// Both relaxed: only the numbers matter.
std::uint64_t NodeSegment::next_generation() const {
  return header().generation.fetch_add(1, std::memory_order_relaxed) + 1;
}
bool NodeSegment::claim_first_to_run_out() const {
  return header().ran_out.exchange(1, std::memory_order_relaxed) == 0;
}
SharedCalls& NodeSegment::fences() const { return header().fences; }

int sweep_segments() {
  DIR* directory = opendir(kDirectory);
  if (directory == nullptr) return 0;
  const std::uint64_t own_namespace = own_process().pid_namespace;
  int removed = 0;
  while (const dirent* entry = readdir(directory)) {
    unsigned user;
    std::uint64_t pid_namespace, start_time, id;
    std::int32_t pid;
    if (std::sscanf(entry->d_name, "hierbar-%u-%" SCNu64 "-%" SCNd32 "-%" SCNu64 "-%" SCNx64, &user,
                    &pid_namespace, &pid, &start_time, &id) != 5) {
      continue;
    }
    // Whether a process of another pid namespace is alive cannot be seen from here.
    if (user != geteuid() || pid_namespace != own_namespace || is_alive(pid, start_time)) continue;
    if (shm_unlink((std::string("/") + entry->d_name).c_str()) == 0) ++removed;
  }
  closedir(directory);
  return removed;
}

}  // namespace hierbar::mpi
