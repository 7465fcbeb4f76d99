// Tests properties that only the wire over libfabric has: processes that die, descriptors, sleep.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "network/network_testing.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/wake_ups.hpp"

namespace perdure::network {
namespace {

EndpointOptions fabric_options() {
  EndpointOptions options = sample_options();
  options.guard_interval_ns = 50'000'000;
  options.guard_limit_ns = 1'000'000'000;
  return options;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

/// An engine in a process of its own, which can be killed. Forked before this process has threads of libfabric.
class OtherProcess {
 public:
  OtherProcess() {
    int addresses[2];
    EXPECT_EQ(::pipe(addresses), 0);
    pid_ = ::fork();
    if (pid_ == 0) serve(addresses[1]);
    ::close(addresses[1]);
    std::uint64_t head[2] = {};
    EXPECT_EQ(::read(addresses[0], head, sizeof head), static_cast<ssize_t>(sizeof head));
    address_.resize(std::min<std::uint64_t>(head[0], 1000));
    memory_.resize(std::min<std::uint64_t>(head[1], 1000));
    EXPECT_EQ(::read(addresses[0], address_.data(), address_.size()), static_cast<ssize_t>(address_.size()));
    EXPECT_EQ(::read(addresses[0], memory_.data(), memory_.size()), static_cast<ssize_t>(memory_.size()));
    ::close(addresses[0]);
  }
  ~OtherProcess() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  /// Returns when none of its threads runs any more; until then it could still serve.
  void stop() const {
    int status = 0;
    EXPECT_EQ(::kill(pid_, SIGSTOP), 0);
    EXPECT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  const Bytes& address() const { return address_; }
  RemoteMemory memory() const { return *decode_remote_memory(memory_); }

 private:
  [[noreturn]] static void serve(int out) {
    auto endpoint = open_endpoint(open_fabric_wire(), fabric_options());
    static Bytes exposed(4'000'000, std::byte{7});
    const auto name = endpoint->expose(exposed, Access::read);
    const Bytes address = endpoint->address(), memory = encode(*name);
    const std::uint64_t head[2] = {address.size(), memory.size()};
    (void)!::write(out, head, sizeof head);
    (void)!::write(out, address.data(), address.size());
    (void)!::write(out, memory.data(), memory.size());
    for (;;) ::pause();
  }
  pid_t pid_ = -1;
  Bytes address_, memory_;
};

class LostPeers {
 public:
  Handlers handlers() {
    return {reverse, [this](PeerId, const base::Error& error) {
              const std::lock_guard lock(mutex_);
              all_.push_back(error);
              changed_.notify_all();
            }};
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::nanoseconds(kPatience), [&] { return all_.size() >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<base::Error> all_;
};

TEST(FabricWire, AKilledProcessIsNoticedAndAReplacementServes) {
  OtherProcess first, second;
  LostPeers losses;
  auto client = open_endpoint(open_fabric_wire(), fabric_options(), losses.handlers());
  auto peer = client->connect(first.address(), kPatience);
  ASSERT_TRUE(peer) << error_text(peer);
  Bytes copy(4'000'000);
  const auto read = client->read(*peer, first.memory(), 0, copy, kPatience);
  ASSERT_TRUE(read) << error_text(read);
  EXPECT_EQ(copy[3'999'999], std::byte{7});
  first.kill();
  const auto reply = client->call(*peer, text_bytes("x"), kPatience);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, PERDURE_PEER_FAILED);
  EXPECT_TRUE(losses.wait_for(1));
  EXPECT_EQ(client->read(*peer, first.memory(), 0, copy, kPatience).error().code, PERDURE_PEER_FAILED);
  peer = client->connect(second.address(), kPatience);
  ASSERT_TRUE(peer) << error_text(peer);
  EXPECT_TRUE(client->call(*peer, text_bytes("x"), kPatience));
}

TEST(FabricWire, AHungProcessIsLostAndItsTransfersEnd) {
  OtherProcess other;
  LostPeers losses;
  auto client = open_endpoint(open_fabric_wire(), fabric_options(), losses.handlers());
  const auto peer = client->connect(other.address(), kPatience);
  ASSERT_TRUE(peer) << error_text(peer);
  other.stop();
  Bytes copy(4'000'000);
  const auto read = client->read(*peer, other.memory(), 0, copy, kPatience);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, PERDURE_PEER_FAILED) << read.error().text();
  EXPECT_TRUE(losses.wait_for(1));
  EXPECT_TRUE(test_support::eventually("the transfer ends", [&] { return client->statistics().transfers == 0; }));
}

/// Throws std::bad_alloc in all but every third of the wire's reports. The first report takes so long that the others
/// come together.
class OutOfMemory : public WireEvents {
 public:
  explicit OutOfMemory(std::unique_ptr<Wire> end) : wire(std::move(end)) { EXPECT_TRUE(wire->start(*this)); }
  ~OutOfMemory() override { wire->stop(); }
  void on_message(ConstByteSpan) override { throw std::bad_alloc(); }
  void on_transfer(std::uint64_t token, base::Status status) override {
    if (calls_++ == 0) os::sleep_ns(100'000'000);  // wait: the others' transfers end meanwhile
    if (calls_ % 3 != 0) throw std::bad_alloc();
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(ended_.emplace(token, status.has_value()).second) << "token " << token << " ended twice";
    changed_.notify_all();
  }
  void on_send_failed(WirePeer, const base::Error&) override { throw std::bad_alloc(); }
  /// Returns by token whether the transfer ended well.
  std::map<std::uint64_t, bool> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(kPatience), [&] { return ended_.size() >= count; });
    return ended_;
  }
  std::unique_ptr<Wire> wire;

 private:
  unsigned calls_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, bool> ended_;
};

TEST(FabricWire, OfABatchOfTransfersEachEndsOnceWhoeverHasNoMemoryToHearOfIt) {
  constexpr std::uint64_t kTransfers = 24;
  OutOfMemory server(open_fabric_wire()), client(open_fabric_wire());
  Bytes exposed(100'000, std::byte{7});
  const auto memory = server.wire->expose(exposed, Access::read);
  ASSERT_TRUE(memory) << error_text(memory);
  const auto peer = client.wire->connect(server.wire->address());
  ASSERT_TRUE(peer) << error_text(peer);
  const auto begin = [&](std::uint64_t token) {
    auto buffer = client.wire->make_buffer(4096);
    ASSERT_TRUE(buffer);
    ASSERT_TRUE(client.wire->begin({*peer, *memory, 0, *buffer, 4096, token, false}));
  };
  for (std::uint64_t token = 0; token < kTransfers; ++token) begin(token);
  auto ended = client.wait_for(kTransfers);
  EXPECT_EQ(ended.size(), kTransfers);
  for (const auto& [token, well] : ended) EXPECT_TRUE(well) << token;
  // Transfers of a forgotten peer must end, too.
  server.wire->stop();
  for (std::uint64_t token = kTransfers; token < 2 * kTransfers; ++token) begin(token);
  client.wire->forget(*peer);
  ended = client.wait_for(2 * kTransfers);
  EXPECT_EQ(ended.size(), 2 * kTransfers);
}

TEST(FabricWire, TwoHundredLossesAndReconnectionsKeepDescriptorsAndStateBounded) {
  EndpointOptions options = fabric_options();
  options.guard_interval_ns = 0;
  LostPeers losses;
  auto client = open_endpoint(open_fabric_wire(), options, losses.handlers());
  Bytes memory(100'000), copy(100'000);
  std::size_t early = 0;
  std::unique_ptr<Endpoint> server;
  for (std::size_t round = 0; round < 200; ++round) {
    const bool restart = round % 20 == 0;  // each costs tens of MiB of the provider's buffers, and the time to make
                                           // them
    if (restart) server = open_endpoint(open_fabric_wire(), options);
    const auto peer = client->connect(server->address(), kPatience);
    ASSERT_TRUE(peer) << error_text(peer);
    ASSERT_TRUE(client->call(*peer, text_bytes("x"), kPatience));
    if (round % 10 == 0) {
      const auto name = server->expose(memory, Access::read);
      ASSERT_TRUE(name);
      ASSERT_TRUE(client->read(*peer, *name, 0, copy, kPatience));
      server->withdraw(*name);
    }
    if (round % 20 == 19) server.reset();
    client->disconnect(*peer);
    if (round == 40) early = open_descriptors();
  }
  EXPECT_LE(open_descriptors(), early);
  EXPECT_EQ(client->statistics().peers, 0u);
  EXPECT_EQ(client->statistics().transfers, 0u);
}

TEST(FabricWire, AnIdleEndpointSleeps) {
  EndpointOptions options = fabric_options();
  options.guard_interval_ns = 0;
  const auto others = test_support::threads();
  auto server = open_endpoint(open_fabric_wire(), options), client = open_endpoint(open_fabric_wire(), options);
  const auto peer = client->connect(server->address(), kPatience);
  ASSERT_TRUE(peer) << error_text(peer);
  ASSERT_TRUE(client->call(*peer, text_bytes("x"), kPatience));
  EXPECT_TRUE(test_support::eventually("every thread sleeps for a second, or until it is woken",
                                       [&] { return test_support::all_sleep_for(std::chrono::seconds(1), others); }));
}

// The provider for shared memory takes them: a program would end by the first SIGTERM that it asked Perdure to handle.
TEST(FabricWire, LeavesSignalsToTheProgram) {
  ASSERT_TRUE(make_fabric_wire({}));
  for (const int signal : {SIGTERM, SIGINT}) {
    struct sigaction now = {};
    ASSERT_EQ(::sigaction(signal, nullptr, &now), 0);
    EXPECT_TRUE(now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) << strsignal(signal);
  }
}

void expect_unavailable(const FabricOptions& options, const std::string& named, const std::string& remedy) {
  const auto wire = make_fabric_wire(options);
  ASSERT_FALSE(wire);
  EXPECT_EQ(wire.error().code, PERDURE_UNAVAILABLE);
  EXPECT_NE(wire.error().text().find(named), std::string::npos) << wire.error().text();
  EXPECT_NE(wire.error().remedy.find(remedy), std::string::npos) << wire.error().remedy;
}

TEST(FabricWire, AProviderThatIsNotThereIsNamed) {
  expect_unavailable({"carrier-pigeon", {}}, "carrier-pigeon", "fi_info");
}

TEST(FabricWire, ListensOnTheInterfaceOfThatNameOrAtThatAddress) {
  for (const char* where : {"lo", "127.0.0.1", "localhost"}) {
    FabricOptions options;
    options.bind_address = where;
    const auto wire = make_fabric_wire(options);
    EXPECT_TRUE(wire) << where << ": " << wire.error().text();
  }
}

TEST(FabricWire, AnInterfaceThatIsNotThereIsNamedBesideThoseThatAre) {
  expect_unavailable({"tcp", "no-such-0"}, "no-such-0", "lo 127.0.0.1");
}

}  // namespace
}  // namespace perdure::network
