// Tests that descriptors of a child that stands still are the same in another child after a restore.
#include "process/restored_descriptors.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "base/field_codec.hpp"
#include "process/descriptors_testing.hpp"
#include "process/proc_text.hpp"
#include "process/read_descriptors.hpp"
#include "process/tracee.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::process {
namespace {

using test_support::TemporaryDirectory;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using Work = DescriptorChild::Work;

/// Returns fdinfo of all descriptors, without the remaining times of timers.
std::string infos_of(pid_t process) {
  std::map<std::string, std::string> all;
  const std::string at = "/proc/" + std::to_string(process);
  for (const auto& one : std::filesystem::directory_iterator(at + "/fdinfo")) {
    const auto name = one.path().filename().string();
    std::string text = proc_text(one.path());
    if (const auto time = text.find("it_value"); time != std::string::npos) text.resize(time);
    all[name] = text + std::filesystem::read_symlink(at + "/fd/" + name).string();
  }
  std::string text;
  for (const auto& [name, info] : all) text += name + "\n" + info + "\n";
  return text;
}

ReadDescriptors read_held(pid_t process, const DescriptorChoices& choices = {}) {
  const auto tracee = Tracee::seize(process);
  EXPECT_TRUE(tracee) << tracee.error().text();
  const std::string before = infos_of(process);
  auto read = read_descriptors(process, choices);
  EXPECT_EQ(infos_of(process), before) << "reading leaves no trace";
  EXPECT_TRUE(read) << read.error().text();
  if (!read) return {};
  const auto bytes = base::encode_fields(read->files);
  const auto decoded = base::decode_fields<OpenFiles>(bytes, "an image");
  EXPECT_TRUE(decoded) << decoded.error().text();
  return decoded ? ReadDescriptors{*decoded, read->notes} : ReadDescriptors{};
}

/// Removes differences between processes.
OpenFiles comparable(OpenFiles files) {
  for (auto& file : files.files) {
    file.owner.id = file.owner.id == 0 ? 0 : 1;
    file.flags &= ~static_cast<std::uint32_t>(O_TMPFILE & ~O_DIRECTORY);
    if (std::holds_alternative<UnlinkedFile>(file.what)) file.flags &= ~static_cast<std::uint32_t>(O_DIRECTORY);
    if (auto* timer = std::get_if<TimerFile>(&file.what))
      timer->remaining_ns = timer->remaining_ns != 0 || timer->waits_to_be_read() ? 1 : 0;
    if (auto* unlinked = std::get_if<UnlinkedFile>(&file.what)) unlinked->path.clear();
  }
  return files;
}

/// A child with these descriptors, which reports the result of `check`.
class Restored {
 public:
  Restored(const OpenFiles& files, const Work& check, RestoreChoices choices = {}) {
    auto restored = RestoredDescriptors::make(files, choices);
    EXPECT_TRUE(restored) << restored.error().text();
    if (!restored) return;
    notes = restored->notes();
    restored->add_to(operations_);
    child = std::make_unique<DescriptorChild>(
        [&]() -> std::string {
          OperationsOutcome outcome;
          run_operations(operations_.list(), &outcome);
          return text_of(outcome, operations_.list());
        },
        check, false);
    EXPECT_EQ(child->said(), "");
  }
  std::vector<std::string> notes;
  std::unique_ptr<DescriptorChild> child;

 private:
  Operations operations_;
};

/// `make` makes descriptors in a child. They are captured, and restored in a second child. A second capture and `check`
/// must find them the same there. Afterwards the first child must still have them.
void expect_same(const Work& make, const Work& check) {
  DescriptorChild child(make, check);
  ASSERT_EQ(child.said(), "");
  const auto read = read_held(child.process());
  const Restored restored(read.files, check);
  ASSERT_TRUE(restored.child);
  const auto again = read_held(restored.child->process());
  EXPECT_EQ(base::encode_fields(comparable(read.files)), base::encode_fields(comparable(again.files)))
      << infos_of(child.process()) << "\n---\n"
      << infos_of(restored.child->process());
  EXPECT_EQ(restored.child->go_on(), "");
  EXPECT_EQ(child.go_on(), "") << "in the process that was captured";
}

std::string text_at(int fd, std::size_t bytes = 100) {
  std::string text(bytes, '\0');
  const auto got = ::read(fd, text.data(), text.size());
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return got < 0 ? "error " + std::to_string(errno) : text;
}

bool put(int fd, const std::string& text) {
  return ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

TEST(RestoredDescriptors, OfFilesHaveOffsetsFlagsAndDuplicates) {
  const TemporaryDirectory directory;
  const std::string path = directory / "data";
  std::ofstream(path) << "0123456789";
  expect_same(
      [&]() -> std::string {
        PERDURE_EXPECT(::open(path.c_str(), O_RDWR) == 3 && ::lseek(3, 4, SEEK_SET) == 4);
        PERDURE_EXPECT(::dup2(3, 10) == 10 && ::dup3(3, 900, O_CLOEXEC) == 900);
        PERDURE_EXPECT(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC) == 4);
        PERDURE_EXPECT(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY) == 5);
        PERDURE_EXPECT(::open(path.c_str(), O_PATH) == 6);
        PERDURE_EXPECT(::open(path.c_str(), O_RDONLY | O_NONBLOCK) == 7 && ::lseek(7, 100, SEEK_SET) == 100);
        return "";
      },
      [&]() -> std::string {
        PERDURE_EXPECT(text_at(3, 2) == "45");
        PERDURE_EXPECT(text_at(900, 2) == "67" && ::lseek(10, 0, SEEK_CUR) == 8);
        PERDURE_EXPECT((::fcntl(900, F_GETFD) & FD_CLOEXEC) != 0 && ::fcntl(10, F_GETFD) == 0);
        PERDURE_EXPECT((::fcntl(4, F_GETFL) & (O_APPEND | O_ACCMODE)) == (O_APPEND | O_WRONLY));
        PERDURE_EXPECT(::fcntl(4, F_GETFD) == FD_CLOEXEC && ::faccessat(5, "data", R_OK, 0) == 0);
        PERDURE_EXPECT(text_at(6) == "error 9" && ::lseek(7, 0, SEEK_CUR) == 100);
        PERDURE_EXPECT(::fcntl(8, F_GETFD) < 0 && ::fcntl(901, F_GETFD) < 0 && ::fcntl(11, F_GETFD) < 0);
        return "";
      });
}

