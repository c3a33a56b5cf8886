// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The collectives of the C API: arguments are checked and become calls of Collectives and OneWay.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "api/episode.hpp"
#include "fold/fold.hpp"
#include "hierbar/hierbar.h"

namespace {

using hierbar::ApiMem;
using hierbar::Element;
using hierbar::Operation;

// By hierbar_element, and by hierbar_operation.
constexpr Element kElements[] = {Element::kInt8,          Element::kInt16,
                                 Element::kInt32,         Element::kInt64,
                                 Element::kUint8,         Element::kUint16,
                                 Element::kUint32,        Element::kUint64,
                                 Element::kFloat,         Element::kDouble,
                                 Element::kLongDouble,    Element::kComplexFloat,
                                 Element::kComplexDouble, Element::kComplexLongDouble,
                                 Element::kBool};
static_assert(std::size(kElements) == HIERBAR_BOOL + 1);
constexpr Operation kOperations[] = {
    Operation::kSum, Operation::kProd, Operation::kMax,  Operation::kMin, Operation::kLand,
    Operation::kLor, Operation::kLxor, Operation::kBand, Operation::kBor, Operation::kBxor};
static_assert(std::size(kOperations) == HIERBAR_BXOR + 1);

// Null: one of the two does not exist, or the element does not have the operation.
hierbar::FoldFunction fold_of(std::uint32_t element, std::uint32_t operation) noexcept {
  if (element >= std::size(kElements) || operation >= std::size(kOperations)) return nullptr;
  return hierbar::find_fold(kOperations[operation], kElements[element]);
}

// A fold (collectives.hpp) by a function of the program, always from left to right.
struct ProgramsFold {
  hierbar_combine_fn combine;
  void* context;
  std::size_t element_bytes;

  // `out` may be one of the inputs, so it is written when all have been read.
  void operator()(void* out, const void* const* inputs, std::uint32_t num_inputs,
                  std::size_t count) const {
    if (count == 0) return;  // then there may be no addresses
    alignas(16) std::byte total[HIERBAR_MAX_COLLECTIVE_BYTES];
    std::memcpy(total, inputs[0], count * element_bytes);
    for (std::uint32_t i = 1; i < num_inputs; ++i) combine(context, total, inputs[i], count);
    std::memcpy(out, total, count * element_bytes);
  }
};

// Why a call is refused that brings or gets `count` elements, or HIERBAR_OK.
hierbar_status collective_problem(const hierbar_barrier* barrier, std::uint32_t participant,
                                  bool has_data, std::size_t count,
                                  std::size_t element_bytes) noexcept {
  if (!hierbar::is_participant(barrier, participant) || (!has_data && count != 0))
    return HIERBAR_ERR_INVALID;
  if (!barrier->collectives) return HIERBAR_ERR_UNSUPPORTED;
  return count > HIERBAR_MAX_COLLECTIVE_BYTES / element_bytes ? HIERBAR_ERR_TOO_LARGE : HIERBAR_OK;
}

template <class Fold>
hierbar_status allreduce(hierbar_barrier* barrier, std::uint32_t participant, const void* in,
                         void* out, std::size_t count, std::size_t element_bytes,
                         const Fold& fold) noexcept {
  if (const hierbar_status problem = collective_problem(
          barrier, participant, in != nullptr && out != nullptr, count, element_bytes);
      problem != HIERBAR_OK)
    return problem;
  return hierbar::run_episode(*barrier, participant, [&](ApiMem& mem) {
    return barrier->collectives->of_all.allreduce(mem, participant, in, out, count, element_bytes,
                                                  fold);
  });
}

}  // namespace

hierbar_status hierbar_allreduce(hierbar_barrier* barrier, std::uint32_t participant,
                                 const void* in, void* out, std::size_t count,
                                 hierbar_element element, hierbar_operation operation) {
  const hierbar::FoldFunction fold = fold_of(element, operation);
  if (fold == nullptr) return HIERBAR_ERR_INVALID;
  return allreduce(barrier, participant, in, out, count, hierbar::bytes_of(kElements[element]),
                   fold);
}

hierbar_status hierbar_allreduce_with(hierbar_barrier* barrier, std::uint32_t participant,
                                      const void* in, void* out, std::size_t count,
                                      std::size_t element_bytes, hierbar_combine_fn combine,
                                      void* context) {
  if (element_bytes == 0 || combine == nullptr) return HIERBAR_ERR_INVALID;
  return allreduce(barrier, participant, in, out, count, element_bytes,
                   ProgramsFold{combine, context, element_bytes});
}

hierbar_status hierbar_bcast(hierbar_barrier* barrier, std::uint32_t participant,
                             std::uint32_t root, void* data, std::size_t bytes) {
  if (const hierbar_status problem =
          collective_problem(barrier, participant, data != nullptr, bytes, 1);
      problem != HIERBAR_OK)
    return problem;
  if (!hierbar::is_participant(barrier, root)) return HIERBAR_ERR_INVALID;
  std::size_t brought_bytes = bytes;
  const hierbar_status status = hierbar::run_episode(*barrier, participant, [&](ApiMem& mem) {
    const auto bcast = barrier->collectives->one_way.bcast(mem, participant, root, data, bytes);
    brought_bytes = bcast.bytes;
    return bcast.result;
  });
  return status == HIERBAR_OK && brought_bytes != bytes ? HIERBAR_ERR_INVALID : status;
}
