#include "os/directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "os/fault_rules.hpp"
#include "os/file.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::os {
namespace {

using test_support::InstalledHooks;
using test_support::TemporaryDirectory;
using testing::ElementsAre;

void touch(const std::string& path) { ASSERT_TRUE(File::open(path, Open::create)) << path; }

mode_t mode_of(const std::string& path) {
  struct stat facts {};
  EXPECT_EQ(::lstat(path.c_str(), &facts), 0);
  return facts.st_mode & 07777;
}

TEST(ListDirectory, GivesSortedNamesAndTellsDirectoriesApart) {
  const TemporaryDirectory directory;
  touch(directory / "b");
  touch(directory / ".hidden");
  ASSERT_TRUE(make_directory(directory / "a"));
  ASSERT_EQ(::symlink("a", (directory / "link").c_str()), 0);
  std::vector<std::string> names;
  std::vector<bool> directories;
  const std::vector<Entry> entries = list_directory(directory.path()).value();
  for (const Entry& entry : entries) {
    names.push_back(entry.name);
    directories.push_back(entry.directory);
  }
  EXPECT_THAT(names, ElementsAre(".hidden", "a", "b", "link"));
  EXPECT_THAT(directories, ElementsAre(false, true, false, false));
}

TEST(ListDirectory, FailsOnWhatIsMissingOrNoDirectory) {
  const TemporaryDirectory directory;
  touch(directory / "file");
  EXPECT_EQ(list_directory(directory / "missing").error().code, PERDURE_NOT_FOUND);
  EXPECT_FALSE(list_directory(directory / "file"));
}

TEST(MakeDirectory, IsPrivateAndRepeatable) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(make_directory(directory / "a"));
  EXPECT_TRUE(make_directory(directory / "a"));
  EXPECT_EQ(mode_of(directory / "a"), 0700U);
  touch(directory / "file");
  EXPECT_FALSE(make_directory(directory / "file"));
}

/// Records calls and paths.
struct Recorder : Hooks {
  void after(const Operation& operation, int error_number) override {
    if (error_number == 0) calls.push_back(std::string(operation.call) + " " + operation.path);
  }
  std::vector<std::string> calls;
};

TEST(MakeDirectories, SyncsEveryNewDirectoryIntoItsParentBeforeGoingDeeper) {
  const TemporaryDirectory directory;
  Recorder recorder;
  {
    const InstalledHooks installed(recorder);
    ASSERT_TRUE(make_directories(directory / "a/b/../b/c/"));
  }
  std::erase_if(recorder.calls,
                [](const std::string& call) { return !call.starts_with("mkdir") && !call.starts_with("fsync"); });
  EXPECT_THAT(recorder.calls, ElementsAre("mkdir " + directory / "a", "fsync_dir " + directory.path(),
                                          "mkdir " + directory / "a/b", "fsync_dir " + directory / "a",
                                          "mkdir " + directory / "a/b/c", "fsync_dir " + directory / "a/b"));
}

TEST(MakeDirectories, SucceedsOnWhatIsThereAndFailsOnAFileInTheWay) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(make_directories(directory.path()));
  touch(directory / "file");
  EXPECT_FALSE(make_directories(directory / "file"));
  EXPECT_FALSE(make_directories(directory / "file/below"));
}

TEST(MakePrivateDirectory, AcceptsOnlyADirectoryOfOursThatNobodyElseCanEnter) {
  const TemporaryDirectory directory;
  const std::string path = directory / "private";
  ASSERT_TRUE(make_private_directory(path));
  EXPECT_EQ(mode_of(path), 0700U);
  EXPECT_TRUE(make_private_directory(path));
  ASSERT_EQ(::chmod(path.c_str(), 0710), 0);
  EXPECT_EQ(make_private_directory(path).error().code, PERDURE_PERMISSION);
}

TEST(MakePrivateDirectory, RefusesALinkAndAFile) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(make_private_directory(directory / "real"));
  ASSERT_EQ(::symlink("real", (directory / "link").c_str()), 0);
  touch(directory / "file");
  EXPECT_EQ(make_private_directory(directory / "link").error().code, PERDURE_PERMISSION);
  EXPECT_EQ(make_private_directory(directory / "link").error().remedy, "remove it") << "it is ours";
  EXPECT_EQ(make_private_directory(directory / "file").error().code, PERDURE_PERMISSION);
}