TEST(RestoredDescriptors, OfPlainDevicesAreThose) {
  expect_same(
      []() -> std::string {
        PERDURE_EXPECT(::open("/dev/zero", O_RDONLY) == 3 && ::open("/dev/full", O_WRONLY) == 4);
        PERDURE_EXPECT(::open("/dev/urandom", O_RDONLY | O_CLOEXEC) == 5 && ::open("/dev/random", O_RDONLY) == 6);
        return "";
      },
      []() -> std::string {
        PERDURE_EXPECT(text_at(3, 3) == std::string(3, '\0') && ::write(4, "x", 1) < 0 && errno == ENOSPC);
        PERDURE_EXPECT(text_at(5, 8).size() == 8 && text_at(1) == "");
        return "";
      });
}

TEST(RestoredDescriptors, OfPipesHaveWhatWaitsInThem) {
  expect_same(
      []() -> std::string {
        int ends[2];
        PERDURE_EXPECT(::pipe2(ends, O_NONBLOCK) == 0 && put(4, "first ") && put(4, "second"));
        PERDURE_EXPECT(::pipe(ends) == 0 && ::fcntl(5, F_SETPIPE_SZ, 1 << 18) == 1 << 18);
        PERDURE_EXPECT(put(6, std::string(200'000, 'x')) && text_at(5, 1000) == std::string(1000, 'x'));
        PERDURE_EXPECT(::pipe2(ends, O_DIRECT | O_CLOEXEC) == 0 && put(8, "one") && put(8, "other"));
        PERDURE_EXPECT(::pipe(ends) == 0 && put(10, "end") && ::close(10) == 0);  // 9: nobody writes any more
        PERDURE_EXPECT(::pipe(ends) == 0 && ::dup2(10, 12) == 12 && ::close(10) == 0);
        PERDURE_EXPECT(::open("/proc/self/fd/11", O_RDWR) == 10);
        return "";
      },
      []() -> std::string {
        PERDURE_EXPECT(text_at(3) == "first second" && text_at(3) == "error 11" && put(4, "more") &&
                       text_at(3) == "more");
        PERDURE_EXPECT(::fcntl(5, F_GETPIPE_SZ) == 1 << 18);
        PERDURE_EXPECT(text_at(5, 300'000) == std::string(199'000, 'x'));
        PERDURE_EXPECT(text_at(7) == "one" && text_at(7) == "other" && text_at(9) == "end" && text_at(9) == "");
        PERDURE_EXPECT(put(11, "to ") && put(10, "both") && text_at(12) == "to both");
        return "";
      });
}

TEST(RestoredDescriptors, OfFifosAreThoseOfThatName) {
  const TemporaryDirectory directory;
  const std::string path = directory / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  DescriptorChild child([&]() -> std::string {
    PERDURE_EXPECT(::open(path.c_str(), O_RDONLY | O_NONBLOCK) == 3 && ::open(path.c_str(), O_WRONLY) == 4);
    PERDURE_EXPECT(put(4, "waits"));
    return "";
  });
  ASSERT_EQ(child.said(), "");
  const auto read = read_held(child.process());
  child.end();
  const Work check = []() -> std::string {
    PERDURE_EXPECT(text_at(3) == "waits" && text_at(3) == "error 11" && put(4, "more") && text_at(3) == "more");
    PERDURE_EXPECT(::close(4) == 0 && text_at(3) == "");
    return "";
  };
  EXPECT_EQ(Restored(read.files, check).child->go_on(), "");
  const int other = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ASSERT_TRUE(put(other, "by another"));
  EXPECT_THAT(Restored(read.files, {}).notes, Contains(HasSubstr("others have written to it")));
  ::close(other);
}

TEST(RestoredDescriptors, OfCountersTimersAndSignals) {
  expect_same(
      []() -> std::string {
        const std::uint64_t count = 5;
        PERDURE_EXPECT(::eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK) == 3 && ::write(3, &count, 8) == 8);
        PERDURE_EXPECT(::eventfd(7, EFD_CLOEXEC) == 4 && ::eventfd(0, EFD_NONBLOCK) == 5);
        const itimerspec hour{{60, 0}, {3600, 0}}, soon{{0, 0}, {0, 1}};
        PERDURE_EXPECT(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK) == 6 &&
                       ::timerfd_settime(6, 0, &hour, nullptr) == 0);
        PERDURE_EXPECT(::timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK) == 7 &&
                       ::timerfd_settime(7, 0, &soon, nullptr) == 0);
        itimerspec later = hour;
        later.it_value.tv_sec += ::time(nullptr);
        PERDURE_EXPECT(::timerfd_create(CLOCK_REALTIME, 0) == 8);
        PERDURE_EXPECT(::timerfd_settime(8, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &later, nullptr) == 0);
        PERDURE_EXPECT(::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK) == 9);
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGUSR1);
        sigaddset(&signals, SIGRTMAX);
        ::sigprocmask(SIG_BLOCK, &signals, nullptr);
        PERDURE_EXPECT(::signalfd(-1, &signals, SFD_NONBLOCK) == 10);
        pollfd expired{7, POLLIN, 0};
        PERDURE_EXPECT(::poll(&expired, 1, -1) == 1);
        return "";
      },
      []() -> std::string {
        std::uint64_t count = 0;
        PERDURE_EXPECT(::read(3, &count, 8) == 8 && count == 1 && ::read(3, &count, 8) == 8 && count == 1);
        PERDURE_EXPECT(::read(4, &count, 8) == 8 && count == 7 && ::read(5, &count, 8) < 0 && errno == EAGAIN);
        itimerspec left{};
        PERDURE_EXPECT(::timerfd_gettime(6, &left) == 0 && left.it_interval.tv_sec == 60);
        PERDURE_EXPECT(left.it_value.tv_sec > 2000 && left.it_value.tv_sec <= 3600);
        PERDURE_EXPECT(::read(7, &count, 8) == 8 && count == 1 && ::read(7, &count, 8) < 0 && errno == EAGAIN);
        PERDURE_EXPECT(::timerfd_gettime(8, &left) == 0 && left.it_value.tv_sec > 2000 && left.it_value.tv_sec <= 3600);
        PERDURE_EXPECT(::timerfd_gettime(9, &left) == 0 && left.it_value.tv_sec == 0);
        signalfd_siginfo signal{};
        PERDURE_EXPECT(::read(10, &signal, sizeof signal) < 0 && errno == EAGAIN);
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGUSR1);
        ::sigprocmask(SIG_BLOCK, &signals, nullptr);
        PERDURE_EXPECT(::raise(SIGUSR1) == 0 && ::read(10, &signal, sizeof signal) == sizeof signal);
        PERDURE_EXPECT(signal.ssi_signo == SIGUSR1);
        return "";
      });
}

