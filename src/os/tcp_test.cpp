#include "os/tcp.hpp"

#include <gtest/gtest.h>

namespace perdure::os {
namespace {

std::string parsed(const std::string& text) {
  const auto address = parse_tcp_address(text);
  return address ? address->text() : "refused";
}

TEST(Tcp, AnAddressIsHostAndPort) {
  EXPECT_EQ(parsed("127.0.0.1:9917"), "127.0.0.1:9917");
  EXPECT_EQ(parsed("[::1]:9917"), "[::1]:9917");
  EXPECT_EQ(parsed("localhost:0"), "localhost:0");
  EXPECT_EQ(parsed("9917"), "127.0.0.1:9917");
}

TEST(Tcp, WhatIsNoAddressIsRefusedByName) {
  for (const char* text :
       {"", ":", ":80", "a:", "a:b", "a:-1", "a:65536", "a:80x", "::1:80", "[::1]", "[a]:80", "80 ", "0x50"})
    EXPECT_EQ(parsed(text), "refused") << text;
  EXPECT_NE(parse_tcp_address("a:b").error().text().find("a:b"), std::string::npos);
}

TEST(Tcp, SaysWhichPortItTookAndThatItIsTaken) {
  const auto first = listen_tcp({"127.0.0.1", 0});
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_GT(first->address.port, 0);
  const auto second = listen_tcp(first->address);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, PERDURE_BUSY);
  EXPECT_FALSE(accept_tcp(first->socket).value()) << "nobody has connected";
}

TEST(Tcp, AnAddressThatIsNotOursIsAnError) {
  EXPECT_FALSE(listen_tcp({"192.0.2.1", 0})) << "reserved for documentation";
  EXPECT_FALSE(listen_tcp({"no such host", 0}));
}

}  // namespace
}  // namespace perdure::os
