#include "process/grown_files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "process/descriptors_testing.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::process {
namespace {

using test_support::TemporaryDirectory;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Tests files that had `had` bytes each at the capture.
class GrownFilesOfADirectory : public testing::Test {
 protected:
  std::string make(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name) << text;
    return directory_ / name;
  }
  base::Status add(const std::string& path, std::uint64_t had) {
    const os::Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
    NamedFile file;
    file.path = path;
    file.size = had;
    return grown_.add(fd.get(), file, "descriptor 3, '" + path + "'");
  }
  std::size_t files() const {
    const std::filesystem::directory_iterator all(directory_.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  TemporaryDirectory directory_;
  GrownFiles grown_;
};

TEST_F(GrownFilesOfADirectory, AreCutBackAndKeepWhatFollowedBesideThem) {
  const auto path = make("log", "0123456789more"), same = make("same", "0123");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  ASSERT_TRUE(add(path, 10));
  ASSERT_TRUE(add(path, 10)) << "two descriptors of one file";
  ASSERT_TRUE(add(same, 4));
  EXPECT_EQ(text_of(path), "0123456789more") << "nothing changes before the last step";
  const auto notes = grown_.cut_back(7);
  ASSERT_TRUE(notes) << notes.error().text();
  EXPECT_THAT(*notes, ElementsAre(AllOf(HasSubstr("cut back to the 10 bytes"), HasSubstr(path + ".cut-7"))));
  EXPECT_EQ(text_of(path), "0123456789");
  EXPECT_EQ(text_of(path + ".cut-7"), "more");
  struct stat facts {};
  ASSERT_EQ(::stat((path + ".cut-7").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0640U);
  EXPECT_EQ(files(), 3U);
}

TEST_F(GrownFilesOfADirectory, KeepTheTailsOfEachResumeOfAVersion) {
  const auto path = make("log", "0123");
  for (const char* tail : {"first", "second", "third"}) {
    std::ofstream(path, std::ios::app) << tail;
    grown_ = {};
    ASSERT_TRUE(add(path, 4));
    ASSERT_TRUE(grown_.cut_back(1));
  }
  EXPECT_EQ(text_of(path), "0123");
  EXPECT_EQ(text_of(path + ".cut-1"), "first");
  EXPECT_EQ(text_of(path + ".cut-1.2"), "second");
  EXPECT_EQ(text_of(path + ".cut-1.3"), "third");
}

TEST_F(GrownFilesOfADirectory, KeepLongTailsWhole) {
  std::string tail(3 * (std::size_t{1} << 20) + 17, 'x');
  for (std::size_t i = 0; i < tail.size(); ++i) tail[i] = static_cast<char>('a' + i % 23);
  const auto path = make("log", "0123" + tail);
  ASSERT_TRUE(add(path, 4));
  ASSERT_TRUE(grown_.cut_back(1));
  EXPECT_EQ(text_of(path + ".cut-1"), tail);
  EXPECT_EQ(text_of(path), "0123");
}

TEST_F(GrownFilesOfADirectory, ThatWereShortenedMeanwhileAreNotMadeLonger) {
  const auto path = make("log", "0123456789more");
  ASSERT_TRUE(add(path, 10));
  std::filesystem::resize_file(path, 3);
  ASSERT_TRUE(grown_.cut_back(1));
  EXPECT_EQ(text_of(path), "012");
}

/// The device is full after this many writes to copies.
class FullDevice : public os::Hooks {
 public:
  explicit FullDevice(int writes) : left_(writes) {}
  int before(const os::Operation& operation) override {
    const bool counts =
        std::string_view(operation.call) == "pwrite" && operation.path.find(".cut-") != std::string::npos;
    return counts && left_-- <= 0 ? ENOSPC : 0;
  }

 private:
  int left_;
};

TEST_F(GrownFilesOfADirectory, AreAllAsTheyWereWhenOneTailCannotBeKept) {
  const auto one = make("one", "0123one"), two = make("two", "0123two");
  ASSERT_TRUE(add(one, 4));
  ASSERT_TRUE(add(two, 4));
  for (const int writes : {0, 1}) {
    FullDevice full(writes);
    const test_support::InstalledHooks hooks(full);
    const auto cut = grown_.cut_back(1);
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().code, PERDURE_NO_SPACE);
    EXPECT_THAT(cut.error().text(), AllOf(HasSubstr(writes == 0 ? one : two), HasSubstr("cannot be kept"),
                                          HasSubstr("No file was changed")));
    EXPECT_EQ(text_of(one), "0123one");
    EXPECT_EQ(text_of(two), "0123two");
    EXPECT_EQ(files(), 2U) << "no half copies stay";
  }
}

TEST_F(GrownFilesOfADirectory, ThatAnotherProcessWritesAreRefused) {
  const auto path = make("log", "0123456789more");
  const auto check = [&](int flags) {
    DescriptorChild child([&]() -> std::string {
      PERDURE_EXPECT(::open(path.c_str(), flags) == 3);
      return "";
    });
    EXPECT_EQ(child.said(), "");
    grown_ = {};
    EXPECT_TRUE(add(path, 10));
    return std::pair(grown_.check_writers(), child.process());
  };
  const auto [busy, process] = check(O_WRONLY | O_APPEND);
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, PERDURE_BUSY);
  EXPECT_THAT(busy.error().text(),
              AllOf(HasSubstr("process " + std::to_string(process)), HasSubstr(path), HasSubstr("open for writing")));
  EXPECT_TRUE(check(O_RDONLY).first) << "readers lose nothing";
  EXPECT_TRUE(check(O_PATH).first);
}

TEST_F(GrownFilesOfADirectory, ThatThisProcessAndItsParentWriteAreNotRefused) {
  const auto path = make("log", "0123456789more");
  const os::Fd own(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  ASSERT_TRUE(add(path, 10));
  EXPECT_TRUE(grown_.check_writers());
  DescriptorChild child([&]() -> std::string {  // its parent, which is this process, writes the file
    PERDURE_EXPECT(grown_.check_writers().has_value());
    return "";
  });
  EXPECT_EQ(child.said(), "");
}

TEST_F(GrownFilesOfADirectory, ThatMayNotBeWrittenAreRefusedAtOnce) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
  const auto path = make("log", "0123456789more");
  ASSERT_EQ(::chmod(path.c_str(), 0400), 0);
  const auto added = add(path, 10);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, PERDURE_PERMISSION);
}

}  // namespace
}  // namespace perdure::process
