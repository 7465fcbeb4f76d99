#include "os/file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "os/fault_rules.hpp"
#include "support/directory_on.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::os {
namespace {

using test_support::InstalledHooks;
using test_support::TemporaryDirectory;
using testing::HasSubstr;

std::string read_text(const File& file) {
  std::string text(file.size().value(), '\0');
  EXPECT_TRUE(file.read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

mode_t file_mode(const std::string& path) {
  struct stat facts {};
  EXPECT_EQ(::lstat(path.c_str(), &facts), 0);
  return facts.st_mode & 07777;
}

TEST(Fd, ClosesWhatItOwnsAndOnlyThat) {
  const int raw = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    Fd first(raw);
    Fd second(std::move(first));
    EXPECT_FALSE(first);
    first = std::move(second);
    EXPECT_EQ(first.get(), raw);
    EXPECT_EQ(::fcntl(raw, F_GETFD), FD_CLOEXEC);
  }
  EXPECT_EQ(::fcntl(raw, F_GETFD), -1);
}

TEST(Fd, KeepsErrnoWhenItCloses) {
  errno = ENOSPC;
  { Fd wrong(1'000'000); }
  EXPECT_EQ(errno, ENOSPC);
}

/// Limits file sizes while it lives.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit low{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  }
  ~SizeLimit() { EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before_), 0); }
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;

 private:
  rlimit before_{};
};

// The system would answer with a signal that ends the program; the application owns signal handling.
TEST(File, LargerThanTheLimitIsRefusedWithoutASignal) {
  const TemporaryDirectory directory;
  const File file = File::open(directory / "a", Open::create_new).value();
  const std::vector<std::byte> block(5000, std::byte{7});
  ASSERT_TRUE(file.write(0, block));
  {
    const SizeLimit limit(4096);
    const auto refused = [](const base::Status& status) {
      EXPECT_FALSE(status);
      if (status) return;
      EXPECT_EQ(status.error().code, PERDURE_NO_SPACE);
      EXPECT_THAT(status.error().text(),
                  HasSubstr("files may have 4.0 KiB (RLIMIT_FSIZE) (no-space); ulimit -f unlimited"));
    };
    refused(file.write(4000, base::ConstByteSpan(block).first(97)));
    refused(file.write(1'000'000, base::ConstByteSpan(block).first(1)));
    refused(file.write(0, block));
    refused(file.truncate(6000));
    refused(file.preallocate(6000));
    refused(write_file_atomically(directory / "b", block));
    EXPECT_TRUE(file.write(4000, base::ConstByteSpan(block).first(96)));
    EXPECT_TRUE(file.truncate(4999)) << "it becomes shorter";
    EXPECT_TRUE(file.truncate(4000));
    EXPECT_TRUE(file.truncate(4096));
    EXPECT_TRUE(file.preallocate(4096));
  }
  EXPECT_TRUE(file.write(4000, block));
}

TEST(File, ReadsBackWhatWasWrittenAtAnyOffset) {
  const TemporaryDirectory directory;
  const File file = File::open(directory / "a", Open::create_new).value();
  ASSERT_TRUE(file.write(5, base::as_bytes("world")));
  ASSERT_TRUE(file.write(0, base::as_bytes("hello")));
  EXPECT_EQ(read_text(file), "helloworld");
  ASSERT_TRUE(file.truncate(7));
  EXPECT_EQ(read_text(file), "hellowo");
  EXPECT_TRUE(file.sync());
  EXPECT_TRUE(file.sync_data());
}

TEST(File, IsPrivateAndNotInheritedByOtherPrograms) {
  const TemporaryDirectory directory;
  const File file = File::open(directory / "a", Open::create).value();
  EXPECT_EQ(file_mode(file.path()), 0600U);
  EXPECT_EQ(::fcntl(file.fd(), F_GETFD), FD_CLOEXEC);
}

TEST(File, OpensByTheModeAsked) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a";
  EXPECT_EQ(File::open(path, Open::read).error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(File::open(path, Open::read_write).error().code, PERDURE_NOT_FOUND);
  ASSERT_TRUE(File::open(path, Open::create_new));
  EXPECT_EQ(File::open(path, Open::create_new).error().code, PERDURE_EXISTS);
  ASSERT_TRUE(File::open(path, Open::create).value().write(0, base::as_bytes("kept")));
  EXPECT_EQ(read_text(File::open(path, Open::create).value()), "kept");
  EXPECT_FALSE(File::open(path, Open::read).value().write(0, base::as_bytes("x")));
}

