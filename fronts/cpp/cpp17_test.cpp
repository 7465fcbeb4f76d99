// What a C++17 program does with the veneer.
#include <gtest/gtest.h>

#include <array>
#include <type_traits>

#include "perdure/perdure.hpp"

static_assert(__cplusplus == 201703L, "this file checks the veneer with the oldest standard it promises");
static_assert(std::is_nothrow_move_constructible_v<perdure::Handle>);
static_assert(!std::is_copy_constructible_v<perdure::Handle>);

TEST(Cpp17, AHandleThatWasNeverOpenedGivesErrorsInBothStyles) {
  perdure::Handle handle;
  std::array<double, 4> numbers{};
  const auto done = handle.protect(1, numbers);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, PERDURE_CLOSED);
  double number = 0;
  EXPECT_EQ(handle.protect_all(1, numbers, number).error().code, PERDURE_CLOSED);
  EXPECT_THROW(handle.checkpoint("run", 1).value(), perdure::Failure);
  EXPECT_TRUE(handle.close().ok());
}
