// Programs of a name are asked to end at a time.
#include "store/halt_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temporary_directory.hpp"

namespace perdure::store {
namespace {

class HaltRecord : public testing::Test {
 protected:
  HaltRecord() : store_(make_store(directory_ / "store").value()) {
    std::filesystem::create_directory(directory_ / "store");
    EXPECT_TRUE(store_->incarnation("run", Missing::make));
  }
  std::string file() const { return directory_ / "store/run/.halt"; }

  test_support::TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
};

TEST_F(HaltRecord, IsKeptUntilItIsTakenBack) {
  EXPECT_EQ(halt_at(*store_, "run").value(), 0U);
  ASSERT_TRUE(set_halt(*store_, "run", 4711));
  EXPECT_EQ(halt_at(*store_, "run").value(), 4711U);
  ASSERT_TRUE(set_halt(*store_, "run", 17));
  EXPECT_EQ(halt_at(*store_, "run").value(), 17U);
  EXPECT_TRUE(store_->residue().value().empty()) << "it is Perdure's own";
  for (int times = 0; times < 2; ++times) ASSERT_TRUE(set_halt(*store_, "run", 0));
  EXPECT_EQ(halt_at(*store_, "run").value(), 0U);
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(HaltRecord, OfANameThatIsNotThereIsRefused) {
  EXPECT_EQ(halt_at(*store_, "other").value(), 0U);
  EXPECT_EQ(set_halt(*store_, "other", 1).error().code, PERDURE_NOT_FOUND);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "store/other"));
  EXPECT_EQ(set_halt(*store_, "../other", 1).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_FALSE(halt_at(*store_, ""));
}

TEST_F(HaltRecord, WithAFlippedBitHaltsNobody) {
  ASSERT_TRUE(set_halt(*store_, "run", 1'700'000'000'000'000'000));
  std::string good;
  {
    std::ifstream input(file());
    good.assign(std::istreambuf_iterator<char>(input), {});
  }
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    std::ofstream(file()) << bad;
    EXPECT_FALSE(halt_at(*store_, "run")) << bad;
  }
}

TEST_F(HaltRecord, CorruptHaltsNobodyAndIsNamed) {
  for (const char* text : {"", "halt", "halt \n", "halt 12", "halt 12 \n", "halt -1\n", "halt 99999999999999999999\n",
                           "stop 12\n", "halt 12\nhalt 13\n"}) {
    std::ofstream(file()) << text;
    const auto found = halt_at(*store_, "run");
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().code, PERDURE_CORRUPT) << text;
    EXPECT_THAT(found.error().text(), testing::HasSubstr(file() + ": it is no request to halt"));
  }
  std::ofstream(file()) << std::string(1000, 'x');
  EXPECT_FALSE(halt_at(*store_, "run"));
  ASSERT_TRUE(set_halt(*store_, "run", 0));
  EXPECT_EQ(halt_at(*store_, "run").value(), 0U);
}

}  // namespace
}  // namespace perdure::store