TEST(File, DoesNotFollowASymbolicLink) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(File::open(directory / "real", Open::create_new));
  ASSERT_EQ(::symlink("real", (directory / "link").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", (directory / "dangling").c_str()), 0);
  for (Open mode : {Open::read, Open::read_write, Open::create}) {
    EXPECT_EQ(File::open(directory / "link", mode).error().code, PERDURE_PERMISSION);
    EXPECT_EQ(File::open(directory / "dangling", mode).error().code, PERDURE_PERMISSION);
  }
  EXPECT_FALSE(exists(directory / "nowhere").value());
}

TEST(File, RefusesWhatIsNotARegularFileWithoutHanging) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
  EXPECT_FALSE(File::open(directory / "fifo", Open::read));
  EXPECT_FALSE(File::open(directory / "fifo", Open::read_write));
  EXPECT_FALSE(File::open(directory.path(), Open::read));
}

/// Counts transfers, and lets each move 1, 2, 3 ... bytes, at most seven.
struct ShortTransfers : Hooks {
  std::size_t most(const Operation& operation, std::size_t asked) override {
    ++count[operation.call];
    return std::min<std::size_t>(asked, 1 + turn++ % 7);
  }
  std::map<std::string, int> count;
  std::size_t turn = 0;
};

std::string numbered_text(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('!' + i % 90);
  return text;
}

// df shows much free room, and yet no file can be made.
TEST(File, ThatCannotBeMadeForWantOfInodesSaysSo) {
  const test_support::DirectoryOn place(test_support::FileSystem::few_files);
  if (!place.missing().empty()) GTEST_SKIP() << place.missing();
  base::Status made;
  for (int i = 0; made && i < 20; ++i) {
    const auto file = File::open(place / std::to_string(i), Open::create_new);
    if (!file) made = base::fail(file.error());
  }
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, PERDURE_NO_SPACE);
  EXPECT_THAT(made.error().cause, HasSubstr("no more files (inodes), while 64.0 MiB are free"));
  EXPECT_THAT(made.error().remedy, HasSubstr("df -i"));
  const auto directory = make_directory(place / "new");
  ASSERT_FALSE(directory);
  EXPECT_THAT(directory.error().text(), HasSubstr("no more files (inodes)"));
}

TEST(File, CompletesAWriteOfWhichTheSystemTakesAPartAtATime) {
  const TemporaryDirectory directory;
  const File file = File::open(directory / "a", Open::create_new).value();
  const std::string text = numbered_text(1000);
  {
    ShortTransfers transfers;
    const InstalledHooks installed(transfers);
    ASSERT_TRUE(file.write(3, base::as_bytes(text)));
    EXPECT_EQ(transfers.count["pwrite"], 251);
  }
  EXPECT_EQ(read_text(file), std::string(3, '\0') + text);
}

TEST(File, CompletesAReadOfWhichTheSystemGivesAPartAtATime) {
  const TemporaryDirectory directory;
  const File file = File::open(directory / "a", Open::create_new).value();
  const std::string text = numbered_text(1000);
  ASSERT_TRUE(file.write(0, base::as_bytes(text)));
  ShortTransfers transfers;
  const InstalledHooks installed(transfers);
  std::string all(400, '\0'), rest(2000, '\0');
  ASSERT_TRUE(file.read(500, std::as_writable_bytes(std::span(all))));
  EXPECT_EQ(all, text.substr(500, 400));
  EXPECT_EQ(transfers.count["pread"], 102);
  EXPECT_EQ(file.read_some(500, std::as_writable_bytes(std::span(rest))).value(), 500U) << "up to the end of the file";
  EXPECT_EQ(rest.substr(0, 500), text.substr(500));
}

TEST(File, ReportsAFailureAfterAPartWasWritten) {
  const TemporaryDirectory directory;
  const File file = File::open(directory / "a", Open::create_new).value();
  FaultRules faults(parse_fault_rules("short::1000;pwrite::ENOSPC:3").value());
  const InstalledHooks installed(faults);
  const auto failed = file.write(0, base::as_bytes(numbered_text(5000)));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, PERDURE_NO_SPACE);
  EXPECT_THAT(failed.error().text(), HasSubstr("pwrite at offset 2000"));
}

TEST(File, SaysWhereAFileThatIsTooShortEnds) {
  const TemporaryDirectory directory;
  const File file = File::open(directory / "a", Open::create_new).value();
  ASSERT_TRUE(file.write(0, base::as_bytes("12345")));
  std::array<std::byte, 8> room{};
  const auto failed = file.read(2, room);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, PERDURE_CORRUPT);
  EXPECT_THAT(failed.error().text(), HasSubstr("ends after 5 bytes, 10 expected"));
  EXPECT_EQ(file.read_some(2, room).value(), 3U);
  EXPECT_EQ(file.read_some(5, room).value(), 0U);
}

TEST(File, PreallocatesWithoutTouchingWhatIsThere) {
  const TemporaryDirectory directory;
  const File file = File::open(directory / "a", Open::create_new).value();
  ASSERT_TRUE(file.write(0, base::as_bytes("data")));
  ASSERT_TRUE(file.preallocate(base::MiB));
  EXPECT_EQ(file.size().value(), base::MiB);
  EXPECT_EQ(read_text(file).substr(0, 4), "data");
  struct stat facts {};
  ASSERT_EQ(::fstat(file.fd(), &facts), 0);
  EXPECT_GE(static_cast<std::uint64_t>(facts.st_blocks) * 512, base::MiB);
}

