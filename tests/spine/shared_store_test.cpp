// Tests stores that other users can write to: their files neither redirect a job nor give it data.
#include <gtest/gtest.h>
#include <unistd.h>

#include "damage.hpp"
#include "faults.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

constexpr uid_t kEveUser = 54322;

class SharedStores : public ::testing::TestWithParam<const char*> {
 protected:
  std::string options(const std::string& more = {}) const { return options_in(directory_.path(), GetParam(), more); }
  std::string store() const { return directory_.path() + "/store"; }
  std::string elsewhere() const { return directory_.path() + "/elsewhere"; }
  void SetUp() override {
    fs::create_directories(store());
    fs::create_directories(elsewhere());
  }
  void TearDown() override { stop_daemons(directory_.path()); }
  void run(const std::function<int(const Rank&)>& body) const {
    RunOptions one;
    one.ranks = 1;
    const auto outcome = run_ranks(one, body);
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
  }
  // Makes versions 1 and 2, stored, with nothing left on the node.
  void write_two() const {
    run([&](const Rank& rank) {
      Protected app(rank, options());
      for (int step : {1, 2})
        RANK_CHECK(app.checkpoint(step) == PERDURE_OK && app.wait(step) == PERDURE_OK, app.error());
      RANK_CHECK(app.close() == PERDURE_OK, "close");
      return 0;
    });
    stop_daemons(directory_.path());
    for (const char* tier : {"/node", "/file"}) fs::remove_all(directory_.path() + tier);
  }
  static bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Modes, SharedStores, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(SharedStores, ALinkInThePlaceOfANameIsAnErrorThatNamesIt) {
  fs::create_directory_symlink(elsewhere(), store() + "/app");
  run([&](const Rank& rank) {
    Protected app(rank, options());
    RANK_CHECK(perdure_restore(app.handle(), "app", PERDURE_LATEST) == PERDURE_PERMISSION, app.error());
    RANK_CHECK(app.checkpoint(1) == PERDURE_PERMISSION, app.error());
    RANK_CHECK(says(app.error(), store() + "/app") && says(app.error(), "it is a link"), app.error());
    (void)app.close();
    return 0;
  });
  EXPECT_TRUE(fs::is_empty(elsewhere()));
}

TEST_P(SharedStores, ALinkInThePlaceOfAVersionGetsNothing) {
  fs::create_directories(store() + "/app");
  fs::create_directory_symlink(elsewhere(), store() + "/app/1");
  run([&](const Rank& rank) {
    Protected app(rank, options("engine.drain_timeout=1"));
    RANK_CHECK(app.checkpoint(1) == PERDURE_OK, app.error());
    RANK_CHECK(app.wait(1, 10) == PERDURE_PERMISSION, app.error());
    RANK_CHECK(says(app.error(), store() + "/app/1") && says(app.error(), "it is a link"), app.error());
    fs::remove(store() + "/app/1");
    RANK_CHECK(app.checkpoint(2) == PERDURE_OK && app.wait(2) == PERDURE_OK, app.error());
    (void)app.close();
    return 0;
  });
  EXPECT_TRUE(fs::is_empty(elsewhere()));
}

TEST_P(SharedStores, DamageIsNotSetAsideThroughALink) {
  write_two();
  for (const auto& entry : fs::directory_iterator(store() + "/app/2")) flip_bit(entry.path(), 5000);
  fs::create_directory_symlink(elsewhere(), store() + "/.quarantine");
  run([&](const Rank& rank) {
    Protected app(rank, options());
    const auto status = perdure_restore(app.handle(), "app", PERDURE_LATEST);
    RANK_CHECK(status == PERDURE_OK || status == PERDURE_PERMISSION, app.error());
    (void)app.close();
    return 0;
  });
  EXPECT_TRUE(fs::is_empty(elsewhere()));
  EXPECT_FALSE(fs::is_empty(store() + "/app/2")) << "it stays where it was";
}

TEST_P(SharedStores, ANameOfSomebodyElseIsRefusedWithWhoseItIs) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  write_two();
  ASSERT_EQ(::chown((store() + "/app").c_str(), kEveUser, kEveUser), 0);
  run([&](const Rank& rank) {
    Protected app(rank, options());
    RANK_CHECK(perdure_restore(app.handle(), "app", PERDURE_LATEST) == PERDURE_PERMISSION, app.error());
    RANK_CHECK(says(app.error(), "it belongs to user " + std::to_string(kEveUser)), app.error());
    RANK_CHECK(app.checkpoint(3) == PERDURE_PERMISSION, app.error());
    RANK_CHECK(says(app.error(), store() + "/app"), app.error());
    (void)app.close();
    return 0;
  });
}

TEST_P(SharedStores, WhatAnotherUserLetsBeReadCanBeRestored) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can play another user";
  write_two();
  const std::string owner = "54323";
  for (const auto& entry : fs::recursive_directory_iterator(store()))
    ASSERT_EQ(::chown(entry.path().c_str(), 54323, 54323), 0);
  ASSERT_EQ(::chown(store().c_str(), 54323, 54323), 0);
  for (const auto& entry : fs::recursive_directory_iterator(store()))
    fs::permissions(entry.path(), entry.is_directory() ? fs::perms(0755) : fs::perms(0644));
  fs::permissions(store(), fs::perms(0755));
  fs::permissions(directory_.path(), fs::perms(0777));
  const std::string all = options("engine.daemon_path=" + within_reach(PERDURED_PATH, directory_.path()));
  run([&](const Rank& rank) {
    REQUIRE(become_user(kEveUser));
    Protected app(rank, all);
    RANK_CHECK(app.restores(PERDURE_LATEST, 2), app.error());
    const auto told = app.reports("belongs to user");
    RANK_CHECK(count_containing(told, "the store " + store() + " belongs to user " + owner) == 1, joined(told));
    (void)app.close();
    return 0;
  });
}

}  // namespace
