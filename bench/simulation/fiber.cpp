// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// makecontext() gives a fiber its stack. Later switches use _setjmp and _longjmp. swapcontext()
// would make a system call for the signal mask each time, which would take most of the time of a
// simulated run. _FORTIFY_SOURCE is undefined, because its checked longjmp refuses to change
// stacks.
#undef _FORTIFY_SOURCE

#include "bench/simulation/fiber.hpp"

#include <ucontext.h>

#include <cstdint>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#define HIERBAR_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HIERBAR_FIBER_ASAN 1
#endif
#endif

#if defined(HIERBAR_FIBER_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

// For functions that are left by a jump. AddressSanitizer's marks of their variables would stay
// behind on the stack.
#define HIERBAR_LEFT_BY_A_JUMP __attribute__((no_sanitize("address")))

namespace hierbar {

HIERBAR_LEFT_BY_A_JUMP void Fiber::switch_to(Fiber& next) {
  next.came_from_ = this;
#if defined(HIERBAR_FIBER_ASAN)
  __sanitizer_start_switch_fiber(&fake_stack_, next.stack_bottom_, next.stack_bytes_);
#endif
  if (_setjmp(registers_) == 0) {
    if (next.stack_ != nullptr && !next.started_) next.start();
    _longjmp(next.registers_, 1);
  }
  arrived();
}

// Tells AddressSanitizer that the switch is complete. It reports the place of the stack that was
// left.
void Fiber::arrived() {
#if defined(HIERBAR_FIBER_ASAN)
  __sanitizer_finish_switch_fiber(fake_stack_, &came_from_->stack_bottom_,
                                  &came_from_->stack_bytes_);
#endif
}

HIERBAR_LEFT_BY_A_JUMP void Fiber::start() {
  started_ = true;
  ucontext_t context;
  if (getcontext(&context) != 0) std::abort();
  context.uc_stack.ss_sp = stack_.get();
  context.uc_stack.ss_size = kStackBytes;
  context.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  // makecontext() can pass only ints.
  const auto entry = reinterpret_cast<void (*)()>(reinterpret_cast<void*>(&Fiber::enter));
  makecontext(&context, entry, 2, static_cast<unsigned>(std::uint64_t{self} >> 32),
              static_cast<unsigned>(self));
  setcontext(&context);
  std::abort();
}

void Fiber::enter(unsigned high, unsigned low) {
  auto* self =
      reinterpret_cast<Fiber*>(static_cast<std::uintptr_t>(std::uint64_t{high} << 32 | low));
  self->arrived();
  self->body_();
  std::abort();
}

}  // namespace hierbar