// After an expiration, the kernel counts no further ones until somebody reads it.
TEST(RestoredDescriptors, OfTimersThatHaveExpiredGoOn) {
  for (const int flags : {0, static_cast<int>(TFD_TIMER_ABSTIME)})
    expect_same(
        [&]() -> std::string {
          const itimerspec each_hour{{3600, 0}, {0, 1}};
          pollfd expired{3, POLLIN, 0};
          PERDURE_EXPECT(::timerfd_create(CLOCK_MONOTONIC, 0) == 3 &&
                         ::timerfd_settime(3, flags, &each_hour, nullptr) == 0 && ::poll(&expired, 1, -1) == 1);
          return "";
        },
        []() -> std::string {
          std::uint64_t count = 0;
          itimerspec left{};
          PERDURE_EXPECT(::read(3, &count, sizeof count) == sizeof count && count > 0);
          PERDURE_EXPECT(::timerfd_gettime(3, &left) == 0 && left.it_interval.tv_sec == 3600);
          PERDURE_EXPECT(left.it_value.tv_sec > 0 || left.it_value.tv_nsec > 0);
          return "";
        });
}

TEST(RestoredDescriptors, OfFilesWithoutNamesHaveTheirContent) {
  const TemporaryDirectory directory(TemporaryDirectory::Place::memory);
  const std::string path = directory / "gone";
  expect_same(
      [&]() -> std::string {
        PERDURE_EXPECT(::open(path.c_str(), O_CREAT | O_RDWR, 0640) == 3 && put(3, "content"));
        PERDURE_EXPECT(::pwrite(3, "far", 3, 1 << 20) == 3 && ::ftruncate(3, 1 << 21) == 0);
        PERDURE_EXPECT(::open(path.c_str(), O_RDONLY) == 4 && ::unlink(path.c_str()) == 0);
        PERDURE_EXPECT(::open(directory.path().c_str(), O_TMPFILE | O_RDWR, 0600) == 5 && put(5, "never named"));
        PERDURE_EXPECT(::memfd_create("in memory", MFD_ALLOW_SEALING | MFD_CLOEXEC) == 6 && put(6, "memory"));
        PERDURE_EXPECT(::open("/proc/self/fd/6", O_RDONLY) == 7);
        PERDURE_EXPECT(::fcntl(6, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_WRITE | F_SEAL_SEAL) == 0);
        PERDURE_EXPECT(::memfd_create("sparse", 0) == 8 && ::ftruncate(8, std::int64_t{1} << 40) == 0);
        return "";
      },
      [&]() -> std::string {
        struct stat one {
        }, other{};
        PERDURE_EXPECT(::fstat(3, &one) == 0 && ::fstat(4, &other) == 0 && one.st_ino == other.st_ino);
        PERDURE_EXPECT(one.st_size == 1 << 21 && (one.st_mode & 0777) == 0640 && one.st_blocks < 1000);
        PERDURE_EXPECT(::lseek(3, 0, SEEK_CUR) == 7 && text_at(4, 7) == "content");
        char far[4] = {};
        PERDURE_EXPECT(::pread(3, far, 3, 1 << 20) == 3 && std::string(far) == "far");
        PERDURE_EXPECT(::lseek(5, 0, SEEK_SET) == 0 && text_at(5) == "never named");
        PERDURE_EXPECT(text_at(6) == "" && text_at(7) == "memory" && ::write(6, "x", 1) < 0 && errno == EPERM);
        PERDURE_EXPECT(::fcntl(6, F_ADD_SEALS, F_SEAL_GROW) < 0 && errno == EPERM);
        PERDURE_EXPECT(::lseek(8, 0, SEEK_END) == std::int64_t{1} << 40);
        return "";
      });
}

