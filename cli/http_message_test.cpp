// The tests check which bytes are a request, and how the replies look.
#include "cli/http_message.hpp"

#include <gtest/gtest.h>

namespace perdure::cli {
namespace {

std::string judged(const std::string& bytes) {
  const auto request = parse_http_request(bytes);
  if (!request) return "more";
  return request->status == 200 ? request->method + " " + request->path : std::to_string(request->status);
}

TEST(HttpMessage, ARequestIsItsMethodAndPath) {
  EXPECT_EQ(judged("GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n"), "GET /metrics");
  EXPECT_EQ(judged("GET /metrics?a=b&c HTTP/1.1\r\n\r\n"), "GET /metrics");
  EXPECT_EQ(judged("HEAD / HTTP/1.0\r\n\r\n"), "HEAD /");
  EXPECT_EQ(judged("GET / HTTP/1.1\nHost: here\n\n"), "GET /") << "line feeds alone are understood, too";
  EXPECT_EQ(judged("GET / HTTP/1.1\r\nA:\r\nB: \t x y \xC3\xA4\r\n\r\nGET /next"), "GET /");
  EXPECT_EQ(judged("POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"), "POST /metrics");
}

TEST(HttpMessage, EveryPartOfARequestNeedsMore) {
  const std::string whole = "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n";
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) EXPECT_EQ(judged(whole.substr(0, bytes)), "more") << bytes;
}

TEST(HttpMessage, WhatIsNoRequestIsRefused) {
  for (const char* line : {"", "GET", "GET /", "GET / ", " / HTTP/1.1", "GET  / HTTP/1.1", "GET metrics HTTP/1.1",
                           "GET http://there/ HTTP/1.1", "GET /a b HTTP/1.1", "GET /\x01 HTTP/1.1", "G\x80T / HTTP/1.1",
                           "GET /\xFF HTTP/1.1", "GET / HTTX/1.1", "GET /\t HTTP/1.1", "\x16\x03\x01"})
    EXPECT_EQ(judged(std::string(line) + "\r\n\r\n"), "400") << line;
  for (const char* header : {"no colon", ": no name", "two words: x", "a: \x01", "a: \x7F", " folded: x"})
    EXPECT_EQ(judged("GET / HTTP/1.1\r\n" + std::string(header) + "\r\n\r\n"), "400") << header;
  EXPECT_EQ(judged(std::string("GET / HTTP/1.1\r\na: \0\r\n\r\n", 24)), "400");
  for (const char* version : {"HTTP/2.0", "HTTP/1.2", "HTTP/", "HTTP/1.11"})
    EXPECT_EQ(judged("GET / " + std::string(version) + "\r\n\r\n"), "505") << version;
}

TEST(HttpMessage, WhatIsTooLongIsRefusedAndNotAwaited) {
  EXPECT_EQ(judged(std::string(kMostRequestBytes - 1, 'a')), "more");
  EXPECT_EQ(judged(std::string(kMostRequestBytes, 'a')), "431");
  EXPECT_EQ(judged("GET / HTTP/1.1\r\nA: " + std::string(kMostRequestBytes, 'a') + "\r\n\r\n"), "431");
}

TEST(HttpMessage, RepliesEndWithTheConnection) {
  EXPECT_EQ(http_text({200, "text/x", "abc"}, false),
            "HTTP/1.1 200 OK\r\nContent-Type: text/x\r\nContent-Length: 3\r\nX-Content-Type-Options: nosniff\r\n"
            "Connection: close\r\n\r\nabc");
  EXPECT_TRUE(http_text({200, "text/x", "abc"}, true).ends_with("close\r\n\r\n"));
  EXPECT_NE(http_text(refusal(405), false).find("405 Method Not Allowed\r\n"), std::string::npos);
  EXPECT_NE(http_text(refusal(405), false).find("\r\nAllow: GET, HEAD\r\n"), std::string::npos);
  EXPECT_TRUE(http_text(refusal(404), false).ends_with("\r\n\r\nNot Found\n"));
}

}  // namespace
}  // namespace perdure::cli