TEST(File, PreallocateSucceedsWhereTheFileSystemCannot) {
  const TemporaryDirectory directory;
  for (const char* rule : {"fallocate::EOPNOTSUPP", "fallocate::ENOTSUPP"}) {
    FaultRules faults(parse_fault_rules(rule).value());
    const InstalledHooks installed(faults);
    EXPECT_TRUE(File::open(directory / "a", Open::create).value().preallocate(base::MiB)) << rule;
  }
}

TEST(File, PreallocateReportsThatThereIsNoRoom) {
  const TemporaryDirectory directory;
  FaultRules faults(parse_fault_rules("fallocate::ENOSPC").value());
  const InstalledHooks installed(faults);
  const auto failed = File::open(directory / "a", Open::create_new).value().preallocate(base::MiB);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, PERDURE_NO_SPACE);
}

TEST(File, PunchGivesTheRoomBackAndKeepsTheSize) {
  const TemporaryDirectory directory(TemporaryDirectory::Place::memory);
  const File file = File::open(directory / "a", Open::create_new).value();
  ASSERT_TRUE(file.preallocate(base::MiB));
  ASSERT_TRUE(file.write(base::MiB - 1, base::as_bytes("x")));
  ASSERT_TRUE(file.punch(0, base::MiB / 2));
  file.start_writeback(0, base::MiB);
  struct stat facts {};
  ASSERT_EQ(::fstat(file.fd(), &facts), 0);
  EXPECT_EQ(static_cast<std::uint64_t>(facts.st_blocks) * 512, base::MiB / 2);
  EXPECT_EQ(file.size().value(), base::MiB);
}

TEST(File, LocksAgainstEveryOtherOpeningUntilItIsClosed) {
  const TemporaryDirectory directory;
  const std::string path = directory / "lock";
  {
    const File first = File::open(path, Open::create).value();
    const File second = File::open(path, Open::create).value();
    ASSERT_TRUE(first.try_lock());
    const auto refused = second.try_lock();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_BUSY);
    EXPECT_TRUE(refused.error().retryable);
  }
  EXPECT_TRUE(File::open(path, Open::create).value().try_lock());
}

TEST(ReadFile, GivesTheWholeContentUpToALimit) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(write_file_atomically(directory / "a", base::as_bytes("12345")));
  EXPECT_EQ(read_file(directory / "a", 5).value().size(), 5U);
  EXPECT_EQ(read_file(directory / "a", 4).error().code, PERDURE_CORRUPT);
  EXPECT_EQ(read_file(directory / "missing", 4).error().code, PERDURE_NOT_FOUND);
}

TEST(WriteFileAtomically, WritesAllOfItHoweverLittleTheSystemTakes) {
  const TemporaryDirectory directory;
  const std::string text = numbered_text(1000);
  FaultRules faults(parse_fault_rules("short:.tmp-:300").value());
  const InstalledHooks installed(faults);
  ASSERT_TRUE(write_file_atomically(directory / "a", base::as_bytes(text)));
  EXPECT_EQ(read_text(File::open(directory / "a", Open::read).value()), text);
}

TEST(WriteFileAtomically, ReplacesTheContentAndLeavesNothingElse) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(write_file_atomically(directory / "a", base::as_bytes("old and long")));
  ASSERT_TRUE(write_file_atomically(directory / "a", base::as_bytes("new")));
  EXPECT_EQ(read_text(File::open(directory / "a", Open::read).value()), "new");
  EXPECT_EQ(list_directory(directory.path()).value().size(), 1U);
}

TEST(WriteFileAtomically, KeepsTheOldContentWhateverStepFails) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a";
  ASSERT_TRUE(write_file_atomically(path, base::as_bytes("old")));
  for (const char* call : {"open", "fstat", "pwrite", "fsync", "rename"}) {
    FaultRules faults(parse_fault_rules(std::string(call) + ":.tmp-:EIO").value());
    {
      const InstalledHooks installed(faults);
      EXPECT_FALSE(write_file_atomically(path, base::as_bytes("new"))) << call;
    }
    EXPECT_EQ(read_text(File::open(path, Open::read).value()), "old") << call;
    EXPECT_EQ(list_directory(directory.path()).value().size(), 1U) << call;
  }
}

TEST(Space, KnowsTheFileSystemAndItsRoom) {
  const Space shared = space("/dev/shm").value();
  EXPECT_EQ(shared.type, "tmpfs");
  EXPECT_GT(shared.total_bytes, 0U);
  EXPECT_LE(shared.available_bytes, shared.total_bytes);
  EXPECT_EQ(space("/dev/shm").value().device_id, shared.device_id);
  EXPECT_NE(space("/proc").value().device_id, shared.device_id);
  EXPECT_EQ(space("/nonexistent/path").error().code, PERDURE_NOT_FOUND);
}

}  // namespace
}  // namespace perdure::os
