// Tests the port of an engine with strangers that connect to it.
#include "network/fabric_door.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "network/address.hpp"
#include "network/network_testing.hpp"
#include "support/strangers.hpp"

namespace perdure::network {
namespace {

sockaddr_in port_of(const Bytes& address) {
  sockaddr_in at{};
  const auto decoded = decode_address(address);
  EXPECT_TRUE(decoded && decoded->wire.size() == sizeof at);
  if (decoded) std::memcpy(&at, decoded->wire.data(), std::min(sizeof at, decoded->wire.size()));
  return at;
}

/// Answers whether its process can open so many files as the request has bytes.
base::Result<Bytes> open_files(PeerId, ConstByteSpan request) {
  std::vector<os::Fd> opened;
  bool all = true;
  for (std::size_t i = 0; i < request.size(); ++i) {
    opened.emplace_back(::dup(0));
    all = all && opened.back();
  }
  return text_bytes(all ? "opened" : "refused");
}

/// An endpoint in a process that may have so many descriptors. Forked before this process has threads.
class SmallProcess {
 public:
  explicit SmallProcess(rlim_t descriptors) {
    int address[2];
    EXPECT_EQ(::pipe(address), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const rlimit low{descriptors, descriptors};
      if (::setrlimit(RLIMIT_NOFILE, &low) != 0) ::_exit(1);
      EndpointOptions options = sample_options();
      options.guard_interval_ns = 200'000'000;
      const auto endpoint = open_endpoint(open_fabric_wire(), options, {open_files, {}});
      const Bytes bytes = endpoint->address();
      (void)!::write(address[1], bytes.data(), bytes.size());
      ::close(address[1]);
      for (;;) ::pause();
    }
    ::close(address[1]);
    address_.resize(1000);
    address_.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(address[0], address_.data(), 1000), 0)));
    ::close(address[0]);
  }
  ~SmallProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  const Bytes& address() const { return address_; }
  std::size_t descriptors() const { return test_support::descriptors_of(pid_); }

 private:
  pid_t pid_ = -1;
  Bytes address_;
};

TEST(FabricDoor, WhoSaysNothingIsTurnedAwayInTimeAndPeersStay) {
  // Only lost messages are to be repeated here, not late answers of a busy machine.
  EndpointOptions patient = sample_options();
  patient.retry_ns = patient.max_retry_ns = kPatience / 2;
  auto server = open_endpoint(open_fabric_wire(), patient), client = open_endpoint(open_fabric_wire(), patient);
  const auto peer = client->connect(server->address(), kPatience);
  ASSERT_TRUE(peer) << error_text(peer);
  ASSERT_TRUE(client->call(*peer, text_bytes("x"), kPatience));
  const sockaddr_in at = port_of(server->address());
  const os::Fd stranger(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(stranger.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  pollfd waiting{stranger.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&waiting, 1, 60'000), 1) << "it is still connected";
  char byte = 0;
  EXPECT_LE(::recv(stranger.get(), &byte, 1, 0), 0);
  const auto reply = client->call(*peer, text_bytes("x"), kPatience);
  EXPECT_TRUE(reply) << error_text(reply);
  EXPECT_EQ(client->statistics(*peer)->retransmissions, 0U);
}

// With a limit of 256 strangers have 32 places; the rest is the program's.
TEST(FabricDoor, ACrowdOfStrangersLeavesTheDescriptorsToTheProgramAndPeersComeIn) {
  constexpr std::size_t kFew = 256, kTheirs = kFew / 8, kSlack = 16;
  const SmallProcess server(kFew);
  const std::size_t before = server.descriptors();
  ASSERT_GT(before, 0U);
  const test_support::Strangers strangers({port_of(server.address())}, 500);
  std::size_t most = 0;
  while (strangers.turned_away() < 2000) most = std::max(most, server.descriptors());
  EXPECT_LE(most, before + kTheirs + kSlack);
  auto client = open_endpoint(open_fabric_wire(), sample_options());
  const auto peer = client->connect(server.address(), kPatience);
  ASSERT_TRUE(peer) << error_text(peer);
  for (int i = 0; i < 50; ++i) {
    const auto reply = client->call(*peer, Bytes(100), kPatience);
    ASSERT_TRUE(reply) << error_text(reply);
    EXPECT_EQ(*reply, text_bytes("opened"));
  }
}

}  // namespace
}  // namespace perdure::network
