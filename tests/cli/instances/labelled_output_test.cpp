// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/instances/labelled_output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

namespace hierbar {
namespace {

TEST(LabelledLines, AreWhole) {
  LabelledLines lines("[3] ");
  EXPECT_EQ(lines.take("one\ntw"), "[3] one\n");
  EXPECT_EQ(lines.take("o"), "");
  EXPECT_EQ(lines.take("\n\nthree\n"), "[3] two\n[3] \n[3] three\n");
  EXPECT_EQ(lines.finish(), "");
  EXPECT_EQ(lines.take("rest"), "");
  EXPECT_EQ(lines.finish(), "[3] rest\n");
  EXPECT_EQ(lines.finish(), "");
}

TEST(LabelledLines, AreCutIfTheyAreTooLong) {
  LabelledLines lines("");
  const std::string most(LabelledLines::kMostBytes, 'x');
  EXPECT_EQ(lines.take(most.substr(1)), "");
  EXPECT_EQ(lines.take("xyz"), most + "\n");
  EXPECT_EQ(lines.take("\n"), "yz\n");
  EXPECT_EQ(lines.take(most + "\n"), most + "\n") << "no empty line behind it";
}

struct TestPipe {
  TestPipe() { EXPECT_EQ(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0); }
  ~TestPipe() {
    close(ends[1]);
    if (ends[0] >= 0) close(ends[0]);
  }
  std::string read_all() const {
    std::string text(1 << 20, '\0');
    const ssize_t size = read(ends[0], text.data(), text.size());
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
  }
  int ends[2] = {-1, -1};
};

TEST(OutputQueue, KeepsTheOrderOfAllFiles) {
  const TestPipe one;
  const TestPipe other;
  OutputQueue queue;
  queue.push(one.ends[1], "a\n");
  queue.push(other.ends[1], "b\n");
  queue.push(one.ends[1], "c\n");
  queue.push(one.ends[1], "");
  EXPECT_EQ(queue.file(), one.ends[1]);
  EXPECT_EQ(queue.write_some(), 0);
  EXPECT_EQ(queue.file(), other.ends[1]);
  EXPECT_EQ(one.read_all(), "a\n");
  EXPECT_EQ(queue.write_some(), 0);
  EXPECT_EQ(queue.write_some(), 0);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.file(), -1);
  EXPECT_EQ(other.read_all(), "b\n");
  EXPECT_EQ(one.read_all(), "c\n");
}

TEST(OutputQueue, WritesNoMoreThanAPipeWithRoomTakes) {
  const TestPipe pipe;
  fcntl(pipe.ends[1], F_SETFL, 0);  // a write that finds no room would wait for ever
  OutputQueue queue;
  queue.push(pipe.ends[1], std::string(1 << 20, 'x') + "\n");
  EXPECT_TRUE(queue.is_full());
  std::size_t num_read = 0;
  while (!queue.empty()) {
    pollfd file{pipe.ends[1], POLLOUT, 0};
    if (poll(&file, 1, 0) == 1) {
      ASSERT_EQ(queue.write_some(), 0);
    } else {
      num_read += pipe.read_all().size();
    }
  }
  EXPECT_FALSE(queue.is_full());
  EXPECT_EQ(num_read + pipe.read_all().size(), (1 << 20) + 1U);
}

TEST(OutputQueue, DropsWhatWaitsForAReaderThatIsGone) {
  signal(SIGPIPE, SIG_IGN);
  TestPipe gone;
  const TestPipe other;
  OutputQueue queue;
  queue.push(gone.ends[1], "a\n");
  queue.push(other.ends[1], "b\n");
  queue.push(gone.ends[1], "c\n");
  close(gone.ends[0]);
  gone.ends[0] = -1;
  EXPECT_EQ(queue.write_some(), EPIPE);
  EXPECT_EQ(queue.file(), other.ends[1]);
  EXPECT_EQ(queue.write_some(), 0);
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.is_full());
  EXPECT_EQ(other.read_all(), "b\n");
}

}  // namespace
}  // namespace hierbar
