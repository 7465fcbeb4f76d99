// Forks are recorded beside the versions of a name.
#include "store/forks.hpp"

#include <gtest/gtest.h>

#include "store/store.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::store {
namespace {

const std::vector<plan::Fork> kWritten{{0x3f9a12, 0, 5, 1'700'000'000'000'000'000}, {7, 0x3f9a12, 9, 42}};

TEST(Forks, AreReadAsTheyWereWritten) {
  EXPECT_EQ(decode_forks(encode(kWritten), "r").value(), kWritten);
  EXPECT_TRUE(decode_forks(encode(std::vector<plan::Fork>{}), "r").value().empty());
}

TEST(Forks, ThatAreNoneNameTheFile) {
  for (const char* content :
       {"", "[]", "{}", R"({"format": 1})", R"({"format": 1, "forks": [{}]})", R"({"format": 1, "forks": [3]})",
        R"({"format": 1, "forks": [{"branch": "xyz", "parent": "000000", "version": 1, "begun_ns": 1}]})",
        R"({"format": 1, "forks": [{"branch": "3f9a12", "parent": "000000", "version": -1, "begun_ns": 1}]})"}) {
    const auto forks = decode_forks(content, "/store/app/.forks");
    ASSERT_FALSE(forks) << content;
    EXPECT_EQ(forks.error().code, PERDURE_CORRUPT) << content;
    EXPECT_EQ(forks.error().object, "/store/app/.forks");
  }
  EXPECT_EQ(decode_forks(R"({"format": 2, "forks": []})", "r").error().code, PERDURE_UNSUPPORTED);
}

TEST(Forks, LieBesideTheVersionsOfAName) {
  test_support::TemporaryDirectory directory;
  const auto place = os::Directory::open(directory.path()).value();
  EXPECT_TRUE(read_forks(place).value().empty()) << "nobody went back";
  ASSERT_TRUE(write_forks(place, kWritten));
  EXPECT_EQ(read_forks(place).value(), kWritten);
  ASSERT_TRUE(write_forks(place, {}));
  EXPECT_TRUE(read_forks(place).value().empty());
}

// Then the line begins with the branch, and its origin is kept as another run's. A caller that removes other runs asks
// for the damage.
TEST(Forks, OfADamagedRecordAreNoneUnlessTheDamageIsAskedFor) {
  test_support::TemporaryDirectory directory;
  const auto store = make_store(directory / "store").value();
  ASSERT_TRUE(store->prepare());
  ASSERT_TRUE(set_forks(*store, "app", kWritten));
  EXPECT_EQ(recorded_forks(*store, "app").value(), kWritten);
  const auto place = os::Directory::open(directory / "store/app").value();
  ASSERT_TRUE(place.write_file_atomically(".forks", base::as_bytes(std::string("\0\0\0", 3))));
  EXPECT_TRUE(forks(*store, "app").value().empty());
  const auto damaged = recorded_forks(*store, "app");
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, PERDURE_CORRUPT);
  EXPECT_EQ(damaged.error().object, directory / "store/app/.forks");
}

TEST(Forks, OfAStoreThatIsNotThereAreNone) {
  test_support::TemporaryDirectory directory;
  const auto store = make_store(directory / "store").value();
  EXPECT_TRUE(forks(*store, "app").value().empty());
}

}  // namespace
}  // namespace perdure::store
