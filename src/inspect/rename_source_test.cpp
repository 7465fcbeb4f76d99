// A rename chooses the directory whose segments it copies.
#include "inspect/rename_source.hpp"

#include <gtest/gtest.h>

namespace perdure::inspect {
namespace {

NameContent content(const std::string& said, std::set<std::uint64_t> versions) {
  NameContent content{{}, said, 0};
  for (const std::uint64_t version : versions) content.attempts.insert({version, {1000 + version, 7}});
  return content;
}

perdure_status refused(const RenameContents& contents) {
  const auto source = choose_rename_source("old", "new", contents);
  return source ? PERDURE_OK : source.error().code;
}

TEST(RenameSource, IsTheDirectoryOfTheOldNameWhereTheNewOneIsFree) {
  EXPECT_EQ(choose_rename_source("old", "new", {content("old", {1, 2}), {}, {}}).value(), RenameSource::old_name);
}

TEST(RenameSource, IsTheDirectoryThatWasRenamedByHandAlsoWhereTheOldNameIsThereAgain) {
  EXPECT_EQ(choose_rename_source("old", "new", {{}, content("old", {1}), {}}).value(), RenameSource::new_name);
  EXPECT_EQ(choose_rename_source("old", "new", {content("old", {5}), content("old", {1}), {}}).value(),
            RenameSource::new_name);
}

TEST(RenameSource, IsWhatAKilledRenamePutAside) {
  EXPECT_EQ(choose_rename_source("old", "new", {{}, content("new", {1}), content("old", {1, 2})}).value(),
            RenameSource::aside);
  EXPECT_EQ(choose_rename_source("old", "new", {content("old", {9}), {}, content("old", {1, 2})}).value(),
            RenameSource::aside);
}

TEST(RenameSource, OfAKilledRenameIsGoneOnWith) {
  EXPECT_EQ(choose_rename_source("old", "new", {content("old", {1, 2}), content("new", {2}), {}}).value(),
            RenameSource::old_name);
}

TEST(RenameSource, TakesNoNameThatSomebodyElseHas) {
  EXPECT_EQ(refused({content("old", {1}), content("new", {5}), {}}), PERDURE_EXISTS);
  EXPECT_EQ(refused({content("old", {1}), content("third", {1}), {}}), PERDURE_EXISTS);
  EXPECT_EQ(refused({{}, content("old", {1}), content("third", {1})}), PERDURE_EXISTS);
}

TEST(RenameSource, TakesNoNameThatWasForgottenSince) {
  NameContent forgotten;
  forgotten.forgotten_ns = 1001;
  EXPECT_EQ(refused({content("old", {1}), forgotten, {}}), PERDURE_EXISTS);
  EXPECT_EQ(refused({content("old", {2}), forgotten, {}}), PERDURE_OK);
}

TEST(RenameSource, IsNoneOfWhatIsNotThereOrSaysSeveralNames) {
  EXPECT_EQ(refused({}), PERDURE_NOT_FOUND);
  EXPECT_EQ(refused({content("", {1}), {}, {}}), PERDURE_MISMATCH);
  EXPECT_EQ(choose_rename_source("old", "old", {content("old", {1}), {}, {}}).error().code, PERDURE_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace perdure::inspect
