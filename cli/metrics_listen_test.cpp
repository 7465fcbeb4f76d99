// A scraper sees the pages of the real program `perdure metrics --listen`, and how it ends.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/file.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr int kListenLimit_ms = 60'000;

class ListeningProgram : public testing::Test {
 protected:
  void SetUp() override { start(); }
  /// Ignores a signal that is not 0 from the beginning, as nohup and shells do.
  void start(int ignored = 0) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const std::string node = directory_ / "node";
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    ASSERT_GE(pid_, 0);
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(126);
      for (const int one : {SIGTERM, SIGINT, SIGHUP}) ::signal(one, one == ignored ? SIG_IGN : SIG_DFL);
      ::dup2(ends[1], STDERR_FILENO);
      ::execl(PERDURE_PROGRAM, PERDURE_PROGRAM, "metrics", "--listen", "127.0.0.1:0", "--node", node.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    error_ = os::Fd(ends[0]);
    said_.clear();
    for (char c = 0; said_.find('\n') == std::string::npos;) {
      pollfd waiting{error_.get(), POLLIN, 0};
      ASSERT_GT(::poll(&waiting, 1, kListenLimit_ms), 0) << "it says nothing";
      if (::read(error_.get(), &c, 1) != 1) break;
      said_ += c;
    }
    ASSERT_THAT(said_, StartsWith("perdure: metrics at http://127.0.0.1:"));
    port_ = static_cast<std::uint16_t>(std::stoul(said_.substr(said_.rfind(':') + 1)));
  }
  void TearDown() override {
    if (pid_ > 0) end(SIGKILL);
  }
  /// Ends it by `signal`; if it does not end for very long, kills it and fails.
  int end(int signal) {
    int status = 0;
    ::kill(pid_, signal);
    if (!test_support::eventually("it ends", [&] { return ::waitpid(pid_, &status, WNOHANG) != 0; })) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, &status, 0);
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string ask(const std::string& request) const {
    const os::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval limit{kListenLimit_ms / 1000, 0};
    EXPECT_EQ(::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port_);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    EXPECT_EQ(::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    std::string all;
    char bytes[4096];
    for (ssize_t got = 0; (got = ::recv(socket.get(), bytes, sizeof bytes, 0)) > 0;)
      all.append(bytes, static_cast<std::size_t>(got));
    return all;
  }

  test_support::TemporaryDirectory directory_;
  pid_t pid_ = -1;
  os::Fd error_;
  std::string said_;
  std::uint16_t port_ = 0;
};

TEST_F(ListeningProgram, ServesMetricsAndNothingElseUntilASignal) {
  const std::string metrics = ask("GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
  EXPECT_THAT(metrics, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(metrics, HasSubstr("\r\n\r\n# HELP perdure_engines "));
  EXPECT_TRUE(metrics.ends_with("\nperdure_engines 0\n")) << metrics;
  EXPECT_THAT(ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask("POST /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
  EXPECT_EQ(end(SIGTERM), 0);
}

TEST_F(ListeningProgram, EndsInOrderWhenItIsInterrupted) { EXPECT_EQ(end(SIGINT), 0); }

TEST_F(ListeningProgram, SignalsThatItIsToIgnoreDoNotEndIt) {
  for (const int signal : {SIGHUP, SIGINT}) {
    end(SIGKILL);
    ASSERT_NO_FATAL_FAILURE(start(signal));
    ASSERT_EQ(::kill(pid_, signal), 0);
    EXPECT_THAT(ask("GET /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
    EXPECT_EQ(end(SIGTERM), 0);
    ASSERT_NO_FATAL_FAILURE(start());
  }
}

}  // namespace
}  // namespace perdure::cli
