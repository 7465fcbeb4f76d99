#include "os/socket.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "os/fault_rules.hpp"
#include "os/system.hpp"
#include "support/installed_hooks.hpp"
#include "support/quiescent.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::os {
namespace {

using test_support::InstalledHooks;
using test_support::TemporaryDirectory;

constexpr std::uint64_t kLong_ns = 60'000'000'000;

/// Sends signals that interrupt waiting calls.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction noticed {};
    noticed.sa_handler = [](int) {};  // without SA_RESTART
    ::sigaction(SIGUSR1, &noticed, &before_);
  }
  ~Interruptions() { ::sigaction(SIGUSR1, &before_, nullptr); }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;
  void send_to(std::thread& thread) const {
    for (int signals = 0; signals < 5; ++signals) {
      ASSERT_TRUE(test_support::quiescent()) << "it waits, and again after each signal";
      ::pthread_kill(thread.native_handle(), SIGUSR1);
    }
    ASSERT_TRUE(test_support::quiescent());
  }

 private:
  struct sigaction before_ {};
};

class Socket : public testing::Test {
 protected:
  static std::string receive_text(const Fd& socket, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) {
      std::array<std::byte, 100> room{};
      const auto got = receive_some(socket, room, kLong_ns);
      if (!got || *got == 0) break;
      text.append(reinterpret_cast<const char*>(room.data()), *got);
    }
    return text;
  }
  TemporaryDirectory directory_;
  std::string path_ = directory_ / "engine.sock";
};

TEST_F(Socket, CarriesBytesBothWays) {
  const Fd listener = listen_at(path_).value();
  const Fd client = connect_to(path_).value();
  const Fd server = accept_from(listener).value();
  ASSERT_TRUE(server);
  ASSERT_TRUE(send_all(client, base::as_bytes("question")));
  EXPECT_EQ(receive_text(server, 8), "question");
  ASSERT_TRUE(send_all(server, base::as_bytes("answer")));
  EXPECT_EQ(receive_text(client, 6), "answer");
}

