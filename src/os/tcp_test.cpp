#include "os/tcp.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"

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

TEST(Tcp, WhoConnectsIsAccepted) {
  const auto listener = listen_tcp({"127.0.0.1", 0});
  ASSERT_TRUE(listener);
  const Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(listener->address.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  FaultRules faults({{"accept", "tcp", ECONNABORTED, 1, 1}, {"accept", "tcp", EMFILE, 3}});
  const test_support::InstalledHooks installed(faults);
  const auto accepted = accept_tcp(listener->socket);
  ASSERT_TRUE(accepted) << accepted.error().text();
  ASSERT_TRUE(*accepted) << "one that gave up hides nobody";
  EXPECT_EQ(::fcntl(accepted->get(), F_GETFD), FD_CLOEXEC);
  EXPECT_NE(::fcntl(accepted->get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_FALSE(accept_tcp(listener->socket)) << "descriptors have run out";
}

TEST(Tcp, AnAddressThatIsNotOursIsAnError) {
  const auto foreign = listen_tcp({"192.0.2.1", 0});
  ASSERT_FALSE(foreign) << "reserved for documentation";
  EXPECT_NE(foreign.error().code, PERDURE_BUSY) << "another port is no better";
  EXPECT_FALSE(listen_tcp({"no such host", 0}));
}

}  // namespace
}  // namespace perdure::os
