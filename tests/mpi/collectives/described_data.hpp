// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Data that ranks describe to MPI in different ways.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hierbar::test {

// How a rank describes `count` elements of MPI_INT. The signature is the same in all.
enum class Form : std::uint8_t {
  kPlain,      // by the count
  kBlock,      // one element of a contiguous type
  kGaps,       // one vector with a gap behind each element but the last
  kBackwards,  // one type whose elements lie in descending order, without a gap
  kAddresses,  // the same with addresses, from MPI_BOTTOM
  kPairs       // half as many elements of two, where the count is even
};
inline constexpr std::uint32_t kNumForms = 6;

// Memory for the elements of some parts, each described in the same way, and guards.
class DescribedData {
 public:
  DescribedData(Form form, int count, int num_parts = 1)
      : form_(form),
        count_(count),
        num_parts_(num_parts),
        memory_(static_cast<std::size_t>(num_parts * extent() + 2), kUntouched) {
    if (form == Form::kBlock) MPI_Type_contiguous(count, MPI_INT, &type_);
    if (form == Form::kGaps) MPI_Type_vector(count, 1, 2, MPI_INT, &type_);
    if (form == Form::kPairs && count % 2 == 0) MPI_Type_contiguous(2, MPI_INT, &type_);
    if (is_backwards()) make_backwards();
    if (type_ != MPI_INT) MPI_Type_commit(&type_);
  }
  ~DescribedData() {
    if (type_ != MPI_INT) MPI_Type_free(&type_);
  }
  DescribedData(const DescribedData&) = delete;
  DescribedData& operator=(const DescribedData&) = delete;

  int& at(int i, int part = 0) {
    const int place = is_backwards() ? count_ - 1 - i : form_ == Form::kGaps ? 2 * i : i;
    return memory_[static_cast<std::size_t>(part * extent() + place) + 1];
  }
  void* data() { return form_ == Form::kAddresses ? MPI_BOTTOM : &memory_[1]; }
  MPI_Datatype type() const { return type_; }
  // Of one part.
  int num_elements() const {
    if (type_ == MPI_INT) return count_;
    return form_ == Form::kPairs ? count_ / 2 : 1;
  }

  // Whether what is no element is as it was.
  bool has_guards() {
    std::size_t num_elements = 0;
    for (const int value : memory_) num_elements += value != kUntouched;
    return memory_.front() == kUntouched && memory_.back() == kUntouched &&
           num_elements <= static_cast<std::size_t>(count_ * num_parts_);
  }

 private:
  static constexpr int kUntouched = 7777;  // no element is that large

  bool is_backwards() const { return form_ == Form::kBackwards || form_ == Form::kAddresses; }
  int extent() const { return form_ == Form::kGaps ? 2 * count_ - 1 : count_; }
  void make_backwards() {
    MPI_Aint begin = 0;
    if (form_ == Form::kAddresses) MPI_Get_address(&memory_[1], &begin);
    std::vector<int> lengths(static_cast<std::size_t>(count_), 1);
    std::vector<MPI_Aint> places;
    for (int i = count_; i > 0; --i)
      places.push_back(begin + static_cast<MPI_Aint>(sizeof(int)) * (i - 1));
    MPI_Type_create_hindexed(count_, lengths.data(), places.data(), MPI_INT, &type_);
  }

  Form form_;
  int count_;
  int num_parts_;
  std::vector<int> memory_;
  MPI_Datatype type_ = MPI_INT;
};

}  // namespace hierbar::test