TEST_F(Socket, IsPrivateAndNotInherited) {
  const Fd listener = listen_at(path_).value();
  struct stat facts {};
  ASSERT_EQ(::lstat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0600U);
  const Fd client = connect_to(path_).value();
  const Fd server = accept_from(listener).value();
  for (const Fd* fd : {&listener, &client, &server}) EXPECT_EQ(::fcntl(fd->get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(Socket, AcceptsNothingWhenNobodyWaits) {
  const Fd listener = listen_at(path_).value();
  const auto none = accept_from(listener);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST_F(Socket, IsUnavailableWhenNobodyListens) {
  const auto missing = connect_to(path_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, PERDURE_UNAVAILABLE);
  EXPECT_TRUE(missing.error().retryable);
  { const Fd listener = listen_at(path_).value(); }
  EXPECT_EQ(connect_to(path_).error().code, PERDURE_UNAVAILABLE);
  EXPECT_EQ(connect_to(directory_ / "no/such/directory/" + std::string(120, 'x')).error().code, PERDURE_UNAVAILABLE);
}

TEST_F(Socket, DoesNotWaitForAFullQueueWhenItIsToConnectAtOnce) {
  EXPECT_EQ(connect_at_once(path_).error().code, PERDURE_UNAVAILABLE) << "nobody listens";
  const Fd listener = listen_at(path_).value();
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  std::vector<Fd> queue;
  for (auto next = connect_at_once(path_); queue.size() < 100; next = connect_at_once(path_)) {
    if (!next) {
      EXPECT_EQ(next.error().code, PERDURE_BUSY);
      break;
    }
    queue.push_back(std::move(*next));
  }
  ASSERT_FALSE(queue.empty());
  EXPECT_LT(queue.size(), 100u) << "the queue is never full";
  EXPECT_EQ(::fcntl(queue.front().get(), F_GETFL) & O_NONBLOCK, 0) << "what is sent and received then does wait";
}

TEST_F(Socket, ReplacesADeadSocketButNotALivingOne) {
  { const Fd dead = listen_at(path_).value(); }
  ASSERT_TRUE(exists(path_).value());
  const Fd living = listen_at(path_).value();
  const auto refused = listen_at(path_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_BUSY);
  EXPECT_TRUE(connect_to(path_)) << "the living one must still be there";
}

TEST_F(Socket, DoesNotReplaceWhatIsNoSocket) {
  ASSERT_TRUE(write_file_atomically(path_, base::as_bytes("precious")));
  EXPECT_EQ(listen_at(path_).error().code, PERDURE_EXISTS);
  ASSERT_EQ(::symlink("/nowhere", (directory_ / "link").c_str()), 0);
  EXPECT_EQ(listen_at(directory_ / "link").error().code, PERDURE_EXISTS);
  EXPECT_EQ(read_file(path_, 100).value().size(), 8U);
}

TEST_F(Socket, TakesThePlaceOfOneThatWentAwayMeanwhile) {
  FaultRules faults({{"bind", "", EADDRINUSE, 1, 1}});
  const InstalledHooks installed(faults);
  const auto listener = listen_at(path_);
  ASSERT_TRUE(listener) << listener.error().text();
  EXPECT_TRUE(connect_to(path_));
}

TEST_F(Socket, ReplacesNothingThatItCannotLookAt) {
  const Fd living = listen_at(path_).value();
  FaultRules faults(parse_fault_rules("lstat::EACCES").value());
  const InstalledHooks installed(faults);
  EXPECT_EQ(listen_at(path_).error().code, PERDURE_PERMISSION);
  EXPECT_TRUE(connect_to(path_));
}

/// Records, at every connect(), the timeout of the process's sockets.
class PatienceAtConnect : public Hooks {
 public:
  int before(const Operation& operation) override {
    for (int fd = 0; fd < 1024 && std::string_view(operation.call) == "connect"; ++fd)
      seconds_ = std::max(seconds_, patience_s(fd));
    return 0;
  }
  static time_t patience_s(int fd) {
    timeval limit{};
    socklen_t bytes = sizeof limit;
    return ::getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &bytes) == 0 ? limit.tv_sec : 0;
  }
  time_t seconds() const { return seconds_; }

 private:
  time_t seconds_ = 0;
};

TEST_F(Socket, DoesNotWaitForEverForAListenerThatHangsAndLetsSendingTakeItsTime) {
  const Fd listener = listen_at(path_).value();
  PatienceAtConnect patience;
  const InstalledHooks installed(patience);
  const Fd client = connect_to(path_).value();
  EXPECT_GT(patience.seconds(), 0) << "connect() would wait until the listener's queue has room";
  EXPECT_EQ(PatienceAtConnect::patience_s(client.get()), 0);
}

TEST_F(Socket, ASignalDoesNotLetTwoJudgeADeadSocketAtOnce) {
  { const Fd dead = listen_at(path_).value(); }
  const Interruptions interruptions;
  const Fd other(::open(directory_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX), 0) << "another engine is judging it";
  std::atomic<bool> done{false};
  std::thread engine([&] {
    EXPECT_TRUE(listen_at(path_));
    done = true;
  });
  interruptions.send_to(engine);
  EXPECT_FALSE(done.load());
  ASSERT_EQ(::flock(other.get(), LOCK_UN), 0);
  engine.join();
}

TEST_F(Socket, LetsExactlyOneOfManyReplaceADeadSocket) {
  for (int round = 0; round < 20; ++round) {
    std::vector<Fd> listeners(4);
    std::atomic<int> busy{0};
    {
      std::vector<std::jthread> engines;
      for (Fd& listener : listeners)
        engines.emplace_back([&] {
          if (auto made = listen_at(path_))
            listener = std::move(*made);
          else if (made.error().code == PERDURE_BUSY)
            ++busy;
        });
    }
    EXPECT_EQ(busy.load(), 3);
    EXPECT_TRUE(connect_to(path_));
  }
}

TEST_F(Socket, WorksWhereThePathIsTooLongForAnAddress) {
  const std::string deep = directory_ / (std::string(100, 'd') + "/" + std::string(100, 'e'));
  ASSERT_TRUE(make_directories(deep));
  const std::string path = deep + "/engine.sock";
  { const Fd dead = listen_at(path).value(); }
  const Fd listener = listen_at(path).value();
  const Fd client = connect_to(path).value();
  EXPECT_TRUE(accept_from(listener).value());
  EXPECT_EQ(listen_at(path).error().code, PERDURE_BUSY);
}

TEST_F(Socket, RefusesANameThatNoAddressHolds) {
  EXPECT_FALSE(listen_at(directory_ / std::string(120, 'x')));
  EXPECT_FALSE(connect_to(directory_ / std::string(120, 'x')));
}

TEST_F(Socket, ReportsTheEndOfTheStreamAsNoBytes) {
  const Fd listener = listen_at(path_).value();
  { const Fd client = connect_to(path_).value(); }
  const Fd server = accept_from(listener).value();
  std::array<std::byte, 8> room{};
  EXPECT_EQ(receive_some(server, room, kLong_ns).value(), 0U);
}

TEST_F(Socket, SurvivesSendingToAPeerThatIsGone) {
  const Fd listener = listen_at(path_).value();
  const Fd client = connect_to(path_).value();
  { const Fd server = accept_from(listener).value(); }
  const auto failed = send_all(client, base::as_bytes("anybody?"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, PERDURE_UNAVAILABLE);
}

TEST_F(Socket, GivesUpWaitingAtTheTimeout) {
  const Fd listener = listen_at(path_).value();
  const Fd client = connect_to(path_).value();
  std::array<std::byte, 8> room{};
  const auto failed = receive_some(client, room, 1'000'000);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, PERDURE_TIMEOUT);
  EXPECT_EQ(receive_some(client, {}, 1).error().code, PERDURE_INVALID_ARGUMENT);
}

TEST_F(Socket, ASignalDoesNotEndTheWaitingForBytes) {
  const Interruptions interruptions;
  const Fd listener = listen_at(path_).value();
  const Fd client = connect_to(path_).value();
  const Fd server = accept_from(listener).value();
  std::thread receiver([&] { EXPECT_EQ(receive_text(server, 4), "late"); });
  interruptions.send_to(receiver);
  ASSERT_TRUE(send_all(client, base::as_bytes("late")));
  receiver.join();
}

TEST_F(Socket, SendsMoreThanTheBuffersHold) {
  const Fd listener = listen_at(path_).value();
  const Fd client = connect_to(path_).value();
  const Fd server = accept_from(listener).value();
  const std::string text(8 << 20, 'x');
  std::jthread sender([&] { EXPECT_TRUE(send_all(client, base::as_bytes(text))); });
  std::size_t got = 0;
  std::vector<std::byte> room(base::MiB);
  while (got < text.size()) got += receive_some(server, room, kLong_ns).value();
  EXPECT_EQ(got, text.size());
}

TEST_F(Socket, SendsAllThroughADescriptorThatDoesNotBlock) {
  const Fd listener = listen_at(path_).value();
  const Fd client = connect_to(path_).value();
  const Fd server = accept_from(listener).value();
  ASSERT_EQ(::fcntl(client.get(), F_SETFL, O_NONBLOCK), 0);
  const std::string text(4 << 20, 'x');
  std::jthread sender([&] { EXPECT_TRUE(send_all(client, base::as_bytes(text))); });
  std::size_t got = 0;
  std::vector<std::byte> room(base::MiB);
  while (got < text.size()) got += receive_some(server, room, 0).value();
  EXPECT_EQ(got, text.size());
}

TEST_F(Socket, RetriesInterruptedCallsAndReportsOthers) {
  const Fd listener = listen_at(path_).value();
  const Fd client = connect_to(path_).value();
  FaultRules faults(parse_fault_rules("send::EINTR:1:3;send::ECONNRESET:5").value());
  const InstalledHooks installed(faults);
  EXPECT_TRUE(send_all(client, base::as_bytes("a")));
  EXPECT_EQ(send_all(client, base::as_bytes("b")).error().code, PERDURE_UNAVAILABLE);
}

TEST_F(Socket, AcceptsTheNextWhereOneGaveUpAndReportsOtherErrors) {
  const Fd listener = listen_at(path_).value();
  const Fd client = connect_to(path_).value();
  FaultRules faults({{"accept", "", ECONNABORTED, 1, 1}, {"accept", "", EMFILE, 3}});
  const InstalledHooks installed(faults);
  const auto accepted = accept_from(listener);
  ASSERT_TRUE(accepted);
  EXPECT_TRUE(*accepted);
  EXPECT_FALSE(accept_from(listener)) << "descriptors have run out";
}

TEST_F(Socket, DropsThePeersOfOtherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can play another user";
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  const Fd listener = listen_at(path_).value();
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  Fd stranger;
  std::jthread([&] {
    // The raw call changes the user of this thread only.
    ASSERT_EQ(::syscall(SYS_setresuid, -1, 12345, -1), 0);
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    stranger = std::move(socket);
  }).join();
  const auto none = accept_from(listener);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  const Fd friend_ = connect_to(path_).value();
  EXPECT_TRUE(accept_from(listener).value());
}

}  // namespace
}  // namespace perdure::os
