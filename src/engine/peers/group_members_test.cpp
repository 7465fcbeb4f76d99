#include "engine/peers/group_members.hpp"

#include <gmock/gmock.h>

namespace perdure::engine {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kSecond = 1'000'000'000;

network::Bytes address_of(std::uint64_t number) {
  return network::encode(network::Address{network::Bytes(3, static_cast<std::byte>(number)), number});
}
std::string name_of(std::uint64_t number) { return network::decode_address(address_of(number))->text(); }

class MembersOfAGroup : public testing::Test {
 protected:
  MembersOfAGroup() {
    ipc::Join join{7, 0, 1, {address_of(1), address_of(2), address_of(3)}, {0}, {"one", "here", "three"}};
    members.join(join, 100 * kSecond);
  }
  std::optional<base::Error> missing(std::uint64_t after_s, const std::vector<std::uint64_t>& connected) {
    return members.missing(
        [&](base::ConstByteSpan address) {
          return std::any_of(connected.begin(), connected.end(), [&](std::uint64_t number) {
            const auto there = address_of(number);
            return std::equal(address.begin(), address.end(), there.begin(), there.end());
          });
        },
        (100 + after_s) * kSecond);
  }
  GroupMembers members;
};

TEST_F(MembersOfAGroup, HaveTheNamesOfTheirNodes) {
  EXPECT_EQ(members.node_of(name_of(3)), "three");
  EXPECT_EQ(members.node_of(name_of(2)), std::nullopt) << "this node is no other member";
  EXPECT_EQ(members.node_of(name_of(9)), std::nullopt);
}

TEST_F(MembersOfAGroup, ThatWereLostAreMissingUntilTheyAreBack) {
  EXPECT_FALSE(missing(0, {}));
  members.lost(name_of(3), {PERDURE_PEER_FAILED, name_of(3), "its process is gone", "", true});
  const auto error = missing(1, {1});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, PERDURE_UNAVAILABLE);
  EXPECT_THAT(error->text(), HasSubstr("node three: its engine is gone, and level node needs it: its process is gone"));
  EXPECT_FALSE(missing(2, {1, 3}));
  EXPECT_FALSE(missing(3, {1})) << "it was not lost again yet";
}

TEST_F(MembersOfAGroup, ThatNeverCameAreMissingAfterAWhile) {
  EXPECT_FALSE(missing(19, {3}));
  const auto error = missing(21, {3});
  ASSERT_TRUE(error);
  EXPECT_THAT(error->text(), HasSubstr("node one: "));
}

TEST_F(MembersOfAGroup, OfAnEarlierLaunchDoNotMatter) {
  members.lost(name_of(3), {PERDURE_PEER_FAILED, name_of(3), "its process is gone", "", true});
  members.join({8, 0, 0, {address_of(2), address_of(4)}, {0}, {"here", "four"}}, 200 * kSecond);
  members.lost(name_of(3), {PERDURE_PEER_FAILED, name_of(3), "its process is gone", "", true});
  EXPECT_FALSE(missing(101, {}));
}

}  // namespace
}  // namespace perdure::engine