TEST(RestoredDescriptors, OfPairsOfSocketsHaveWhatWaitsInThem) {
  expect_same(
      []() -> std::string {
        int ends[2];
        PERDURE_EXPECT(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && put(3, "one ") && put(3, "stream"));
        PERDURE_EXPECT(put(4, std::string(50'000, 's')));
        PERDURE_EXPECT(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends) == 0 && put(5, "a") && put(5, "") &&
                       put(5, "bcd"));
        PERDURE_EXPECT(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 && put(8, "packet") &&
                       put(8, "two"));
        PERDURE_EXPECT(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && put(9, "last") && ::close(9) == 0);
        PERDURE_EXPECT(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && ::shutdown(9, SHUT_WR) == 0);
        const timeval time{3, 0};
        PERDURE_EXPECT(::setsockopt(9, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0);
        return "";
      },
      []() -> std::string {
        PERDURE_EXPECT(text_at(4) == "one stream" && text_at(3, 60'000) == std::string(50'000, 's'));
        PERDURE_EXPECT(put(4, "goes on") && text_at(3) == "goes on");
        PERDURE_EXPECT(text_at(6) == "a" && text_at(6) == "" && text_at(6) == "bcd" && text_at(6) == "error 11");
        PERDURE_EXPECT(text_at(7, 3) == "pac" && text_at(7) == "two" && ::fcntl(8, F_GETFD) == FD_CLOEXEC);
        PERDURE_EXPECT(text_at(10) == "last" && text_at(10) == "");
        PERDURE_EXPECT(text_at(11) == "" && put(11, "one way") && text_at(9) == "one way");
        timeval time{};
        socklen_t length = sizeof time;
        PERDURE_EXPECT(::getsockopt(9, SOL_SOCKET, SO_RCVTIMEO, &time, &length) == 0 && time.tv_sec == 3);
        return "";
      });
}

TEST(RestoredDescriptors, OfEpollsWatchWhatTheyWatched) {
  const auto add = [](int poll, int fd, std::uint32_t events, std::uint64_t data) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = data;
    return ::epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) == 0;
  };
  expect_same(
      [&]() -> std::string {
        PERDURE_EXPECT(::epoll_create1(EPOLL_CLOEXEC) == 3 && ::eventfd(1, 0) == 4 && ::eventfd(0, 0) == 5);
        PERDURE_EXPECT(add(3, 4, EPOLLIN | EPOLLET, 0xdeadbeefcafe) &&
                       add(3, 5, EPOLLIN | EPOLLOUT | EPOLLONESHOT, 55));
        PERDURE_EXPECT(::epoll_create1(0) == 6 && add(6, 3, EPOLLIN, 3));
        // 7 watches by number 8 what is 9 now. It watches by number 10 what is 11 now, while 10 is another file.
        PERDURE_EXPECT(::epoll_create1(0) == 7 && ::eventfd(1, 0) == 8 && add(7, 8, EPOLLIN, 8));
        PERDURE_EXPECT(::dup2(8, 9) == 9 && ::close(8) == 0);
        PERDURE_EXPECT(::eventfd(1, 0) == 8 && ::dup2(8, 10) == 10 && add(7, 10, EPOLLIN, 10) && ::dup2(10, 11) == 11);
        PERDURE_EXPECT(::close(8) == 0 && ::close(10) == 0 && ::eventfd(0, 0) == 8 && ::dup2(8, 10) == 10 &&
                       ::close(8) == 0);
        PERDURE_EXPECT(add(7, 10, EPOLLIN, 1010));
        return "";
      },
      []() -> std::string {
        std::array<epoll_event, 8> events{};
        PERDURE_EXPECT(::epoll_wait(6, events.data(), 8, 0) == 1 && events[0].data.u64 == 3);
        PERDURE_EXPECT(::epoll_wait(3, events.data(), 8, 0) == 2);
        const auto& counter = events[0].data.u64 == 55 ? events[1] : events[0];
        PERDURE_EXPECT(counter.data.u64 == 0xdeadbeefcafe && counter.events == EPOLLIN);
        PERDURE_EXPECT(::epoll_wait(3, events.data(), 8, 0) == 0);
        PERDURE_EXPECT(::epoll_wait(7, events.data(), 8, 0) == 2);
        PERDURE_EXPECT(events[0].data.u64 + events[1].data.u64 == 18);
        const std::uint64_t count = 1;
        PERDURE_EXPECT(::write(10, &count, 8) == 8 && ::epoll_wait(7, events.data(), 8, 0) == 3);
        PERDURE_EXPECT(::close(9) == 0 && ::epoll_wait(7, events.data(), 8, 0) == 2);
        return "";
      });
}

TEST(RestoredDescriptors, OfLockedFilesHaveTheirLocks) {
  const TemporaryDirectory directory;
  const std::string path = directory / "locked", whole = directory / "whole";
  std::ofstream(path) << "0123456789";
  DescriptorChild child([&]() -> std::string {
    PERDURE_EXPECT(::open(path.c_str(), O_RDONLY) == 3 && ::open(path.c_str(), O_RDWR) == 4);
    struct flock record {};
    record.l_type = F_WRLCK;
    record.l_start = 2;
    record.l_len = 3;
    PERDURE_EXPECT(::fcntl(4, F_SETLK, &record) == 0);
    record.l_type = F_RDLCK;
    record.l_start = 7;
    record.l_len = 0;
    PERDURE_EXPECT(::fcntl(3, F_OFD_SETLK, &record) == 0);
    PERDURE_EXPECT(::open(whole.c_str(), O_CREAT | O_RDWR, 0600) == 5 && ::flock(5, LOCK_EX) == 0);
    return "";
  });
  ASSERT_EQ(child.said(), "");
  const auto read = read_held(child.process());
  const auto busy = RestoredDescriptors::make(read.files);
  ASSERT_FALSE(busy) << "the first one still has them";
  EXPECT_EQ(busy.error().code, PERDURE_BUSY);
  EXPECT_THAT(busy.error().text(), AllOf(HasSubstr(whole), HasSubstr("another process has a lock")));
  child.end();
  const Restored restored(read.files, {});
  const auto again = read_held(restored.child->process());
  EXPECT_EQ(base::encode_fields(read.files), base::encode_fields(again.files));
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct flock record {};
  record.l_type = F_WRLCK;
  record.l_len = 6;
  ASSERT_EQ(::fcntl(file, F_GETLK, &record), 0);
  EXPECT_EQ(record.l_pid, restored.child->process());
  EXPECT_EQ(record.l_start, 2);
  EXPECT_EQ(record.l_len, 3);
  ::close(file);
}

TEST(RestoredDescriptors, TellTheProcessWhenTheyAreReady) {
  const Work make = []() -> std::string {
    int ends[2];
    const f_owner_ex owner{F_OWNER_PID, ::getpid()};
    PERDURE_EXPECT(::pipe2(ends, O_NONBLOCK) == 0 && ::fcntl(3, F_SETOWN_EX, &owner) == 0);
    PERDURE_EXPECT(::fcntl(3, F_SETSIG, SIGRTMIN + 3) == 0 && ::fcntl(3, F_SETFL, O_NONBLOCK | O_ASYNC) == 0);
    return "";
  };
  DescriptorChild child(make);
  ASSERT_EQ(child.said(), "");
  const auto read = read_held(child.process());
  // The test cannot choose the number of the child, so the new child signals this process.
  RestoreChoices choices;
  choices.captured = child.process();
  choices.process = ::getpid();
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGRTMIN + 3);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &signals, nullptr), 0);
  const Restored restored(
      read.files,
      []() -> std::string {
        f_owner_ex owner{};
        PERDURE_EXPECT(::fcntl(3, F_GETOWN_EX, &owner) == 0 && owner.type == F_OWNER_PID && owner.pid == ::getppid());
        PERDURE_EXPECT(put(4, "x") && ::fcntl(3, F_GETSIG) == SIGRTMIN + 3 && (::fcntl(3, F_GETFL) & O_ASYNC) != 0);
        return "";
      },
      choices);
  EXPECT_EQ(restored.child->go_on(), "");
  siginfo_t told{};
  EXPECT_EQ(::sigwaitinfo(&signals, &told), SIGRTMIN + 3);
  EXPECT_EQ(told.si_fd, 3);
  ::signal(SIGRTMIN + 3, SIG_IGN);  // the end of the child tells once more
  restored.child->end();
  ASSERT_EQ(::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr), 0);
  ::signal(SIGRTMIN + 3, SIG_DFL);
}

