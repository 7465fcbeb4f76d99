// Others can write in the store's directory. They cannot lead anybody elsewhere, and their files count as theirs alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "store/posix_layout.hpp"
#include "support/temporary_directory.hpp"
#include "support/write_segment.hpp"

namespace perdure::store {
namespace {

using segment::VersionId;
using test_support::check_version;
using test_support::sample_version;
using test_support::write_segment;
using testing::HasSubstr;
using testing::IsEmpty;
namespace files = std::filesystem;

constexpr std::uint32_t kEve = 12345, kLeader = 12346;
const VersionId kSample{"nbody", 1, {1000, 7}};
const std::string kSampleFile = segment::file_name(0, 1, kSample.attempt);
const base::Error kDamage{PERDURE_CORRUPT, "x.pds", "damaged", "", false};

class SharedStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(store_->prepare());
    files::create_directories(elsewhere_);
  }
  std::unique_ptr<Store> open(Whose whose = Whose::trusted) { return make_store(root_, {}, whose).value(); }
  base::Status write_one() { return write_segment(*store_, sample_version(kSample, 1)[0]); }
  /// Puts a link there, in place of an existing file, as its user would.
  void link(const std::string& path, const std::string& target, std::uint32_t user = 0) {
    files::remove_all(root_ + "/" + path);
    files::create_directory_symlink(target, root_ + "/" + path);
    if (user != 0) {
      ASSERT_EQ(::lchown((root_ + "/" + path).c_str(), user, user), 0);
    }
  }
  void give(const std::string& path, std::uint32_t user) {
    ASSERT_EQ(::lchown((root_ + "/" + path).c_str(), user, user), 0);
  }
  void expect_refused(const base::Status& status, const std::string& path, const std::string& why) {
    ASSERT_FALSE(status) << path;
    EXPECT_EQ(status.error().code, PERDURE_PERMISSION) << status.error().text();
    EXPECT_THAT(status.error().text(), testing::AllOf(HasSubstr(root_ + "/" + path), HasSubstr(why)));
    EXPECT_FALSE(status.error().remedy.empty());
  }
  template <class Value>
  void expect_refused(const base::Result<Value>& result, const std::string& path, const std::string& why) {
    expect_refused(result ? base::Status() : base::Status(base::fail(result.error())), path, why);
  }
  bool nothing_elsewhere() const { return files::is_empty(elsewhere_); }

  test_support::TemporaryDirectory directory_;
  const std::string root_ = directory_ / "store", elsewhere_ = directory_ / "elsewhere";
  std::unique_ptr<Store> store_ = open();
};

class SharedStoreOfOthers : public SharedStoreTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    ASSERT_NO_FATAL_FAILURE(SharedStoreTest::SetUp());
  }
};

TEST_F(SharedStoreTest, ItsRootMayBeReachedThroughALink) {
  files::create_directory_symlink(root_, directory_ / "to-it");
  store_ = make_store(directory_ / "to-it").value();
  ASSERT_TRUE(store_->prepare());
  ASSERT_TRUE(write_one());
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
}

TEST_F(SharedStoreTest, ALinkInThePlaceOfANameIsNotFollowed) {
  link("nbody", elsewhere_);
  constexpr const char* kWhy = "it is a link, made by user";
  expect_refused(write_one(), "nbody", kWhy);
  expect_refused(store_->list("nbody"), "nbody", kWhy);
  expect_refused(store_->owner("nbody"), "nbody", kWhy);
  expect_refused(store_->set_owner("nbody", std::nullopt, {}), "nbody", kWhy);
  expect_refused(store_->incarnation("nbody", Missing::make), "nbody", kWhy);
  expect_refused(store_->forget("nbody", 5), "nbody", kWhy);
  expect_refused(store_->remove(kSample), "nbody", kWhy);
  expect_refused(store_->resume(sample_version(kSample, 1)[0], 8192), "nbody", kWhy);
  EXPECT_THAT(store_->names().value(), IsEmpty());
  EXPECT_TRUE(nothing_elsewhere());
}

TEST_F(SharedStoreTest, ALinkInThePlaceOfAVersionIsNotFollowed) {
  ASSERT_TRUE(write_one());
  const auto listed = store_->list("nbody").value().at(0);
  files::rename(root_ + "/nbody/1", elsewhere_ + "/1");
  link("nbody/1", elsewhere_ + "/1");
  constexpr const char* kWhy = "it is a link, made by user";
  expect_refused(write_segment(*store_, sample_version({"nbody", 1, {2000, 1}}, 1)[0]), "nbody/1", kWhy);
  expect_refused(store_->open(listed.segments[0]), "nbody/1", kWhy);
  expect_refused(store_->open_anew(listed.segments[0]), "nbody/1", kWhy);
  expect_refused(store_->remove(kSample), "nbody/1", kWhy);
  expect_refused(store_->quarantine(listed.segments[0], kSample, kDamage), "nbody/1", kWhy);
  EXPECT_THAT(store_->list("nbody").value(), IsEmpty());
  EXPECT_TRUE(files::exists(elsewhere_ + "/1/" + kSampleFile)) << "what a link leads to is not removed";
  EXPECT_EQ(std::distance(files::directory_iterator(elsewhere_ + "/1"), {}), 1);
}

TEST_F(SharedStoreTest, ALinkThatAppearsWhileASegmentIsWrittenIsNotFollowed) {
  const auto manifest = sample_version(kSample, 1)[0];
  const auto file = test_support::sample_file(manifest);
  auto sink = store_->begin(manifest, file.size()).value();
  ASSERT_TRUE(sink->write(0, file));
  files::rename(root_ + "/nbody/1", root_ + "/nbody/aside");
  link("nbody/1", elsewhere_);
  expect_refused(sink->commit(), "nbody/1", "it is a link");
  EXPECT_TRUE(nothing_elsewhere());
}

