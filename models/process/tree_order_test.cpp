// Tests the order of making processes, so that each gets into its session and group.
#include "process/tree_order.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>

namespace perdure::process {
namespace {

using testing::HasSubstr;

/// Simulates the kernel: returns session and group of each process. Those of the maker are 1.
std::vector<Kin> made_by(const std::vector<TreeStep>& steps, const std::vector<Kin>& wanted) {
  std::vector<Kin> made(wanted.size());
  const auto at = [&](std::int32_t number) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i].number == number) return i;
    ADD_FAILURE() << number;
    return std::size_t{0};
  };
  made[0] = {wanted[0].number, 1, 1, 1, SIGCHLD};
  for (const TreeStep& step : steps) {
    const Kin& is = wanted[step.process];
    Kin& one = made[step.process];
    switch (step.what) {
      case TreeStep::What::make: {
        const Kin& parent = made[at(is.parent)];
        EXPECT_NE(parent.number, 0) << "its parent is not there yet";
        one = {is.number, is.parent, parent.group, parent.session, is.end_signal};
        break;
      }
      case TreeStep::What::lead_session:
        one.session = one.group = one.number;
        break;
      case TreeStep::What::lead_group:
        EXPECT_NE(one.session, one.number) << "the kernel refuses it to the leader of a session";
        one.group = one.number;
        break;
      case TreeStep::What::join_group:
        EXPECT_EQ(made[at(is.group)].group, is.group) << "there is no such group";
        EXPECT_EQ(made[at(is.group)].session, one.session) << "it is of another session";
        one.group = is.group;
        break;
    }
  }
  return made;
}

/// Sessions and groups that none of them leads become the maker's.
void expect_as(const std::vector<Kin>& wanted) {
  const auto steps = order_of_tree(wanted);
  ASSERT_TRUE(steps) << steps.error().text();
  const auto made = made_by(*steps, wanted);
  const auto is_one = [&](std::int32_t number) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const Kin& one) { return one.number == number; });
  };
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(made[i].session, is_one(wanted[i].session) ? wanted[i].session : 1) << wanted[i].number;
    EXPECT_EQ(made[i].group, is_one(wanted[i].group) ? wanted[i].group : 1) << wanted[i].number;
  }
}

std::string refusal(const std::vector<Kin>& kin) {
  const auto steps = order_of_tree(kin);
  return steps ? "" : steps.error().cause;
}

TEST(OrderOfTree, HasParentsFirst) {
  expect_as({{10, 1, 9, 9, SIGCHLD}, {11, 10, 9, 9, SIGCHLD}, {12, 10, 9, 9, SIGCHLD}, {13, 11, 9, 9, SIGCHLD}});
}

TEST(OrderOfTree, HasChildrenThatWereThereBeforeTheirParentBeganASession) {
  expect_as({{10, 1, 9, 9, SIGCHLD}, {11, 10, 11, 11, SIGCHLD}, {12, 11, 9, 9, SIGCHLD}, {13, 11, 11, 11, SIGCHLD}});
  expect_as({{10, 1, 10, 10, SIGCHLD}, {11, 10, 11, 11, SIGCHLD}, {12, 11, 9, 9, SIGCHLD}});
}

TEST(OrderOfTree, HasLeadersOfGroupsBeforeTheirMembers) {
  expect_as({{10, 1, 10, 9, SIGCHLD}, {11, 10, 12, 9, SIGCHLD}, {12, 10, 12, 9, SIGCHLD}, {13, 12, 10, 9, SIGCHLD}});
  expect_as({{10, 1, 9, 9, SIGCHLD}, {11, 10, 11, 11, SIGCHLD}, {12, 11, 12, 11, SIGCHLD}, {13, 12, 11, 11, SIGCHLD}});
}

TEST(OrderOfTree, RefusesGroupsAndSessionsThatNobodyCanGetInto) {
  EXPECT_THAT(refusal({{10, 1, 10, 10, SIGCHLD}, {11, 10, 8, 10, SIGCHLD}}), HasSubstr("whose leader has ended"));
  EXPECT_THAT(refusal({{10, 1, 9, 9, SIGCHLD}, {11, 10, 8, 9, SIGCHLD}}), HasSubstr("whose leader has ended"));
  EXPECT_THAT(refusal({{10, 1, 9, 9, SIGCHLD}, {11, 10, 9, 9, SIGCHLD}, {12, 10, 11, 9, SIGCHLD}}),
              HasSubstr("whose leader has left it"));
  EXPECT_THAT(refusal({{10, 1, 9, 9, SIGCHLD}, {11, 10, 8, 8, SIGCHLD}}), HasSubstr("did not get from its parent"));
  EXPECT_THAT(refusal({{10, 1, 10, 10, SIGCHLD}, {11, 10, 11, 12, SIGCHLD}, {12, 10, 12, 12, SIGCHLD}}),
              HasSubstr("another of them began"));
  EXPECT_THAT(refusal({{10, 1, 9, 9, SIGCHLD}, {11, 12, 9, 9, SIGCHLD}, {12, 10, 9, 9, SIGCHLD}}),
              HasSubstr("its parent is not one of them"));
  EXPECT_THAT(refusal({{10, 1, 9, 9, SIGCHLD}, {10, 10, 9, 9, SIGCHLD}}), HasSubstr("two of a number"));
}

}  // namespace
}  // namespace perdure::process
