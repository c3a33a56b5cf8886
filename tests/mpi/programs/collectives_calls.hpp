// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// One collective call of collectives_fuzz: its arguments, the buffers of this rank with guards
// around them, the call, and what it must have done. An element of a send buffer follows from the
// call's seed, the rank and the index, so each rank knows the data of all others.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "bench/common/random.hpp"
#include "collectives_elements.hpp"

namespace hierbar::test {

enum class CallKind : std::uint8_t {
  kAllreduce,
  kBcast,
  kReduce,
  kAllgather,
  kAlltoall,
  kGather,
  kScatter,
  kReduceScatterBlock,
  kScan,
  kBarrier
};
inline constexpr int kNumCallKinds = 10;
inline constexpr std::array<const char*, kNumCallKinds> kCallNames{
    "allreduce", "bcast",  "reduce",  "allgather",
    "alltoall",  "gather", "scatter", "reduce_scatter_block",
    "scan",      "barrier"};

constexpr bool is_one_of(CallKind kind, std::initializer_list<CallKind> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}
constexpr bool reduces(CallKind kind) {
  return is_one_of(kind, {CallKind::kAllreduce, CallKind::kReduce, CallKind::kReduceScatterBlock,
                          CallKind::kScan});
}
constexpr bool has_root(CallKind kind) {
  return is_one_of(kind,
                   {CallKind::kBcast, CallKind::kReduce, CallKind::kGather, CallKind::kScatter});
}
// All ranks must have the same result, bit for bit.
constexpr bool gives_all_the_same(CallKind kind) {
  return is_one_of(kind, {CallKind::kAllreduce, CallKind::kBcast, CallKind::kAllgather});
}

// What is alike in all ranks of the communicator.
struct FuzzedCall {
  CallKind kind = CallKind::kBarrier;
  const ElementType* type = nullptr;
  TestedOp op = TestedOp::kSum;
  ValueRange range = ValueRange::kAny;
  int count = 0;
  int root = 0;
  bool in_place = false;         // where ranks have no choice of their own
  bool has_large_count = false;  // by the function with MPI_Count, where the library has it
  bool ordered = false;          // the bits of a sum are known
  std::size_t comm_index = 0;
  std::uint64_t seed = 0;
};

// What a rank chooses for itself.
struct OwnChoice {
  bool in_place = false;
  // Of MPI_Bcast, and of what comes in a call that moves other data: a datatype with a gap behind
  // each element. Of these, the same for what is brought. Of MPI_Bcast: one with the elements in
  // descending order.
  bool strided = false;
  bool strided_in = false;
  bool backwards = false;
  std::size_t offset = 0;                 // of the buffers, in units of the elements' alignment
  MPI_Datatype type = MPI_DATATYPE_NULL;  // a synonym of the call's
};

// Elements `stride` apart, with guards before, between and behind them. Backwards, the last one is
// the first in memory.
class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  GuardedBuffer(const ElementType& type, std::size_t count, std::size_t offset, std::size_t stride,
                bool is_backwards = false)
      : bytes_(type.bytes),
        step_(type.bytes * stride),
        count_(count),
        begin_(kGuard + type.alignment * offset),
        is_backwards_(is_backwards),
        memory_(begin_ + step_ * count + kGuard, kGuardByte) {}

  std::byte* at(std::size_t i) { return memory_.data() + place_of(i); }
  const std::byte* at(std::size_t i) const { return memory_.data() + place_of(i); }
  void* data() { return memory_.data() + begin_; }

  // The offset from the first element of a guard that was written to; nothing if none was.
  std::string broken_guard() const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const bool is_element =
          i >= begin_ && i < begin_ + step_ * count_ && (i - begin_) % step_ < bytes_;
      if (is_element || memory_[i] == kGuardByte) continue;
      return std::to_string(static_cast<long>(i) - static_cast<long>(begin_));
    }
    return "";
  }
  bool operator==(const GuardedBuffer& other) const { return memory_ == other.memory_; }

 private:
  template <class T>
  struct AlignedAllocator {
    using value_type = T;
    AlignedAllocator() = default;
    template <class U>
    explicit AlignedAllocator(const AlignedAllocator<U>&) {}
    T* allocate(std::size_t count) {
      return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{kGuard}));
    }
    void deallocate(T* memory, std::size_t) { ::operator delete(memory, std::align_val_t{kGuard}); }
    bool operator==(const AlignedAllocator&) const { return true; }
  };

  static constexpr std::size_t kGuard = 128;
  static constexpr std::byte kGuardByte{0xA5};

  std::size_t place_of(std::size_t i) const {
    return begin_ + (is_backwards_ ? count_ - 1 - i : i) * step_;
  }

  std::size_t bytes_ = 0, step_ = 1, count_ = 0, begin_ = 0;
  bool is_backwards_ = false;
  std::vector<std::byte, AlignedAllocator<std::byte>> memory_;
};