TEST_F(SharedStoreTest, APathOutOfTheStoreIsNotOpened) {
  for (const char* path : {"../elsewhere/x", "nbody/../../x", "/etc/passwd", "", "nbody//1"})
    EXPECT_EQ(store_->open({0, 1, {}, path, {}}).error().code, PERDURE_INVALID_ARGUMENT) << path;
}

TEST_F(SharedStoreTest, ALinkInThePlaceOfTheQuarantineIsNotFollowed) {
  ASSERT_TRUE(write_one());
  link(".quarantine", elsewhere_);
  const auto listed = store_->list("nbody").value().at(0);
  expect_refused(store_->quarantine(listed.segments[0], kSample, kDamage), ".quarantine", "it is a link");
  expect_refused(store_->set_aside("nbody"), ".quarantine", "it is a link");
  EXPECT_EQ(check_version(*store_, listed), "") << "it stays where it was";
  EXPECT_TRUE(nothing_elsewhere());
}

TEST_F(SharedStoreOfOthers, WhatOthersPutInThePlaceOfTheQuarantineIsPassedOver) {
  for (const bool is_link : {true, false}) {
    ASSERT_TRUE(write_one());
    if (is_link) {
      link(".quarantine", elsewhere_, kEve);
    } else {
      files::remove(root_ + "/.quarantine");
      files::create_directory(root_ + "/.quarantine");
      std::ofstream(root_ + "/.quarantine/nbody.9." + kSampleFile) << "as if it had been set aside";
      give(".quarantine", kEve);
    }
    ASSERT_TRUE(store_->quarantine(store_->list("nbody").value().at(0).segments[0], kSample, kDamage));
    const auto aside = store_->set_aside("nbody").value();
    ASSERT_EQ(aside.size(), is_link ? 1U : 2U) << "its own only";
    for (const auto& segment : aside)
      EXPECT_THAT(segment.path, HasSubstr(root_ + "/.quarantine-" + std::to_string(::geteuid()) + "/"));
    EXPECT_TRUE(nothing_elsewhere());
    const auto residue = store_->residue();
    ASSERT_TRUE(residue) << residue.error().text();
    const auto& shown = *residue;
    EXPECT_TRUE(std::any_of(shown.begin(), shown.end(), [&](const Residue& piece) {
      return piece.kind == Residue::Kind::quarantined && piece.path == aside[0].path;
    }));
  }
}

TEST_F(SharedStoreOfOthers, ANameOfSomebodyElseIsNeitherReadNorWritten) {
  ASSERT_TRUE(write_one());
  const auto listed = store_->list("nbody").value().at(0);
  give("nbody", kEve);
  const std::string why = "it belongs to user " + std::to_string(kEve);
  expect_refused(write_segment(*store_, sample_version({"nbody", 2, {2000, 1}}, 1)[0]), "nbody", why);
  expect_refused(store_->list("nbody"), "nbody", why);
  expect_refused(store_->open(listed.segments[0]), "nbody", why);
  expect_refused(store_->set_owner("nbody", std::nullopt, {}), "nbody", why);
  const auto tool = open(Whose::anybodys);
  EXPECT_EQ(check_version(*tool, tool->list("nbody").value().at(0)), "") << "tools look at what is anybody's";
}

TEST_F(SharedStoreOfOthers, AVersionOrASegmentOfSomebodyElseInAnOwnNameIsNotRead) {
  ASSERT_TRUE(write_one());
  const auto listed = store_->list("nbody").value().at(0);
  const std::string why = "it belongs to user " + std::to_string(kEve);
  give("nbody/1/" + kSampleFile, kEve);
  expect_refused(store_->open(listed.segments[0]), "nbody/1/" + kSampleFile, why);
  give("nbody/1/" + kSampleFile, ::geteuid());
  give("nbody/1", kEve);
  expect_refused(store_->open(listed.segments[0]), "nbody/1", why);
  expect_refused(write_one(), "nbody/1", why);
}

TEST_F(SharedStoreOfOthers, ItsOwnersNamesCanBeReadAndWritten) {
  ASSERT_TRUE(write_one());
  for (const std::string& path :
       {std::string("."), std::string("nbody"), std::string("nbody/1"), "nbody/1/" + kSampleFile})
    give(path, kEve);
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
  EXPECT_TRUE(write_segment(*store_, sample_version({"nbody", 2, {2000, 1}}, 1)[0]));
  EXPECT_EQ(store_->list("nbody").value().size(), 2U);
}

TEST_F(SharedStoreOfOthers, SeveralUsersWorkInOneEachWithNamesOfHisOwn) {
  give(".", kLeader);
  ASSERT_TRUE(write_one());
  files::create_directories(root_ + "/theirs/1");
  std::ofstream(root_ + "/theirs/1/.tmp-" + kSampleFile) << "being written";
  give("theirs", kEve);
  EXPECT_THAT(store_->names().value(), testing::ElementsAre("nbody", "theirs"));
  std::ofstream(root_ + "/nbody/1/.tmp-" + kSampleFile) << "left by a killed writer";
  ASSERT_TRUE(store_->clean([](const VersionId&, std::uint32_t) { return true; })) << "others' names keep nobody back";
  EXPECT_FALSE(files::exists(root_ + "/nbody/1/.tmp-" + kSampleFile));
  EXPECT_TRUE(files::exists(root_ + "/theirs/1/.tmp-" + kSampleFile));
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
  ASSERT_TRUE(store_->remove(kSample));
}

}  // namespace
}  // namespace perdure::store