TEST(RestoredDescriptors, MayBeAThousand) {
  constexpr int kFirst = 3, kLast = 1020;
  const TemporaryDirectory directory;
  const std::string path = directory / "data";
  std::ofstream(path) << std::string(2000, 'x');
  expect_same(
      [&]() -> std::string {
        for (int fd = kFirst; fd < kLast; ++fd)
          PERDURE_EXPECT(fd % 3 == 0   ? ::open(path.c_str(), O_RDONLY) == fd && ::lseek(fd, fd, SEEK_SET) == fd
                         : fd % 3 == 1 ? ::eventfd(static_cast<unsigned>(fd), 0) == fd
                                       : ::dup(fd - 2) == fd);
        return "";
      },
      [&]() -> std::string {
        for (int fd = kFirst; fd < kLast; ++fd) {
          std::uint64_t count = 0;
          if (fd % 3 == 0) PERDURE_EXPECT(::lseek(fd, 0, SEEK_CUR) == fd);
          if (fd % 3 == 1) PERDURE_EXPECT(::read(fd, &count, 8) == 8 && count == static_cast<std::uint64_t>(fd));
          if (fd % 3 == 2) PERDURE_EXPECT(::lseek(fd, 0, SEEK_CUR) == fd - 2);
        }
        return "";
      });
}

