#pragma once
// For tests only: runs an engine in this process, with its own directory, and connects clients.
#include <gtest/gtest.h>

#include "engine/host/engine.hpp"
#include "ipc/channel.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::engine {

class EngineFixture : public ::testing::Test {
 protected:
  /// `options`: all but the paths, which are below the directory.
  base::Status start(const std::string& options, bool idle_exit = false) {
    const std::string at = directory_.path();
    PERDURE_CHECK(config_.set_all(
        "store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at + "/file;" + options,
        config::Origin::program));
    PERDURE_TRY(auto claimed, claim(config_, "here"));
    PERDURE_TRY(engine_, Engine::start(config_, std::get<Claim>(std::move(claimed)), idle_exit));
    return {};
  }
  ipc::Hello hello(std::uint32_t rank = 0) const {
    ipc::Hello request;
    request.fingerprint = config_.fingerprint();
    request.rank = rank;
    return request;
  }
  ipc::Channel client(std::uint32_t rank = 0) const {
    auto channel = ipc::Channel::connect(engine_->socket_path()).value();
    EXPECT_TRUE(channel.call(hello(rank)));
    return channel;
  }
  test_support::TemporaryDirectory directory_;
  config::Config config_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace perdure::engine
