// Files belong to other users, or others may write where they are.
#include "store/ownership.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "os/system.hpp"
#include "store/store.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::store {
namespace {

using testing::HasSubstr;

class Ownership : public testing::Test {
 protected:
  Ownership() {
    std::filesystem::create_directories(version_);
    std::ofstream(segment_) << "segment";
    std::ofstream(borrowed_) << "borrowed";
    for (const std::string& path : {directory_ / "store", name_, version_}) ::chmod(path.c_str(), 0700);
    for (const std::string& path : {segment_, borrowed_}) ::chmod(path.c_str(), 0600);
  }
  base::Status check(std::uint32_t user = os::user_id()) { return check_ownership(*store_, "app", user); }

  test_support::TemporaryDirectory directory_;
  const std::string name_ = directory_ / "store/app", version_ = name_ + "/3", segment_ = version_ + "/0-of-1.pds",
                    borrowed_ = version_ + "/.borrowed-2-x-0-of-1.pds";
  std::unique_ptr<Store> store_ = make_store(directory_ / "store").value();
};

TEST_F(Ownership, OfTheCallerPasses) {
  EXPECT_TRUE(check());
  EXPECT_TRUE(check_ownership(*store_, "other", os::user_id())) << "nothing of it is there";
  std::filesystem::remove_all(directory_ / "store");
  EXPECT_TRUE(check());
}

TEST_F(Ownership, OfAnotherUserIsRefusedByName) {
  constexpr uid_t kOther = 4711;
  if (os::user_id() != 0) {  // all of it is another user's
    const auto refused = check(os::user_id() + 1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_PERMISSION);
    EXPECT_THAT(refused.error().text(), HasSubstr("it belongs to user " + os::user_name(os::user_id())));
    return;
  }
  for (const std::string& path : {directory_ / "store", name_, version_, segment_, borrowed_}) {
    ASSERT_EQ(::chown(path.c_str(), kOther, kOther), 0);
    const auto refused = check(0);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().code, PERDURE_PERMISSION);
    EXPECT_THAT(refused.error().text(), HasSubstr(path + ": it belongs to user " + os::user_name(kOther)));
    EXPECT_TRUE(check(kOther)) << "root's own files and one's own";
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  }
}

TEST_F(Ownership, WhereOthersMayWriteIsRefused) {
  for (const std::string& path : {directory_ / "store", name_, version_, segment_}) {
    for (const mode_t more : {0020, 0002}) {
      ASSERT_EQ(::chmod(path.c_str(), 0700 | more), 0);
      const auto refused = check();
      ASSERT_FALSE(refused) << path;
      EXPECT_THAT(refused.error().text(), HasSubstr(path + ": others may write there"));
    }
    ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
  }
  ASSERT_EQ(::chmod((directory_ / "store").c_str(), 01777), 0);
  EXPECT_TRUE(check()) << "as in /tmp nobody can replace what is another's";
}

}  // namespace
}  // namespace perdure::store