TEST(MakePrivateDirectory, RefusesTheDirectoryOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  const TemporaryDirectory directory;
  ASSERT_TRUE(make_private_directory(directory / "a"));
  ASSERT_EQ(::chown((directory / "a").c_str(), 12345, 12345), 0);
  EXPECT_EQ(make_private_directory(directory / "a").error().code, PERDURE_PERMISSION);
  touch(directory / "file");
  ASSERT_EQ(::chown((directory / "file").c_str(), 12345, 12345), 0);
  EXPECT_THAT(make_private_directory(directory / "file").error().remedy, testing::HasSubstr("only its owner"));
}

TEST(SyncDirectory, AcceptsFileSystemsThatRefuseTheCallButNoOtherFailure) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(sync_directory(directory.path()));
  FaultRules faults(parse_fault_rules("fsync_dir::EINVAL:1:1;fsync_dir::EIO:2").value());
  const InstalledHooks installed(faults);
  EXPECT_TRUE(sync_directory(directory.path()));
  EXPECT_EQ(sync_directory(directory.path()).error().code, PERDURE_IO);
}

TEST(Remove, SucceedsWhenNothingIsThere) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(remove_file(directory / "x"));
  EXPECT_TRUE(remove_directory(directory / "x"));
  EXPECT_TRUE(remove_tree(directory / "x"));
}

TEST(RemoveDirectory, RefusesOneThatIsNotEmpty) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(make_directory(directory / "a"));
  touch(directory / "a/file");
  EXPECT_FALSE(remove_directory(directory / "a"));
  ASSERT_TRUE(remove_file(directory / "a/file"));
  EXPECT_TRUE(remove_directory(directory / "a"));
}

TEST(RemoveDirectory, IfItIsEmptyTellsThatItIsNotFromWhatFails) {
  const TemporaryDirectory directory;
  const auto place = Directory::open(directory.path()).value();
  EXPECT_TRUE(place.remove_if_empty("a").value()) << "nothing is there";
  ASSERT_TRUE(place.make_directory("a"));
  touch(directory / "a/file");
  EXPECT_FALSE(place.remove_if_empty("a").value());
  ASSERT_TRUE(remove_file(directory / "a/file"));
  {
    FaultRules faults(parse_fault_rules("rmdir:/a:EIO:1:1").value());
    const InstalledHooks installed(faults);
    EXPECT_EQ(place.remove_if_empty("a").error().code, PERDURE_IO);
  }
  EXPECT_TRUE(place.remove_if_empty("a").value());
  EXPECT_FALSE(std::filesystem::exists(directory / "a"));
}

TEST(RemoveTree, RemovesEverythingBelowAndNothingBehindLinks) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(make_directories(directory / "kept"));
  touch(directory / "kept/file");
  ASSERT_TRUE(make_directories(directory / "tree/a/b"));
  touch(directory / "tree/a/b/file");
  touch(directory / "tree/file");
  ASSERT_EQ(::symlink("../kept", (directory / "tree/link").c_str()), 0);
  ASSERT_EQ(::symlink("tree", (directory / "way").c_str()), 0);
  ASSERT_TRUE(remove_tree(directory / "way"));
  EXPECT_TRUE(exists(directory / "tree/file").value());
  ASSERT_TRUE(remove_tree(directory / "tree"));
  EXPECT_FALSE(exists(directory / "tree").value());
  EXPECT_TRUE(exists(directory / "kept/file").value());
}

TEST(RemoveTree, RemovesASingleFile) {
  const TemporaryDirectory directory;
  touch(directory / "file");
  EXPECT_TRUE(remove_tree(directory / "file"));
  EXPECT_FALSE(exists(directory / "file").value());
}

TEST(RenamePath, NamesBothPathsWhenItFails) {
  const TemporaryDirectory directory;
  const auto failed = rename_path(directory / "from", directory / "to");
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().text(), testing::HasSubstr("/from"));
  EXPECT_THAT(failed.error().text(), testing::HasSubstr("/to"));
}

TEST(RenameToFree, WorksWhereFileSystemsKnowNoExclusiveRenameAndReportsEverythingElse) {
  const TemporaryDirectory directory;
  for (const int unknown : {EINVAL, ENOSYS, EOPNOTSUPP, EPERM}) {
    touch(directory / "from");
    FaultRules faults({{"rename", "from", unknown, 1, 1}});
    const test_support::InstalledHooks installed(faults);
    ASSERT_TRUE(rename_to_free(directory / "from", directory / "to")) << unknown;
    EXPECT_FALSE(exists(directory / "from").value());
    ASSERT_TRUE(remove_file(directory / "to"));
  }
  touch(directory / "from");
  for (const char* call : {"rename", "link"}) {
    FaultRules faults({{"rename", "from", std::string(call) == "rename" ? EIO : EINVAL, 1, 1}, {"link", "from", EIO}});
    const test_support::InstalledHooks installed(faults);
    EXPECT_EQ(rename_to_free(directory / "from", directory / "to").error().code, PERDURE_IO) << call;
    EXPECT_FALSE(exists(directory / "to").value()) << call;
  }
}