// A call in this rank: first made, then run, then checked.
class OwnCall {
 public:
  OwnCall(const FuzzedCall& call, MPI_Comm comm, const OwnChoice& choice)
      : call_(call), comm_(comm), choice_(choice) {
    MPI_Comm_rank(comm, &me_);
    MPI_Comm_size(comm, &num_ranks_);
    if (call.kind != CallKind::kBarrier) make_buffers();
  }

  void run() {
    if (call_.kind == CallKind::kBarrier) {
      MPI_Barrier(comm_);
    } else if (call_.kind == CallKind::kBcast) {
      broadcast();
    } else if (reduces(call_.kind)) {
      reduce();
    } else {
      move();
    }
  }

  // What is wrong; empty if all is right.
  std::string problem() const {
    if (call_.kind == CallKind::kBarrier) return "";
    for (const GuardedBuffer* buffer : {&in_, &out_}) {
      const std::string at = buffer->broken_guard();
      if (!at.empty())
        return std::string("a byte outside the elements of the ") +
               (buffer == &in_ ? "send" : "receive") + " buffer was written to, " + at +
               " bytes from its first element";
    }
    if (!(in_ == in_before_)) return "the send buffer has changed";
    if (!gets_result())
      return out_ == out_before_ ? "" : "the buffer of another rank than the root";
    std::vector<OneElement> inputs;
    for (std::size_t i = 0; i < num_results(); ++i) {
      const std::string found = problem_of(i, inputs);
      if (!found.empty()) return found;
    }
    return "";
  }

  // Over the result; the same in two ranks with the same values.
  std::uint64_t result_hash() const {
    std::uint64_t hash = kEmptyHash;
    for (std::size_t i = 0; gets_result() && i < num_results(); ++i)
      hash = call_.type->hash(out_.at(i), hash);
    return hash;
  }

  const FuzzedCall& call() const { return call_; }

 private:
  std::size_t count() const { return static_cast<std::size_t>(call_.count); }
  std::size_t ranks() const { return static_cast<std::size_t>(num_ranks_); }
  bool is_root() const { return me_ == call_.root; }
  bool gets_result() const {
    return call_.kind != CallKind::kBarrier &&
           (!is_one_of(call_.kind, {CallKind::kReduce, CallKind::kGather}) || is_root());
  }
  // Ranks that get no result pass null, or a buffer that must stay as it is.
  void* receive_buffer() {
    return gets_result() || choice_.offset % 2 != 0 ? out_.data() : nullptr;
  }
  // Whether this rank passes MPI_IN_PLACE.
  bool in_place() const {
    if (call_.kind == CallKind::kBcast) return false;
    if (has_root(call_.kind)) return call_.in_place && is_root();
    return choice_.in_place;
  }
  // The elements of the call's buffers in this rank.
  std::size_t num_sent() const {
    if (call_.kind == CallKind::kScatter) return is_root() ? ranks() * count() : 0;
    const bool to_each =
        is_one_of(call_.kind, {CallKind::kAlltoall, CallKind::kReduceScatterBlock});
    return to_each ? ranks() * count() : count();
  }
  std::size_t num_results() const {
    const bool from_each =
        is_one_of(call_.kind, {CallKind::kAllgather, CallKind::kAlltoall, CallKind::kGather});
    return from_each ? ranks() * count() : count();
  }

  // Element `index` of what rank `source` sends.
  OneElement sent(std::size_t source, std::size_t index) const {
    OneElement element{};
    call_.type->fill(element.data(), mix(call_.seed ^ mix(source << 32 | index)), call_.op,
                     call_.range);
    return element;
  }

