#include "engine/ledger/remembered.hpp"

#include <gtest/gtest.h>

namespace perdure::engine {
namespace {

segment::VersionId gone(std::uint64_t version) { return {"app", version, {version, 1}}; }

TEST(RememberedVersions, TheOldestNewsIsForgottenFirst) {
  Remembered<int> remembered(2);
  remembered.note(gone(9), 1);
  remembered.note(gone(1), 2);
  remembered.note(gone(5), 3);
  EXPECT_EQ(remembered.find(gone(9)), nullptr) << "not the one that comes first in order";
  ASSERT_NE(remembered.find(gone(1)), nullptr);
  EXPECT_EQ(*remembered.find(gone(1)), 2);
  EXPECT_EQ(*remembered.find(gone(5)), 3);
}

TEST(RememberedVersions, WhatIsNotedAgainIsNewAgain) {
  Remembered<int> remembered(2);
  remembered.note(gone(1), 1);
  remembered.note(gone(2), 2);
  remembered.note(gone(1), 3);
  remembered.note(gone(3), 4);
  EXPECT_EQ(remembered.find(gone(2)), nullptr);
  ASSERT_NE(remembered.find(gone(1)), nullptr);
  EXPECT_EQ(*remembered.find(gone(1)), 3);
  remembered.forget(gone(1));
  EXPECT_EQ(remembered.find(gone(1)), nullptr);
  remembered.clear();
  EXPECT_EQ(remembered.find(gone(3)), nullptr);
}

}  // namespace
}  // namespace perdure::engine
