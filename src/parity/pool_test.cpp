#include "parity/pool.hpp"

#include <gtest/gtest.h>

#include <random>

namespace perdure::parity {
namespace {

using base::MiB;

std::shared_ptr<Pool> small_pool(std::uint64_t bytes) {
  auto pool = Pool::make(bytes, "pool", false);
  EXPECT_TRUE(pool);
  return *pool;
}

TEST(Pool, GivesPiecesThatDoNotOverlapAndTakesThemBack) {
  const auto pool = small_pool(1 * MiB);
  std::mt19937_64 random(7);
  std::vector<std::pair<Pool::Piece, std::byte>> held;
  for (int step = 0; step < 300; ++step) {
    const auto fill = static_cast<std::byte>(step);
    if (auto piece = pool->take(random() % 60'000); piece && random() % 2 == 0) {
      std::fill(piece->span().begin(), piece->span().end(), fill);
      held.emplace_back(std::move(*piece), fill);
    }
    if (!held.empty() && random() % 3 == 0) {
      std::swap(held[random() % held.size()], held.back());
      for (const std::byte byte : held.back().first.span()) ASSERT_EQ(byte, held.back().second);
      held.pop_back();
    }
  }
  held.clear();
  EXPECT_EQ(pool->room().free, 1 * MiB);
  EXPECT_EQ(pool->room().largest, 1 * MiB) << "what lies side by side is one piece again";
}

TEST(Pool, RefusesWhatDoesNotFitInOnePiece) {
  const auto pool = small_pool(12'288);
  auto first = pool->take(4096);
  auto second = pool->take(1);
  auto third = pool->take(4096);
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(pool->take(1).error().code, PERDURE_NO_SPACE);
  { const auto back = std::move(*first); }
  { const auto back = std::move(*third); }
  EXPECT_EQ(pool->room().free, 8192u);
  EXPECT_EQ(pool->room().largest, 4096u);
  EXPECT_EQ(pool->take(8192).error().code, PERDURE_NO_SPACE);
  EXPECT_EQ(pool->take(~std::uint64_t{0}).error().code, PERDURE_NO_SPACE) << "no sum wraps around";
}

TEST(Pool, NothingTakesNoRoom) {
  const auto pool = small_pool(4096);
  const auto nothing = pool->take(0);
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->span().empty());
  EXPECT_EQ(pool->room().free, 4096u);
}

TEST(Pool, OutlivesItsMakerAsLongAsAPieceIsHeld) {
  auto pool = small_pool(8192);
  const auto piece = pool->take(5000);
  pool.reset();
  ASSERT_TRUE(piece);
  piece->span()[4999] = std::byte{1};
  EXPECT_EQ(piece->span()[4999], std::byte{1});
}

TEST(Pool, CanBeBackedFromTheStart) {
  const auto pool = Pool::make(3 * MiB, "pool", true);
  ASSERT_TRUE(pool);
  const auto piece = (*pool)->take(3 * MiB);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->span()[3 * MiB - 1], std::byte{0});
}

TEST(Pool, SizesThatAreNoneAreRefused) {
  EXPECT_EQ(Pool::make(0, "pool", false).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(Pool::make(~std::uint64_t{0}, "pool", false).error().code, PERDURE_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace perdure::parity
