// Tests that listening sockets come back at their addresses, and accept connections again.
#include "process/listening_socket.hpp"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "process/alone_testing.hpp"
#include "process/descriptors_testing.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::process {
namespace {

using testing::HasSubstr;

struct Address {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Address loopback(std::uint16_t port = 0) {
  Address address;
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  in.sin_port = htons(port);
  std::memcpy(&address.storage, &in, address.bytes = sizeof in);
  return address;
}

Address loopback_of_six() {
  Address address;
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_addr = in6addr_loopback;
  std::memcpy(&address.storage, &in, address.bytes = sizeof in);
  return address;
}

/// `name` begins with a zero if it is abstract.
Address of_unix(const std::string& name) {
  Address address;
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  name.copy(un.sun_path, sizeof un.sun_path - 1);
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (name[0] == '\0' ? 0 : 1));
  std::memcpy(&address.storage, &un, sizeof un);
  return address;
}

/// Listens with descriptor 3 of the child.
bool listens_at(const Address& address) {
  const int socket = ::socket(address.get()->sa_family, SOCK_STREAM, 0);
  const int yes = 1, minute = 60;
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &minute, sizeof minute);
  (void)::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  return socket == 3 && ::bind(socket, address.get(), address.bytes) == 0 && ::listen(socket, 11) == 0;
}

/// Returns the address at which the socket of the image listens.
Address address_in(const ProcessImage& image) {
  Address address;
  for (const OpenFile& file : image.open_files.files)
    if (const auto* socket = std::get_if<ListeningSocket>(&file.what))
      std::memcpy(&address.storage, socket->address.data(),
                  address.bytes = static_cast<socklen_t>(socket->address.size()));
  return address;
}

int answers(const std::string& over) {
  const int caller = ::accept(3, nullptr, nullptr);
  char byte = 0;
  const bool good = caller >= 0 && ::read(caller, &byte, 1) == 1 && byte == 'q' && ::write(caller, "a", 1) == 1;
  int alive = 0;
  socklen_t length = sizeof alive;
  ::getsockopt(3, SOL_SOCKET, SO_KEEPALIVE, &alive, &length);
  wait_until_over(over);
  return good && alive == 1 ? 7 : 1;
}

void calls(const Address& address, pid_t listener) {
  const int caller = ::socket(address.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::connect(caller, address.get(), address.bytes), 0) << std::strerror(errno);
  char byte = 0;
  EXPECT_EQ(::write(caller, "q", 1), 1);
  EXPECT_EQ(::read(caller, &byte, 1), 1);
  EXPECT_EQ(byte, 'a');
  ucred who{};
  socklen_t length = sizeof who;
  if (address.get()->sa_family == AF_UNIX && ::getsockopt(caller, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0) {
    EXPECT_EQ(who.pid, listener) << "it listens itself";
  }
  ::close(caller);
}

void listens_again(const Address& address) {
  test_support::TemporaryDirectory here;
  const std::string over = here / "over";
  Alone child([&](Seen& seen) {
    seen.works = listens_at(address) ? 1 : -1;
    return answers(over);
  });
  child.wait();
  if (child.seen().works < 0) GTEST_SKIP() << "there is no such address here";
  EXPECT_TRUE(look_for_obstacles(child.process(), {}));
  const pid_t number = child.process();
  const auto captured = capture_to_memory(number);
  ASSERT_TRUE(captured) << captured.error().text();
  const auto busy = resume_from_memory(*captured);
  ASSERT_FALSE(busy);
  EXPECT_THAT(busy.error().text(), HasSubstr("another process listens at"));
  dies_and_comes_back(child, *captured);
  if (testing::Test::HasFatalFailure()) return;
  calls(address_in(captured->image), number);
  std::ofstream(over) << "now";
  EXPECT_EQ(child.end(), 7);
}

TEST(ListeningSockets, OfTcpListenAgain) { listens_again(loopback()); }
TEST(ListeningSockets, OfTcpAndSixListenAgain) { listens_again(loopback_of_six()); }
TEST(ListeningSockets, OfUnixListenAgainByTheirName) {
  test_support::TemporaryDirectory here;
  const std::string path = here / "socket";
  listens_again(of_unix(path));
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_TRUE(S_ISSOCK(status.st_mode));
}
TEST(ListeningSockets, OfUnixWithoutAFileListenAgain) {
  listens_again(of_unix(std::string("\0perdure-test-", 14) + std::to_string(::getpid())));
}

TEST(ListeningSockets, InWhichAConnectionWaitsAreInTheWay) {
  int port = 0;
  Alone child([](Seen& seen) {
    const Address address = loopback();
    sockaddr_in in{};
    socklen_t length = sizeof in;
    if (listens_at(address) && ::getsockname(3, reinterpret_cast<sockaddr*>(&in), &length) == 0)
      seen.count = ntohs(in.sin_port);
    seen.works = 1;
    wait_until_over(seen);
    return 7;
  });
  child.wait();
  port = child.seen().count;
  ASSERT_NE(port, 0);
  const int caller = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const Address address = loopback(static_cast<std::uint16_t>(port));
  ASSERT_EQ(::connect(caller, address.get(), address.bytes), 0);
  const auto refused = look_for_obstacles(child.process(), {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("connections wait in it"));
  ::close(caller);
  EXPECT_EQ(child.tell_end(), 7);
}

TEST(ListeningSockets, SayWhereTheyAre) {
  const auto text = [](const Address& address) {
    ListeningSocket socket;
    socket.domain = address.get()->sa_family;
    const auto* const bytes = reinterpret_cast<const std::byte*>(&address.storage);
    socket.address.assign(bytes, bytes + address.bytes);
    return address_text(socket);
  };
  EXPECT_EQ(text(loopback(80)), "127.0.0.1:80");
  EXPECT_EQ(text(loopback_of_six()), "[::1]:0");
  EXPECT_EQ(text(of_unix("/run/x")), "/run/x");
  EXPECT_EQ(text(of_unix(std::string("\0x", 2))), "@x");
}

}  // namespace
}  // namespace perdure::process
