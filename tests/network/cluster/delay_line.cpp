// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The network of a cluster on one machine: carries packets between network namespaces, each of them
// late by the same time. Kernels often lack netem, which would do it.
//
//   delay_line DELAY_US FAR_US PID...
//
// makes a TUN device net0 in the network namespace of each process, and prints "ready". A packet to
// 192.0.2.I goes to the I-th of them. Between the first half of them and the second it takes
// FAR_US. It runs until it is killed; the devices go with it.

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Packet = std::vector<char>;

constexpr std::size_t kMostBytes = 65536;
constexpr std::size_t kMostWaiting =
    4096;  // packets on their way to one node; more are lost, as in a switch

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

int open_device(const char* pid, int home) {
  const int space = open((std::string("/proc/") + pid + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC);
  if (space < 0 || setns(space, CLONE_NEWNET) != 0) fail("network namespace");
  const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ifreq request{};
  std::strcpy(request.ifr_name, "net0");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (device < 0 || ioctl(device, TUNSETIFF, &request) != 0) fail("TUN device");
  if (setns(home, CLONE_NEWNET) != 0) fail("own network namespace");
  close(space);
  return device;
}

// One direction between two nodes. Every packet takes equally long, so they stay in order.
struct Link {
  Clock::duration delay{};
  struct Waiting {
    Clock::time_point due;
    Packet packet;
  };
  std::deque<Waiting> waiting;
};

class DelayLine {
 public:
  DelayLine(std::vector<int> devices, Clock::duration near, Clock::duration far)
      : devices_(std::move(devices)), links_(size() * size()) {
    for (std::size_t from = 0; from < size(); ++from) {
      for (std::size_t to = 0; to < size(); ++to)
        link(from, to).delay = half_of(from) == half_of(to) ? near : far;
    }
  }

  [[noreturn]] void run() {
    std::vector<pollfd> polled;
    for (const int device : devices_) polled.push_back({device, POLLIN, 0});
    for (;;) {
      const timespec timeout = until_next();
      if (ppoll(polled.data(), polled.size(), &timeout, nullptr) < 0) fail("ppoll");
      for (std::size_t from = 0; from < size(); ++from) {
        if (polled[from].revents != 0) take_in(from);
      }
      deliver();
    }
  }

 private:
  std::size_t size() const { return devices_.size(); }
  bool half_of(std::size_t node) const { return 2 * node >= size(); }
  Link& link(std::size_t from, std::size_t to) { return links_[from * size() + to]; }

  void take_in(std::size_t from) {
    std::array<char, kMostBytes> buffer;
    for (ssize_t count; (count = read(devices_[from], buffer.data(), buffer.size())) > 0;) {
      constexpr std::size_t kHeader = 20, kDestination = 16;
      if (static_cast<std::size_t>(count) < kHeader || (buffer[0] >> 4) != 4) continue;
      in_addr destination{};
      std::memcpy(&destination, buffer.data() + kDestination, sizeof destination);
      const std::size_t to = (ntohl(destination.s_addr) & 0xff) - std::size_t{1};
      if (to >= size() || link(from, to).waiting.size() == kMostWaiting) continue;
      link(from, to).waiting.push_back(
          {Clock::now() + link(from, to).delay, Packet(buffer.data(), buffer.data() + count)});
    }
  }

  void deliver() {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      std::deque<Link::Waiting>& waiting = links_[i].waiting;
      while (!waiting.empty() && waiting.front().due <= Clock::now()) {
        const Packet& packet = waiting.front().packet;
        // A full device loses the packet; TCP sends it again.
        if (write(devices_[i % size()], packet.data(), packet.size()) < 0 && errno != EAGAIN &&
            errno != EIO)
          fail("write");
        waiting.pop_front();
      }
    }
  }

  timespec until_next() const {
    Clock::duration wait = std::chrono::seconds(1);
    for (const Link& link : links_) {
      if (!link.waiting.empty()) wait = std::min(wait, link.waiting.front().due - Clock::now());
    }
    const long ns =
        std::max<long>(0, std::chrono::duration_cast<std::chrono::nanoseconds>(wait).count());
    return {ns / 1000000000, ns % 1000000000};
  }

  std::vector<int> devices_;
  std::vector<Link> links_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5 || argc > 3 + 200) {
    std::fputs("usage: delay_line DELAY_US FAR_US PID PID...\n", stderr);
    return 2;
  }
  const int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  if (home < 0) fail("own network namespace");
  std::vector<int> devices;
  for (int i = 3; i < argc; ++i) devices.push_back(open_device(argv[i], home));
  // Ranks may spin on every cpu. Without this, packets wait for a time slice.
  const sched_param priority{.sched_priority = 10};
  if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0)
    std::perror("delay_line: no real-time priority, so delays are longer");
  std::puts("ready");
  std::fflush(stdout);
  DelayLine(devices, std::chrono::microseconds(std::atol(argv[1])),
            std::chrono::microseconds(std::atol(argv[2])))
      .run();
}
