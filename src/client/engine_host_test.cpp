// A leader gets one engine for all handles of a process that are alike, and another one for each that differs.
#include "client/engine_host.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <thread>
#include <variant>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "config/daemon_program.hpp"
#include "engine/host/node_directory.hpp"
#include "ipc/channel.hpp"
#include "os/daemon_environment.hpp"
#include "os/socket.hpp"
#include "os/system.hpp"
#include "support/quiescent.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::client {
namespace {

class EngineHost : public testing::Test {
 protected:
  config::Config configured(const std::string& more = {}) {
    config::Config config;
    const std::string settings = "store.path=" + directory_.path() + "/store;node.path=" + directory_.path() +
                                 "/node;tier.file.path=" + directory_.path() +
                                 "/file;chunk_bytes=128KiB;tier.memory.max_bytes=16MiB;tier.file.max_bytes=16MiB;" +
                                 more;
    auto set = config.set_all(settings, config::Origin::program);
    EXPECT_TRUE(set) << (set ? "" : set.error().text());
    return config;
  }
  HostedEngine obtain(const config::Config& config, const std::string& label = "here") {
    auto hosted = obtain_engine(config, label);
    EXPECT_TRUE(hosted) << (hosted ? "" : hosted.error().text());
    return hosted ? *hosted : HostedEngine();
  }
  test_support::TemporaryDirectory directory_;
};

TEST_F(EngineHost, AnEmbeddedEngineAnswersOnItsSocketAndGoesWithItsLastUser) {
  HostedEngine hosted = obtain(configured());
  ASSERT_TRUE(hosted.engine);
  const std::string socket = hosted.socket;
  {
    auto channel = ipc::Channel::connect(socket);
    ASSERT_TRUE(channel);
    ipc::Hello hello;
    hello.fingerprint = configured().fingerprint();
    EXPECT_TRUE(channel->call(hello));
  }
  hosted.engine.reset();
  EXPECT_FALSE(ipc::Channel::connect(socket));
  EXPECT_FALSE(os::exists(socket.substr(0, socket.rfind('/'))).value()) << "nothing is left of it";
}

TEST_F(EngineHost, HandlesThatAreAlikeShareOneEngine) {
  HostedEngine first = obtain(configured());
  HostedEngine second = obtain(configured());
  EXPECT_EQ(first.engine, second.engine);
  EXPECT_EQ(first.socket, second.socket);
  first.engine.reset();
  EXPECT_TRUE(ipc::Channel::connect(second.socket)) << "the other handle still has it";
  second.engine.reset();
  EXPECT_FALSE(ipc::Channel::connect(second.socket));
}

TEST_F(EngineHost, AnotherConfigurationJobStoreOrNodeHasAnotherEngine) {
  const HostedEngine first = obtain(configured());
  const std::array others = {obtain(configured("retention.keep_last=7")), obtain(configured("job=other")),
                             obtain(configured("store.path=" + directory_.path() + "/store2")),
                             obtain(configured(), "elsewhere")};
  for (const HostedEngine& other : others) {
    ASSERT_TRUE(other.engine);
    EXPECT_NE(other.engine, first.engine);
    EXPECT_NE(other.socket, first.socket);
  }
}

TEST_F(EngineHost, WhatIsNoPartOfTheEnginesConfigurationDoesNotPartHandles) {
  const HostedEngine first = obtain(configured());
  const HostedEngine second = obtain(configured("checkpoint.timeout=5"));
  EXPECT_EQ(first.engine, second.engine);
}

TEST_F(EngineHost, AnEngineThatEndedIsFollowedByANewOne) {
  const std::string socket = obtain(configured()).socket;
  const HostedEngine again = obtain(configured());
  EXPECT_EQ(again.socket, socket);
  EXPECT_TRUE(ipc::Channel::connect(again.socket));
}

// An engine that does not answer, such as one that was killed and whose memory is being released, or one that starts.
class SilentEngine : public EngineHost {
 protected:
  SilentEngine() {
    auto claimed = engine::claim(configured("retention.keep_last=7"), "here");
    EXPECT_TRUE(claimed) << claimed.error().text();
    held_.emplace(std::move(std::get<engine::Claim>(*claimed)));
  }
  std::optional<engine::Claim> held_;
};

TEST_F(SilentEngine, OfAnotherConfigurationIsWaitedForAndItsPlaceIsTakenOver) {
  const std::string socket = held_->paths.socket();
  std::thread dying([&] {
    EXPECT_TRUE(test_support::quiescent()) << "who wants its place waits for it";
    held_.reset();
  });
  EXPECT_EQ(obtain(configured()).socket, socket);
  dying.join();
}

TEST_F(SilentEngine, ThatStaysIsNamedAndNobodyBeginsBesideIt) {
  const auto hosted = obtain_engine(configured("engine.start_timeout=0.2"), "here");
  ASSERT_FALSE(hosted);
  EXPECT_EQ(hosted.error().code, PERDURE_UNAVAILABLE);
  EXPECT_NE(hosted.error().text().find(held_->paths.node), std::string::npos) << hosted.error().text();
  EXPECT_NE(hosted.error().text().find("does not answer"), std::string::npos) << hosted.error().text();
}

// It may be this release's first start, beside a daemon of an older one that still has something to flush.
TEST_F(SilentEngine, ThatSpeaksAnotherProtocolIsNamedAtOnce) {
  const os::Fd listener = os::listen_at(held_->paths.socket()).value();
  std::thread old_engine([&] {
    os::Fd peer;
    while (!peer) peer = os::accept_from(listener).value();
    const auto refusal = base::encode_cbor({{"seq", 1}});
    const std::uint32_t header[2] = {0x4d524450, static_cast<std::uint32_t>(refusal.size())};  // "PDRM": protocol 6
    EXPECT_TRUE(os::send_all(peer, std::as_bytes(std::span(header))));
    EXPECT_TRUE(os::send_all(peer, refusal));
    std::array<std::byte, 1024> said;
    while (os::receive_some(peer, said, 0).value_or(0) > 0) continue;
  });
  const auto hosted = obtain_engine(configured("engine.start_timeout=1000"), "here");
  old_engine.join();
  ASSERT_FALSE(hosted);
  EXPECT_EQ(hosted.error().code, PERDURE_UNAVAILABLE);
  EXPECT_NE(hosted.error().text().find("does not hand over: engine: it speaks an older protocol"), std::string::npos)
      << hosted.error().text();
}

TEST_F(EngineHost, ADaemonThatMayNotBeStartedIsUnavailable) {
  auto hosted = obtain_engine(configured("engine.mode=daemon;engine.spawn=false"), "here");
  ASSERT_FALSE(hosted);
  EXPECT_EQ(hosted.error().code, PERDURE_UNAVAILABLE);
  EXPECT_NE(hosted.error().remedy.find("perdured"), std::string::npos);
}

TEST_F(EngineHost, ADaemonThatIsNotThereIsNotFoundAndNamed) {
  auto hosted = obtain_engine(configured("engine.mode=daemon;engine.daemon_path=/nowhere/perdured"), "here");
  ASSERT_FALSE(hosted);
  EXPECT_EQ(hosted.error().code, PERDURE_NOT_FOUND);
  EXPECT_NE(hosted.error().text().find("/nowhere/perdured"), std::string::npos);
}

TEST_F(EngineHost, ADaemonThatEndsAtOnceIsReportedAndNotWaitedFor) {
  auto hosted =
      obtain_engine(configured("engine.mode=daemon;engine.start_timeout=1000;engine.daemon_path=/bin/true"), "here");
  ASSERT_FALSE(hosted);
  EXPECT_EQ(hosted.error().code, PERDURE_UNAVAILABLE);
  EXPECT_NE(hosted.error().text().find("ended before it answered"), std::string::npos) << hosted.error().text();
}

/// A program in place of perdured.
std::string script(const test_support::TemporaryDirectory& directory, const std::string& text) {
  const std::string path = directory / "perdured";
  EXPECT_TRUE(os::write_file_atomically(path, base::as_bytes("#!/bin/sh\n" + text)));
  EXPECT_EQ(::chmod(path.c_str(), 0700), 0);
  return path;
}

TEST_F(EngineHost, WhyADaemonEndedAtItsStartIsInTheError) {
  const std::string program = script(
      directory_, "echo loading >&2; echo 'perdured: engine: the disk is on strike (io); feed it' >&2; exit 1\n");
  for (int life = 0; life < 2; ++life) {  // words of an earlier daemon are not taken for it
    auto hosted = obtain_engine(configured("engine.mode=daemon;engine.daemon_path=" + program), "here");
    ASSERT_FALSE(hosted);
    EXPECT_EQ(hosted.error().code, PERDURE_UNAVAILABLE);
    EXPECT_EQ(hosted.error().cause, "it ended before it answered: engine: the disk is on strike (io); feed it");
  }
  script(directory_, "exit 1\n");
  auto hosted = obtain_engine(configured("engine.mode=daemon;engine.daemon_path=" + program), "here");
  ASSERT_FALSE(hosted);
  EXPECT_EQ(hosted.error().cause, "it ended before it answered");
}

TEST_F(EngineHost, ADaemonGetsACleanEnvironment) {
  const std::string told = directory_ / "environment";
  const std::string program = script(directory_, "env >" + told + "\n");
  ::setenv("SECRET_OF_THE_JOB", "never tell", 1);
  ::setenv("LD_PRELOAD", "", 1);
  ::setenv("FI_LOG_LEVEL", "warn", 1);
  (void)obtain_engine(configured("engine.mode=daemon;engine.daemon_path=" + program), "here");
  for (const char* name : {"SECRET_OF_THE_JOB", "LD_PRELOAD", "FI_LOG_LEVEL"}) ::unsetenv(name);
  const auto bytes = os::read_file(told, 1 << 20);
  ASSERT_TRUE(bytes);
  const std::string environment(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  EXPECT_EQ(environment.find("SECRET"), std::string::npos);
  EXPECT_EQ(environment.find("LD_PRELOAD"), std::string::npos);
  EXPECT_NE(environment.find("FI_LOG_LEVEL=warn"), std::string::npos);
  EXPECT_NE(environment.find("PATH="), std::string::npos);
}

TEST_F(EngineHost, ADaemonIsToldWhichDirectoriesWereClaimedForIt) {
  const std::string told = directory_ / "arguments";
  const std::string program = script(directory_, "echo \"$@\" >" + told + "\n");
  (void)obtain_engine(configured("engine.mode=daemon;engine.daemon_path=" + program), "here");
  const auto bytes = os::read_file(told, 1 << 20);
  ASSERT_TRUE(bytes);
  const std::string arguments(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  EXPECT_NE(arguments.find("--claimed-paths " + directory_.path() + "/node/"), std::string::npos) << arguments;
  EXPECT_NE(arguments.find(" file=" + directory_.path() + "/file/"), std::string::npos) << arguments;
}

TEST(DaemonEnvironment, IsWhatPerduredAndItsNetworkRead) {
  const std::vector<std::string> kept = {"PATH=/bin",
                                         "HOME=/root",
                                         "TMPDIR=/scratch",
                                         "PERDURE_TEST_FAULTS=x",
                                         "LC_ALL=C",
                                         "FI_PROVIDER=tcp",
                                         "SLINGSHOT_VNIS=1",
                                         "TZ=",
                                         "LD_LIBRARY_PATH=/opt/lib",
                                         "UCX_TLS=rc",
                                         "MALLOC_ARENA_MAX=1",
                                         "XDG_CONFIG_HOME=/c"};
  std::vector<std::string> all = {"SECRET=1",
                                  "AWS_SECRET_ACCESS_KEY=2",
                                  "LD_PRELOAD=x.so",
                                  "PATHS=x",
                                  "PERDURE=x",
                                  "SSH_AUTH_SOCK=x",
                                  "LD_AUDIT=x",
                                  "HOMEPAGE=x",
                                  "nonsense",
                                  "=x",
                                  ""};
  all.insert(all.begin() + 3, kept.begin(), kept.end());
  EXPECT_EQ(os::daemon_environment(all), kept);
  const auto with_secrets = os::daemon_environment(all, store::credentials_family("s3://bucket/run"));
  EXPECT_EQ(with_secrets.size(), kept.size() + 1) << "a store that needs them";
  EXPECT_EQ(store::credentials_family("/scratch/me/store"), "");
}

TEST_F(EngineHost, ADaemonIsToldWhereTheModelsAreSinceItRunsElsewhere) {
  ::setenv("PERDURE_CONFIG", "/etc/ours/perdure.toml", 1);
  auto hosted = obtain_engine(configured("engine.mode=daemon;engine.daemon_path=/bin/true"), "here");
  ::unsetenv("PERDURE_CONFIG");
  ASSERT_FALSE(hosted);
  const std::string node = directory_.path() + "/node/";
  std::string told;
  const auto entries = os::list_directory(node).value();
  for (const auto& entry : entries)
    if (const auto content = os::read_file(node + entry.name + "/engine.conf", 1 << 20))
      told.assign(reinterpret_cast<const char*>(content->data()), content->size());
  EXPECT_NE(told.find("placement.models = /etc/ours/perdure-models\n"), std::string::npos) << told;
}

// It starts with another working directory.
TEST_F(EngineHost, ARelativeEntryOfThePathLeadsToAnAbsoluteProgram) {
  const std::string program = script(directory_, "");
  const std::string before = std::getenv("PATH"), here = std::filesystem::current_path();
  std::filesystem::current_path(directory_.path());
  const std::string above = "../" + std::filesystem::path(directory_.path()).filename().string();
  for (const std::string& path : {std::string("."), above}) {
    ::setenv("PATH", path.c_str(), 1);
    const auto found = config::find_daemon(configured());
    // If a perdured of this test's own build lies beside it, that one comes first.
    if (found && found->find("/bin/perdured") == std::string::npos) {
      EXPECT_EQ(*found, program);
    }
  }
  EXPECT_EQ(config::find_daemon(configured("engine.daemon_path=./perdured")).value(), program);
  ::setenv("PATH", ":", 1);
  const auto found = config::find_daemon(configured());
  EXPECT_TRUE(!found || *found != program) << "an empty entry is none";
  std::filesystem::current_path(here);
  ::setenv("PATH", before.c_str(), 1);
}

TEST_F(EngineHost, TheDaemonIsFoundOnThePath) {
  auto file = os::File::open(directory_.path() + "/perdured", os::Open::create);
  ASSERT_TRUE(file);
  ASSERT_EQ(::chmod((directory_.path() + "/perdured").c_str(), 0700), 0);
  const char* path = std::getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  ::setenv("PATH", ("/nowhere:" + directory_.path()).c_str(), 1);
  auto found = config::find_daemon(configured());
  ::setenv("PATH", before.c_str(), 1);
  ASSERT_TRUE(found);
  // If a perdured of this test's own build lies beside it, that one comes first.
  EXPECT_TRUE(*found == directory_.path() + "/perdured" || found->find("/bin/perdured") != std::string::npos) << *found;
}

}  // namespace
}  // namespace perdure::client
