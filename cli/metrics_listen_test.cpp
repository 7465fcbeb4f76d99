// The real program `perdure metrics --listen`: what a scraper sees of it, and how it ends.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/file.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ListeningProgram : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const std::string node = directory_ / "node";
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDERR_FILENO);
      ::execl(PERDURE_PROGRAM, PERDURE_PROGRAM, "metrics", "--listen", "127.0.0.1:0", "--node", node.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    error_ = os::Fd(ends[0]);
    for (char c = 0; said_.find('\n') == std::string::npos && ::read(error_.get(), &c, 1) == 1;) said_ += c;
    ASSERT_THAT(said_, StartsWith("perdure: metrics at http://127.0.0.1:"));
    port_ = static_cast<std::uint16_t>(std::stoul(said_.substr(said_.rfind(':') + 1)));
  }
  void TearDown() override {
    if (pid_ > 0) end(SIGKILL);
  }
  int end(int signal) {
    int status = 0;
    ::kill(pid_, signal);
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string ask(const std::string& request) const {
    const os::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
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

}  // namespace
}  // namespace perdure::cli
