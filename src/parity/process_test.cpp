// Tests perdure-parityd itself, over libfabric, for properties that only processes show.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/file.hpp"
#include "parity/channel.hpp"
#include "parity/parity_testing.hpp"
#include "parity/server_file.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::parity {
namespace {

using network::error_text;

/// Runs the program; returns when it has written its file.
class Daemon {
 public:
  Daemon(const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> words{PERDURE_PARITYD_PATH, "--endpoint", file, "--pool", "4MiB", "--bind", "127.0.0.1"};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::setenv("FI_OFI_RXM_MSG_RX_SIZE", "16", 0);  // see open_fabric_wire()
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
  }
  ~Daemon() {
    if (pid_ > 0) end(SIGKILL);
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  /// Returns waitpid's status.
  int end(int signal) {
    int status = 0;
    if (signal != 0) ::kill(pid_, signal);
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }
  /// Waits until the file differs from `before`, and returns it.
  ServerFile wait_for(const std::string& path, const Bytes& before = {}) const {
    ServerFile found;
    EXPECT_TRUE(test_support::eventually("a server writes " + path, [&] {
      const auto file = read_server_file(path);
      if (file) found = *file;
      return file && file->address != before;
    }));
    return found;
  }

 private:
  pid_t pid_ = -1;
};

class ParityProcess : public ::testing::Test {
 protected:
  network::EndpointOptions options(const ServerFile& file) {
    network::EndpointOptions options = network::sample_options();
    options.job_key = file.key;
    options.guard_interval_ns = 200'000'000;
    options.guard_limit_ns = 20'000'000'000;
    return options;
  }
  void add_nodes(const ServerFile& file, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      nodes_.push_back(std::make_unique<Node>(network::open_fabric_wire(), std::vector<std::size_t>{300'000, 70'000}, i,
                                              options(file)));
  }
  test_support::TemporaryDirectory directory_;
  Nodes nodes_;
};

TEST_F(ParityProcess, KeepsAndRebuildsAndIsFoundAgainEmptyAfterItWasKilled) {
  const std::string path = directory_ / "parity";
  auto daemon = std::make_unique<Daemon>(path, std::vector<std::string>{});
  const ServerFile file = daemon->wait_for(path);
  add_nodes(file, 2);
  const auto user = network::open_endpoint(network::open_fabric_wire(), options(file));
  const auto source = [&]() -> base::Result<Bytes> {
    PERDURE_TRY(const ServerFile now, read_server_file(path));
    return now.address;
  };
  Client client(*user, source, patient());
  ASSERT_TRUE(client.encode(order_of(nodes_, "v")));
  const auto standing = client.wait(text_bytes("v"), kPatience);
  ASSERT_TRUE(standing) << error_text(standing);
  ASSERT_EQ(standing->stage, Stage::done) << standing->why.text();
  const auto kept = client.find(text_bytes("v"));
  ASSERT_TRUE(kept);
  Bytes target(300'000);
  const auto rebuilt =
      client.rebuild(*kept, {1, 0, nodes_[1]->blocks()[0].hash}, survivors_of(nodes_, 1, 0, nowhere), target);
  ASSERT_TRUE(rebuilt) << error_text(rebuilt);
  EXPECT_EQ(base::hash128(target), nodes_[1]->blocks()[0].hash);

  const auto memory = client.allocate(text_bytes("m"), 200'000);
  const auto channel = Channel::open(client, {2, 100'000, 1, 0});
  ASSERT_TRUE(memory && channel);
  const auto put = (*channel)->put(*memory, 100'000, ConstByteSpan(target).first(100'000), kPatience);
  ASSERT_TRUE(put);
  ASSERT_TRUE((*channel)->wait(*put, kPatience)->status);
  Bytes got(100'000);
  ASSERT_TRUE(client.get(*memory, 100'000, got));
  EXPECT_TRUE(std::equal(got.begin(), got.end(), target.begin()));

  daemon->end(SIGKILL);
  const std::uint64_t limit = 300'000'000;
  Client hasty(*user, source, {limit, limit, limit});
  EXPECT_FALSE(hasty.standing(text_bytes("v"))) << "dead, and said so within the limits";
  daemon = std::make_unique<Daemon>(path, std::vector<std::string>{});
  const ServerFile again = daemon->wait_for(path, file.address);
  EXPECT_EQ(again.key, file.key) << "its jobs still belong to it";
  Client anew(*user, source, patient());
  const auto gone = anew.find(text_bytes("v"));
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, PERDURE_NOT_FOUND) << gone.error().text();
  EXPECT_EQ(anew.standing(text_bytes("v"))->stage, Stage::unknown);
  EXPECT_EQ(daemon->end(SIGTERM), 0);
}

TEST_F(ParityProcess, OneFileHasOneServerAndSeveralHaveOneKey) {
  const std::string a = directory_ / "a", b = directory_ / "b";
  Daemon keyless(b, {"--key-of", a});
  EXPECT_NE(keyless.end(0), 0) << "there is no such key yet";
  Daemon first(a, {});
  const ServerFile file = first.wait_for(a);
  Daemon second(b, {"--key-of", a}), twice(a, {});
  EXPECT_EQ(second.wait_for(b).key, file.key);
  EXPECT_NE(twice.end(0), 0);
  EXPECT_EQ(read_server_file(a).value(), file);
  EXPECT_EQ(first.end(SIGTERM), 0);
}

}  // namespace
}  // namespace perdure::parity
