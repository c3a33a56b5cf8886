// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The shared memory of the ranks of a node, which one makes and the others join.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "fuzz_target.hpp"
#include "mpi/node/segment.hpp"

namespace {

constexpr std::size_t kMostBytes = 1U << 20;

// What those who join are told beside the memory: they look for it at these places of a header.
struct Told {
  std::uint64_t magic;
  std::uint64_t id;
  std::uint32_t num_members;
};

// A name under /dev/shm with the input behind it.
class SharedFile {
 public:
  SharedFile(const std::uint8_t* data, std::size_t size)
      : name_("/hierbar-fuzz-" + std::to_string(getpid())) {
    const int file =
        shm_open(name_.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    hierbar::test::require(file >= 0 && write(file, data, size) == static_cast<ssize_t>(size),
                           "shared memory can be written");
    close(file);
  }
  ~SharedFile() { shm_unlink(name_.c_str()); }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hierbar;
  Told told{};
  if (size < sizeof told || size > kMostBytes) return 0;
  std::memcpy(&told, data, sizeof told);
  if (told.num_members > 4096) return 0;  // the number comes from MPI, not from the memory
  const SharedFile file(data, size);
  const auto joined = mpi::NodeSegment::join(file.name(), told.id, told.num_members);
  if (!joined) {
    test::require(joined.error().find(file.name()) != std::string::npos,
                  "a refusal names the memory");
    return 0;
  }
  const mpi::NodeSegment& segment = **joined;
  test::require(segment.num_members() == told.num_members, "a segment is for those who join it");
  std::vector<mpi::Binding> bindings;
  for (std::uint32_t i = 0; i < told.num_members; ++i) {
    bindings.push_back(segment.member(i).binding);
    test::require(bindings.back().num_valid_words() <= bindings.back().bits.size(),
                  "a binding ends with its words");
  }
  (void)mpi::outnumber_cpus(bindings);
  const mpi::SegmentAllocator units = segment.units();
  (void)units.num_taken();
  if (const auto first = units.claim(3, 2)) {
    std::memset(segment.unit(*first), 0xFF, std::size_t{3} * mpi::NodeSegment::kUnitBytes);
    units.release(*first, 3);
  }
  return 0;
}
