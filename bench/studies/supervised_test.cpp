#include "supervised.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/json.hpp"
#include "config/config.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::studies {
namespace {

constexpr double kLong = 100;

std::string text_of(const std::string& path) {
  const auto bytes = os::read_file(path, 4096);
  return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : std::string();
}

/// The worker records its directory and process, which the test checks afterwards.
class Supervised : public testing::Test {
 protected:
  base::Status note(const std::string& directory) const {
    const std::string text = directory + "\n" + std::to_string(os::process_id());
    return os::write_file_atomically(note_, base::as_bytes(text));
  }
  std::string directory() const { return text_of(note_).substr(0, text_of(note_).find('\n')); }
  pid_t worker() const { return std::atoi(text_of(note_).substr(directory().size() + 1).c_str()); }
  bool gone() const { return !*os::exists(directory()) && !os::process_alive(worker()); }
  void expect_nothing_remains() const {
    ASSERT_NE(directory(), "");
    EXPECT_TRUE(test_support::eventually("the worker and its directory are gone", [this] { return gone(); }))
        << text_of(note_);
  }
  base::Result<base::Json> hang(const std::string& directory) const {
    PERDURE_CHECK(os::write_file_atomically(directory + "/content", base::as_bytes(std::string("left behind?"))));
    PERDURE_CHECK(note(directory));
    for (;;) os::sleep_ns(1'000'000'000);  // wait: it hangs
  }
  test_support::TemporaryDirectory temporary_;
  std::string note_ = temporary_ / "note";
};

TEST_F(Supervised, WhatTheWorkReturnsComesBack) {
  const auto value = run_supervised(kLong, [&](const std::string& directory) -> base::Result<base::Json> {
    PERDURE_CHECK(note(directory));
    PERDURE_TRY(const bool there, os::exists(directory));
    return base::Json{{"there", there}, {"much", std::string(1 << 20, 'x')}};
  });
  ASSERT_TRUE(value) << value.error().text();
  EXPECT_TRUE((*value)["there"].get<bool>());
  EXPECT_EQ((*value)["much"].get<std::string>().size(), 1U << 20) << "more than a pipe holds";
  EXPECT_NE(worker(), os::process_id());
  expect_nothing_remains();
}

TEST_F(Supervised, SoDoesItsError) {
  const auto failed = run_supervised(kLong, [&](const std::string& directory) -> base::Result<base::Json> {
    PERDURE_CHECK(note(directory));
    return base::fail(PERDURE_NO_SPACE, "tiers", "they are full", "raise something");
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, PERDURE_NO_SPACE);
  EXPECT_EQ(failed.error().text(), base::Error({PERDURE_NO_SPACE, "tiers", "they are full", "raise something"}).text());
  expect_nothing_remains();
}

TEST_F(Supervised, WorkThatDiesIsAnError) {
  const auto died = run_supervised(kLong, [&](const std::string& directory) -> base::Result<base::Json> {
    PERDURE_CHECK(note(directory));
    ::raise(SIGKILL);
    return base::Json();
  });
  ASSERT_FALSE(died);
  EXPECT_EQ(died.error().code, PERDURE_PEER_FAILED);
  expect_nothing_remains();
}

TEST_F(Supervised, WorkThatHangsIsEnded) {
  const auto late = run_supervised(0.5, [&](const std::string& directory) { return hang(directory); });
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, PERDURE_TIMEOUT);
}

TEST_F(Supervised, NothingRemainsWhenTheOneWhoWaitsIsKilled) {
  const pid_t waiting = ::fork();
  if (waiting == 0) {
    (void)run_supervised(kLong, [&](const std::string& directory) { return hang(directory); });
    ::_exit(0);
  }
  ASSERT_TRUE(test_support::eventually("the worker has begun", [this] { return !directory().empty(); }));
  EXPECT_TRUE(*os::exists(directory() + "/content"));
  ::kill(waiting, SIGKILL);
  ::waitpid(waiting, nullptr, 0);
  expect_nothing_remains();
}

TEST_F(Supervised, TheEnvironmentDoesNotReachTheWork) {
  ::setenv("PERDURE_CHUNK_BYTES", "1MiB", 1);
  const auto value = run_supervised(kLong, [&](const std::string&) -> base::Result<base::Json> {
    PERDURE_TRY(const auto config, config::load("chunk_bytes=64KiB"));
    return base::Json{{"chunk", config.bytes("chunk_bytes")}};
  });
  ::unsetenv("PERDURE_CHUNK_BYTES");
  ASSERT_TRUE(value) << value.error().text();
  EXPECT_EQ((*value)["chunk"], 65536);
}

}  // namespace
}  // namespace perdure::studies
