// The server runs with real connections: hostile ones keep no other client waiting.
#include "cli/http_server.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "support/eventually.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class HttpServing : public testing::Test {
 protected:
  void start(HttpLimits limits = {}) {
    start(limits, [](const std::string& path) {
      return path == "/metrics" ? HttpReply{200, "text/x", std::string(3 << 20, 'm')} : refusal(404);
    });
  }
  void start(HttpLimits limits, std::function<HttpReply(const std::string&)> answer) {
    listener_ = os::listen_tcp({"127.0.0.1", 0}).value();
    stop_ = os::Fd(::eventfd(0, EFD_CLOEXEC));
    thread_ = std::thread(
        [this, limits, answer = std::move(answer)] { served_ = serve_http(listener_.socket, stop_, answer, limits); });
  }
  ~HttpServing() override {
    ask_to_stop();
    thread_.join();
    EXPECT_TRUE(served_) << served_.error().text();
  }
  void ask_to_stop() const {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(stop_.get(), &one, sizeof one), ssize_t{sizeof one});
  }
  os::Fd connect() const {
    os::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(listener_.address.port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    return socket;
  }
  static void say(const os::Fd& socket, const std::string& text) {
    EXPECT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  /// Reads everything until the server ends the connection.
  static std::string hear(const os::Fd& socket) {
    std::string all;
    char bytes[65536];
    for (ssize_t got = 0; (got = ::recv(socket.get(), bytes, sizeof bytes, 0)) > 0;)
      all.append(bytes, static_cast<std::size_t>(got));
    return all;
  }
  std::string ask(const std::string& text) const {
    const os::Fd socket = connect();
    say(socket, text);
    return hear(socket);
  }

  os::TcpListener listener_;
  os::Fd stop_;
  base::Status served_;
  // The answers' data has to outlive the thread.
  std::atomic<std::uint64_t> now_ = 0;
  std::atomic<int> answers_ = 0;
  std::atomic<bool> holds_ = false, go_on_ = false;
  std::thread thread_;
};

TEST_F(HttpServing, AnswersWhatIsThereAndRefusesTheRest) {
  start();
  const std::string metrics = ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(metrics.substr(0, 200),
              StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/x\r\nContent-Length: 3145728\r\n"));
  EXPECT_EQ(metrics.size() - metrics.find("\r\n\r\n") - 4, 3145728u) << "more than a socket takes at once";
  const std::string head = ask("HEAD /metrics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Length: 3145728\r\n"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
  EXPECT_THAT(ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask("GET /metrics/ HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get"})
    EXPECT_THAT(ask(std::string(method) + " /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405 ")) << method;
  EXPECT_THAT(ask("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask(std::string(100'000, 'x')), StartsWith("HTTP/1.1 431 "));
}

TEST_F(HttpServing, ABodyThatNobodyWantsDoesNotCostTheAnswer) {
  start();
  EXPECT_THAT(ask("POST /metrics HTTP/1.1\r\nContent-Length: 60000\r\n\r\n" + std::string(60'000, 'x')),
              StartsWith("HTTP/1.1 405 "));
}

TEST_F(HttpServing, WhoIsSilentOrLeavesKeepsNobodyWaiting) {
  start();
  std::vector<os::Fd> silent;
  for (int i = 0; i < 20; ++i) {
    silent.push_back(connect());
    say(silent.back(), "GET /met");
  }
  { const os::Fd leaves = connect(); }
  EXPECT_THAT(ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  say(silent.front(), "rics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(hear(silent.front()).substr(0, 20), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServing, OfTooManyTheFirstAreDroppedWhenTheirTimeIsOver) {
  start({2, 2'000'000'000});
  const os::Fd first = connect(), second = connect();
  say(first, "GET /");
  EXPECT_THAT(ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 ")) << "the third";
  EXPECT_EQ(hear(first), "");
}

TEST_F(HttpServing, WhoDoesNotReadIsDroppedInTheEnd) {
  start({1, 2'000'000'000});
  const os::Fd idle = connect();
  say(idle, "GET /metrics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(HttpServing, WhoHasSaidAllStillHearsTheAnswer) {
  start();
  const os::Fd socket = connect();
  say(socket, "GET /metrics HTTP/1.1\r\n\r\n");
  ASSERT_EQ(::shutdown(socket.get(), SHUT_WR), 0);
  EXPECT_GT(hear(socket).size(), std::size_t{3 << 20}) << "it is not cut";
  const os::Fd half = connect();
  say(half, "GET /met");
  ASSERT_EQ(::shutdown(half.get(), SHUT_WR), 0);
  EXPECT_EQ(hear(half), "") << "there is nothing to answer";
}

TEST_F(HttpServing, TheTimeThatAnAnswerTakesIsNobodysFault) {
  HttpLimits limits;
  limits.now_ns = [this] { return now_.load(); };
  start(limits, [this](const std::string&) {
    now_ += 3'600'000'000'000;
    return refusal(404);
  });
  const os::Fd slow = connect();
  say(slow, "GET /");
  EXPECT_THAT(ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 ")) << "the server has looked at its clock";
  say(slow, " HTTP/1.1\r\n\r\n");
  EXPECT_THAT(hear(slow), StartsWith("HTTP/1.1 404 "));
}

TEST_F(HttpServing, StopsBeforeTheNextAnswer) {
  start({}, [this](const std::string& path) {
    if (path == "/hold") {
      holds_ = true;
      EXPECT_TRUE(test_support::eventually("the test lets the answer go", [this] { return go_on_.load(); }));
    } else if (path == "/stop") {
      ++answers_;
      ask_to_stop();
    }
    return refusal(404);
  });
  const os::Fd first = connect(), second = connect(), third = connect();
  EXPECT_THAT(ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 ")) << "all four are accepted";
  say(first, "GET /hold HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(test_support::eventually("the first request is being answered", [this] { return holds_.load(); }));
  for (const os::Fd* next : {&second, &third}) say(*next, "GET /stop HTTP/1.1\r\n\r\n");
  go_on_ = true;  // it finds both at once
  EXPECT_EQ(hear(second).empty() + hear(third).empty(), 1);
  EXPECT_EQ(answers_, 1);
}

TEST(KeptReplies, AreMadeAgainWhenTheyAreOld) {
  std::uint64_t now = 5;
  int made = 0;
  KeptReply reply(
      [&] {
        now += 100;  // counts from when it was made
        return HttpReply{200, "text/x", std::to_string(++made)};
      },
      10, [&] { return now; });
  EXPECT_EQ(reply.get().body, "1");
  now += 9;
  EXPECT_EQ(reply.get().body, "1");
  now += 1;
  EXPECT_EQ(reply.get().body, "2");
}

}  // namespace
}  // namespace perdure::cli