TEST(RestoredDescriptors, OfFilesThatChangedAreNoted) {
  const TemporaryDirectory directory;
  const std::string path = directory / "log";
  std::ofstream(path) << "0123456789";
  DescriptorChild child([&]() -> std::string {
    PERDURE_EXPECT(::open(path.c_str(), O_WRONLY | O_APPEND) == 3);
    return "";
  });
  DescriptorChoices hashed;
  hashed.hash_files = true;
  const auto read = read_held(child.process()), with_hash = read_held(child.process(), hashed);
  child.end();
  const auto notes = [&](const ReadDescriptors& of, bool cut_back = false) {
    RestoreChoices choices;
    choices.cut_back = cut_back;
    const auto bytes = std::filesystem::file_size(path);
    auto restored = RestoredDescriptors::make(of.files, choices);
    EXPECT_TRUE(restored) << restored.error().text();
    if (!restored) return std::vector<std::string>();
    auto all = restored->notes();
    EXPECT_EQ(std::filesystem::file_size(path), bytes) << "nothing is cut before the last step";
    const auto cut = restored->take_grown().cut_back(1);
    EXPECT_TRUE(cut) << cut.error().text();
    if (cut) all.insert(all.end(), cut->begin(), cut->end());
    return all;
  };
  EXPECT_THAT(notes(read), IsEmpty());
  EXPECT_THAT(notes(with_hash), IsEmpty());
  const auto append = [&](const std::string& text) { std::ofstream(path, std::ios::app) << text; };
  append("more");
  const auto grown = AllOf(HasSubstr("descriptor 3, '" + path), HasSubstr("grown: it had 10 bytes, and has 14"));
  EXPECT_THAT(notes(read), testing::ElementsAre(grown));
  EXPECT_THAT(notes(with_hash), testing::ElementsAre(grown)) << "what it had is the same";
  EXPECT_EQ(std::filesystem::file_size(path), 14U) << "nothing is cut unasked";
  EXPECT_THAT(notes(read, true), testing::ElementsAre(grown, HasSubstr("cut back to the 10 bytes")));
  EXPECT_EQ(std::filesystem::file_size(path), 10U);
  EXPECT_THAT(notes(read), testing::ElementsAre(HasSubstr("its time is another")));
  EXPECT_THAT(notes(with_hash), IsEmpty());
  std::ofstream(path) << "0123456780";
  EXPECT_THAT(notes(with_hash), testing::ElementsAre(HasSubstr("its content is another one")));
  std::filesystem::resize_file(path, 3);
  EXPECT_THAT(notes(read), testing::ElementsAre(HasSubstr("shortened: it had 10 bytes, and has 3")));
  std::ofstream(directory / "other") << "0123456789";
  std::filesystem::rename(directory / "other", path);
  EXPECT_THAT(notes(read), Contains(HasSubstr("another file has its name")));
}