  // What this rank sends is in the send buffer, or with MPI_IN_PLACE where the call looks for it.
  void make_buffers() {
    const ElementType& type = *call_.type;
    const std::size_t stride = choice_.strided ? 2 : 1;
    const bool is_bcast = call_.kind == CallKind::kBcast;
    const std::size_t num_out = in_place() ? std::max(num_sent(), num_results()) : num_results();
    in_ = GuardedBuffer(type, is_bcast || in_place() ? 0 : num_sent(), choice_.offset,
                        choice_.strided_in ? 2 : 1);
    out_ = GuardedBuffer(type, num_out, choice_.offset, stride, choice_.backwards);
    GuardedBuffer& from = is_bcast || in_place() ? out_ : in_;
    const bool own_block =
        in_place() && is_one_of(call_.kind, {CallKind::kAllgather, CallKind::kGather});
    const std::size_t first = own_block ? static_cast<std::size_t>(me_) * count() : 0;
    if (in_place() && call_.kind == CallKind::kScatter) {
      in_ = GuardedBuffer(type, num_sent(), choice_.offset, choice_.strided_in ? 2 : 1);
      fill(in_, 0);
      out_ = GuardedBuffer(type, count(), choice_.offset, stride);  // which the call leaves alone
      for (std::size_t i = 0; i < count(); ++i) put(out_.at(i), sent(ranks(), i), type.bytes);
    } else if (!is_bcast || is_root()) {
      fill(from, first);
    }
    in_before_ = in_;
    out_before_ = out_;
  }
  void fill(GuardedBuffer& buffer, std::size_t first) const {
    for (std::size_t i = 0; i < num_sent(); ++i)
      put(buffer.at(first + i), sent(static_cast<std::size_t>(me_), i), call_.type->bytes);
  }
  static void put(std::byte* to, const OneElement& element, std::size_t bytes) {
    std::memcpy(to, element.data(), bytes);
  }

  void broadcast() {
    MPI_Datatype type = choice_.type;
    int count = call_.count;
    if (choice_.strided) MPI_Type_vector(call_.count, 1, 2, choice_.type, &type);
    if (choice_.backwards) type = make_backwards();
    const bool is_made = type != choice_.type;
    if (is_made) {
      MPI_Type_commit(&type);
      count = 1;
    }
#if MPI_VERSION >= 4
    if (call_.has_large_count) {
      MPI_Bcast_c(out_.data(), count, type, call_.root, comm_);
    } else
#endif
      MPI_Bcast(out_.data(), count, type, call_.root, comm_);
    if (is_made) MPI_Type_free(&type);
  }
  MPI_Datatype make_backwards() const {
    const std::vector<int> lengths(count(), 1);
    std::vector<MPI_Aint> places;
    for (std::size_t i = count(); i > 0; --i)
      places.push_back(static_cast<MPI_Aint>((i - 1) * call_.type->bytes));
    MPI_Datatype type;
    MPI_Type_create_hindexed(call_.count, lengths.data(), places.data(), choice_.type, &type);
    return type;
  }

  void reduce() {
    const void* const from = in_place() ? MPI_IN_PLACE : in_.data();
    void* const to = receive_buffer();
    const MPI_Op op = mpi_op(call_.op);
    const int count = call_.count;
    const MPI_Datatype type = choice_.type;
    switch (call_.kind) {
      case CallKind::kAllreduce:
#if MPI_VERSION >= 4
        if (call_.has_large_count) {
          MPI_Allreduce_c(from, to, count, type, op, comm_);
          break;
        }
#endif
        MPI_Allreduce(from, to, count, type, op, comm_);
        break;
      case CallKind::kReduce:
#if MPI_VERSION >= 4
        if (call_.has_large_count) {
          MPI_Reduce_c(from, to, count, type, op, call_.root, comm_);
          break;
        }
#endif
        MPI_Reduce(from, to, count, type, op, call_.root, comm_);
        break;
      case CallKind::kScan:
        MPI_Scan(from, to, count, type, op, comm_);
        break;
      default:
#if MPI_VERSION >= 4
        if (call_.has_large_count) {
          MPI_Reduce_scatter_block_c(from, to, count, type, op, comm_);
          break;
        }
#endif
        MPI_Reduce_scatter_block(from, to, count, type, op, comm_);
        break;
    }
  }