TEST(ExchangePaths, GivesEachTheOthersNameOrSaysThatItCannot) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(make_directory(directory / "full"));
  touch(directory / "full/inside");
  ASSERT_TRUE(make_directory(directory / "empty"));
  ASSERT_TRUE(exchange_paths(directory / "full", directory / "empty"));
  EXPECT_TRUE(exists(directory / "empty/inside").value());
  EXPECT_FALSE(exists(directory / "full/inside").value());
  EXPECT_EQ(exchange_paths(directory / "full", directory / "none").error().code, PERDURE_NOT_FOUND);
  for (const int unknown : {EINVAL, ENOSYS, EOPNOTSUPP, EPERM}) {
    FaultRules faults({{"rename", "full", unknown, 1, 1}});
    const test_support::InstalledHooks installed(faults);
    EXPECT_EQ(exchange_paths(directory / "full", directory / "empty").error().code, PERDURE_UNSUPPORTED) << unknown;
  }
  EXPECT_TRUE(exists(directory / "empty/inside").value());
}

TEST(RenameToFree, LooksFirstWhereFileSystemsKnowNoSecondNamesEither) {
  const TemporaryDirectory directory;
  for (const int unknown : {EPERM, EMLINK, EOPNOTSUPP}) {
    touch(directory / "from");
    FaultRules faults({{"rename", "from", EINVAL, 1, 1}, {"link", "from", unknown}, {"rename", "from", EINVAL, 3, 1}});
    const test_support::InstalledHooks installed(faults);
    ASSERT_TRUE(rename_to_free(directory / "from", directory / "to")) << unknown;
    touch(directory / "from");
    EXPECT_EQ(rename_to_free(directory / "from", directory / "to").error().code, PERDURE_EXISTS) << unknown;
    ASSERT_TRUE(remove_file(directory / "to"));
  }
}

TEST(Exists, SeesLinksThemselvesAndNothingBelowAFile) {
  const TemporaryDirectory directory;
  touch(directory / "file");
  ASSERT_EQ(::symlink("nowhere", (directory / "dangling").c_str()), 0);
  EXPECT_TRUE(exists(directory / "dangling").value());
  EXPECT_FALSE(exists(directory / "file/below").value());
  EXPECT_FALSE(exists(std::string(directory / std::string(300, 'x'))).has_value());
}

TEST(AbsolutePath, StartsFromTheWorkingDirectoryAndIsLexical) {
  EXPECT_EQ(absolute_path("/a/./b/../c/").value(), "/a/c");
  EXPECT_EQ(absolute_path("/").value(), "/");
  EXPECT_EQ(absolute_path("x/y").value(), std::filesystem::current_path().string() + "/x/y");
  EXPECT_EQ(absolute_path(".").value(), std::filesystem::current_path().string());
}

TEST(Directories, ReportEveryCallThatFailsWithCallAndPath) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(make_directory(directory / "full"));
  touch(directory / "full/file");
  const std::string full = directory / "full";
  const std::pair<const char*, std::function<base::Status()>> expectations[] = {
      {"mkdir", [&] { return make_directory(directory / "new"); }},
      {"mkdir", [&] { return make_private_directory(directory / "new"); }},
      {"mkdir", [&] { return make_directories(directory / "new/deep"); }},
      {"open", [&] { return sync_directory(full); }},
      {"open", [&] { return remove_tree(full); }},
      {"readdir", [&] { return remove_tree(full); }},
      {"unlink", [&] { return remove_tree(full); }},
      {"rmdir", [&] { return remove_directory(full); }},
      {"unlink", [&] { return remove_file(full + "/file"); }},
      {"rename", [&] { return rename_path(full, directory / "other"); }},
      {"lstat", [&] { return make_directories(full); }},
      {"readdir",
       [&]() -> base::Status {
         PERDURE_CHECK(list_directory(full));
         return {};
       }},
  };
  for (const auto& [call, action] : expectations) {
    FaultRules faults(parse_fault_rules(std::string(call) + "::EIO").value());
    const InstalledHooks installed(faults);
    const base::Status failed = action();
    ASSERT_FALSE(failed) << call;
    EXPECT_EQ(failed.error().code, PERDURE_IO) << call;
    EXPECT_THAT(failed.error().text(), testing::HasSubstr(call));
    EXPECT_THAT(failed.error().object, testing::HasSubstr(directory.path()));
  }
  EXPECT_TRUE(exists(full + "/file").value());
}

}  // namespace
}  // namespace perdure::os