TEST(RestoredDescriptors, OfFilesThatAreNotThereAreRefused) {
  const TemporaryDirectory directory;
  const std::string path = directory / "data";
  std::ofstream(path) << "0123456789";
  DescriptorChild child([&]() -> std::string {
    PERDURE_EXPECT(::open(path.c_str(), O_RDONLY) == 3);
    return "";
  });
  const auto read = read_held(child.process());
  std::filesystem::remove(path);
  const auto missing = RestoredDescriptors::make(read.files);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, PERDURE_NOT_FOUND);
  EXPECT_THAT(missing.error().text(), AllOf(HasSubstr("descriptor 3"), HasSubstr(path), HasSubstr("put it back")));
  std::filesystem::create_directory(path);
  const auto other = RestoredDescriptors::make(read.files);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().text(), HasSubstr("it was a regular file, and its name has a directory"));
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);  // opening it would block
  EXPECT_THAT(RestoredDescriptors::make(read.files).error().text(), HasSubstr("its name has a FIFO"));
  RestoreChoices without;
  without.left_out = {3};
  const Restored restored(
      read.files,
      []() -> std::string {
        PERDURE_EXPECT(text_at(3) == "" && put(3, "x"));
        return "";
      },
      without);
  EXPECT_THAT(restored.notes, Contains(HasSubstr("it is left out, and is /dev/null")));
  EXPECT_EQ(restored.child->go_on(), "");
}

TEST(RestoredDescriptors, OfOtherProcessesAreThoseOfWhoeverResumes) {
  int out[2], in[2];
  ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(in, O_CLOEXEC), 0);
  DescriptorChild child(
      [&]() -> std::string {
        ::dup2(out[1], 1);
        ::dup2(out[1], 2);
        ::close_range(3, ~0U, 0);
        return "";
      },
      {}, false);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  auto seen = look_at_files(child.process());
  ASSERT_TRUE(seen) << seen.error().text();
  settle(*seen, {});
  EXPECT_THAT(obstacles_of_files(*seen), IsEmpty());
  const auto read = read_held(child.process());
  EXPECT_THAT(read.notes, Contains(AllOf(HasSubstr("descriptor 1: pipe:["), HasSubstr("leads to another process"))));
  RestoreChoices choices;
  choices.standard = {null, in[1], null};
  const Restored restored(
      read.files,
      []() -> std::string {
        PERDURE_EXPECT(put(1, "out ") && put(2, "and err"));
        return "";
      },
      choices);
  EXPECT_EQ(restored.child->go_on(), "");
  EXPECT_EQ(text_at(in[0]), "out and err");
  for (const int fd : {out[0], out[1], in[0], in[1], null}) ::close(fd);
}

/// Makes a terminal for the test. Returns its name; `maker` is the controlling side.
std::string new_terminal(os::Fd& maker) {
  maker = os::Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  std::array<char, 64> name{};
  EXPECT_TRUE(maker && ::grantpt(maker.get()) == 0 && ::unlockpt(maker.get()) == 0);
  EXPECT_EQ(::ptsname_r(maker.get(), name.data(), name.size()), 0);
  return name.data();
}