  // Elements of the call's type with a gap behind each.
  class StridedType {
   public:
    StridedType(MPI_Datatype type, std::size_t bytes, bool is_strided)
        : type_(type), is_made_(is_strided) {
      if (!is_made_) return;
      MPI_Type_create_resized(type, 0, static_cast<MPI_Aint>(2 * bytes), &type_);
      MPI_Type_commit(&type_);
    }
    ~StridedType() {
      if (is_made_) MPI_Type_free(&type_);
    }
    StridedType(const StridedType&) = delete;
    StridedType& operator=(const StridedType&) = delete;

    operator MPI_Datatype() const { return type_; }

   private:
    MPI_Datatype type_;
    bool is_made_;
  };

  void move() {
    const StridedType in(choice_.type, call_.type->bytes, choice_.strided_in);
    const StridedType out(choice_.type, call_.type->bytes, choice_.strided);
    if (has_root(call_.kind)) {
      move_from_or_to_root(in, out);
    } else {
      exchange(in, out);
    }
  }

  void exchange(MPI_Datatype in, MPI_Datatype out) {
    const void* const from = in_place() ? MPI_IN_PLACE : in_.data();
    const int count = call_.count;
    const bool is_allgather = call_.kind == CallKind::kAllgather;
#if MPI_VERSION >= 4
    if (call_.has_large_count) {
      (is_allgather ? MPI_Allgather_c : MPI_Alltoall_c)(from, count, in, out_.data(), count, out,
                                                        comm_);
      return;
    }
#endif
    (is_allgather ? MPI_Allgather : MPI_Alltoall)(from, count, in, out_.data(), count, out, comm_);
  }

  void move_from_or_to_root(MPI_Datatype in, MPI_Datatype out) {
    const bool is_gather = call_.kind == CallKind::kGather;
    const void* from = is_gather || is_root() ? in_.data() : nullptr;
    void* to = receive_buffer();
    if (in_place() && is_gather) from = MPI_IN_PLACE;
    if (in_place() && !is_gather) to = MPI_IN_PLACE;
    const int count = call_.count, root = call_.root;
#if MPI_VERSION >= 4
    if (call_.has_large_count) {
      (is_gather ? MPI_Gather_c : MPI_Scatter_c)(from, count, in, to, count, out, root, comm_);
      return;
    }
#endif
    (is_gather ? MPI_Gather : MPI_Scatter)(from, count, in, to, count, out, root, comm_);
  }

  // Element i of the result. `inputs` is room for what it follows from.
  std::string problem_of(std::size_t i, std::vector<OneElement>& inputs) const {
    const ElementType& type = *call_.type;
    if (!reduces(call_.kind)) {
      const OneElement wanted = moved(i);
      if (type.hash(out_.at(i), kEmptyHash) == type.hash(wanted.data(), kEmptyHash)) return "";
      return message(i, "expected " + type.text(wanted.data()));
    }
    const auto me = static_cast<std::size_t>(me_);
    const std::size_t index = call_.kind == CallKind::kReduceScatterBlock ? me * count() + i : i;
    inputs.clear();
    for (std::size_t rank = 0; rank < (call_.kind == CallKind::kScan ? me + 1 : ranks()); ++rank)
      inputs.push_back(sent(rank, index));
    if (type.is_right(out_.at(i), inputs, call_.op, call_.ordered)) return "";
    std::string of;
    for (const OneElement& input : inputs) of += (of.empty() ? "" : ", ") + type.text(input.data());
    return message(i, "which is not the reduction of " + of);
  }
  std::string message(std::size_t i, const std::string& what) const {
    return "element " + std::to_string(i) + " is " + call_.type->text(out_.at(i)) + ", " + what;
  }

  // Element i of the result of a call that reduces nothing.
  OneElement moved(std::size_t i) const {
    const auto me = static_cast<std::size_t>(me_), root = static_cast<std::size_t>(call_.root);
    const std::size_t n = count();
    switch (call_.kind) {
      case CallKind::kBcast:
        return sent(root, i);
      case CallKind::kScatter:
        return in_place() ? sent(ranks(), i) : sent(root, me * n + i);
      case CallKind::kAlltoall:
        return sent(i / n, me * n + i % n);
      default:
        return sent(i / n, i % n);
    }
  }

  FuzzedCall call_;
  MPI_Comm comm_;
  OwnChoice choice_;
  int me_ = 0;
  int num_ranks_ = 1;
  GuardedBuffer in_, in_before_, out_, out_before_;
};

}  // namespace hierbar::test