TEST(RestoredDescriptors, OfTerminalsAreThoseOfWhoeverResumes) {
  os::Fd maker, maker_here;
  const std::string there = new_terminal(maker), here = new_terminal(maker_here);
  DescriptorChild child([&]() -> std::string {
    PERDURE_EXPECT(::open(there.c_str(), O_RDWR | O_NOCTTY) == 3 && ::dup2(3, 0) == 0 && ::dup2(3, 1) == 1);
    PERDURE_EXPECT(::close(3) == 0 && ::open(there.c_str(), O_WRONLY | O_NOCTTY) == 3);
    return "";
  });
  ASSERT_EQ(child.said(), "");
  const auto read = read_held(child.process());
  const os::Fd terminal(::open(here.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  RestoreChoices choices;
  choices.standard = {terminal.get(), terminal.get(), -1};
  const Work check = []() -> std::string {
    PERDURE_EXPECT(::isatty(0) == 1 && put(1, "one ") && put(3, "two") &&
                   (::fcntl(3, F_GETFL) & O_ACCMODE) == O_WRONLY);
    return "";
  };
  const Restored restored(read.files, check, choices);
  EXPECT_EQ(restored.child->go_on(), "");
  EXPECT_EQ(text_at(maker_here.get()), "one two");
  EXPECT_THAT(restored.notes, Contains(AllOf(HasSubstr(there), HasSubstr("of whoever resumes it"))));
  choices.standard = {-1, -1, -1};
  const Restored without(read.files, {}, choices);
  EXPECT_THAT(without.notes, Contains(HasSubstr(there + " is /dev/null: whoever resumes it has no terminal")));
  EXPECT_THAT(without.notes, Contains(HasSubstr(there + " is /dev/null: whoever resumes it has none")));
}

OpenFiles one_file(OpenFile::What what, std::uint32_t flags = 0) {
  OpenFiles files;
  files.descriptors = {{3, false, 0}};
  files.files.emplace_back();
  files.files[0].what = std::move(what);
  files.files[0].flags = flags;
  return files;
}

TEST(RestoredDescriptors, ThatAreHostileAreRefusedBeforeAnythingIsDone) {
  const auto wrong = [](const OpenFiles& files) {
    const auto made = RestoredDescriptors::make(files);
    EXPECT_EQ(made ? PERDURE_OK : made.error().code, PERDURE_CORRUPT);
    const auto bytes = base::encode_fields(files);
    EXPECT_FALSE(base::decode_fields<OpenFiles>(bytes, "an image"));
    return made ? std::string() : made.error().cause;
  };
  EXPECT_EQ(one_file(EventCount{}).wrong(), "");
  const auto with_numbers = [](std::vector<Descriptor> numbers) {
    auto files = one_file(EventCount{});
    files.descriptors = std::move(numbers);
    return files;
  };
  for (const auto& numbers : std::vector<std::vector<Descriptor>>{
           {{-1, false, 0}}, {{3, false, 0}, {3, false, 0}}, {{4, false, 0}, {3, false, 0}}, {{1 << 20, false, 0}}})
    EXPECT_THAT(wrong(with_numbers(numbers)), HasSubstr("do not ascend"));
  EXPECT_THAT(wrong(with_numbers({{3, false, 1}})), HasSubstr("an open file that it does not have"));
  EXPECT_THAT(wrong(with_numbers({})), HasSubstr("has no descriptor"));
  NamedFile named{"/tmp/x", S_IFREG | 0600, 1, 2, 0, 3, 4, {}};
  EXPECT_EQ(one_file(named).wrong(), "");
  for (const auto& path :
       {std::string("/a\0b", 4), std::string("relative"), std::string(), "/" + std::string(5000, 'x')}) {
    named.path = path;
    EXPECT_THAT(wrong(one_file(named)), HasSubstr("its path"));
  }
  named.path = "/dev/mem";
  named.mode = S_IFCHR;
  named.special_device = makedev(1, 1);
  EXPECT_THAT(wrong(one_file(named)), HasSubstr("its device is none"));
  named.mode = S_IFBLK;
  EXPECT_THAT(wrong(one_file(named)), HasSubstr("neither a regular file"));
  named.mode = S_IFREG;
  EXPECT_THAT(wrong(one_file(named, O_CREAT)), HasSubstr("make or cut files"));
  EXPECT_THAT(wrong(one_file(named, O_TRUNC | O_WRONLY)), HasSubstr("make or cut files"));
  EXPECT_THAT(wrong(one_file(PipeEnd{0})), HasSubstr("another kind of file's, or none"));
  EXPECT_THAT(wrong(one_file(PollSet{{{3, 0, 1, 0}}})), HasSubstr("watch each other"));
  EXPECT_THAT(wrong(one_file(PollSet{{{3, 7, 1, 0}}})), HasSubstr("no descriptor"));
  EXPECT_THAT(wrong(one_file(TimerFile{77, 0, 0, 0, 0})), HasSubstr("its clock"));
  PairSocket lonely{SOCK_STREAM, 0, 0, 0, 0, false, -1, 0, 0, {}};
  EXPECT_THAT(wrong(one_file(lonely)), HasSubstr("peer is none"));
  lonely.type = SOCK_RAW;
  EXPECT_THAT(wrong(one_file(lonely)), HasSubstr("its type"));
}

TEST(RestoredDescriptors, OfDeeplyNestedEpollsAreRefused) {
  OpenFiles chain;
  for (std::int32_t i = 0; i < 20'000; ++i) {
    chain.descriptors.push_back({i, false, static_cast<std::uint32_t>(i)});
    chain.files.emplace_back();
    PollSet set;
    if (i < 19'999) set.items.push_back({i + 1, static_cast<std::uint32_t>(i) + 1, 1, 0});
    chain.files.back().what = set;
  }
  EXPECT_THAT(chain.wrong(), HasSubstr("watch each other"));
  OpenFiles all_of_all;
  for (std::int32_t i = 0; i < 200; ++i) {
    all_of_all.descriptors.push_back({i, false, static_cast<std::uint32_t>(i)});
    PollSet set;
    for (std::int32_t j = 0; j < 200; ++j) set.items.push_back({j, static_cast<std::uint32_t>(j), 1, 0});
    all_of_all.files.emplace_back();
    all_of_all.files.back().what = set;
  }
  EXPECT_THAT(all_of_all.wrong(), HasSubstr("watch each other"));
}

TEST(RestoredDescriptors, WithMoreContentThanFitsAreRefused) {
  auto pipe = one_file(PipeEnd{0});
  pipe.contents.emplace_back();
  pipe.contents[0].runs.push_back({0, std::vector<std::byte>(1 << 20)});
  EXPECT_EQ(RestoredDescriptors::make(pipe).error().code, PERDURE_NO_SPACE);
  pipe.contents[0].capacity = ~0U;
  EXPECT_FALSE(RestoredDescriptors::make(pipe));
  auto far = one_file(MemoryFile{"far", 0}, O_RDWR);
  far.contents.emplace_back();
  far.contents[0].size = ~std::uint64_t{0};
  EXPECT_EQ(RestoredDescriptors::make(far).error().code, PERDURE_CORRUPT);
  far.contents[0].size = 10;
  far.contents[0].runs.push_back({8, std::vector<std::byte>(3)});
  EXPECT_THAT(far.wrong(), HasSubstr("more than its size"));
}

}  // namespace
}  // namespace perdure::process
