#include "process/fd_info.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <random>

namespace perdure::process {
namespace {

const std::string kBegin = "pos:\t17\nflags:\t02000002\nmnt_id:\t24\nino:\t3\n";

TEST(FdInfo, IsWhatTheLinesSay) {
  const auto info = parse_fd_info(kBegin);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->offset, 17U);
  EXPECT_EQ(info->flags, static_cast<unsigned>(O_RDWR | O_CLOEXEC));
  EXPECT_FALSE(info->event || info->timer || info->signals || info->lease);
  EXPECT_EQ(parse_fd_info(kBegin + "scm_fds: 2\n")->carried_files, 2U);
}

TEST(FdInfo, OfCountersSaysWhetherTheyAreSemaphores) {
  const auto info = parse_fd_info(kBegin + "eventfd-count:               1f\neventfd-id: 1\neventfd-semaphore: 1\n");
  ASSERT_TRUE(info && info->event);
  EXPECT_EQ(info->event->count, 31U);
  EXPECT_TRUE(info->event->semaphore && info->semaphore_known);
  const auto older = parse_fd_info(kBegin + "eventfd-count:                5\neventfd-id: 1\n");
  ASSERT_TRUE(older && older->event);
  EXPECT_FALSE(older->semaphore_known);
}

TEST(FdInfo, OfTimersAndSignals) {
  const auto info = parse_fd_info(kBegin +
                                  "clockid: 1\nticks: 3\nsettime flags: 01\nit_value: (1, 908145599)\n"
                                  "it_interval: (2, 0)\n");
  ASSERT_TRUE(info && info->timer);
  EXPECT_EQ(info->timer->clock, 1);
  EXPECT_EQ(info->timer->ticks, 3U);
  EXPECT_EQ(info->timer->set_flags, 1U);
  EXPECT_EQ(info->timer->remaining_ns, 1'908'145'599U);
  EXPECT_EQ(info->timer->interval_ns, 2'000'000'000U);
  EXPECT_EQ(parse_fd_info(kBegin + "sigmask:\t0000000000000200\n")->signals->signals, 0x200U);
}

TEST(FdInfo, OfEpollsHasTheirItems) {
  const auto info = parse_fd_info(kBegin +
                                  "tfd:        7 events: 80000019 data:     deadbeefcafe  pos:0 ino:414 sdev:10\n"
                                  "tfd:       12 events:       19 data: ffffffffffffffff  pos:0 ino:5 sdev:10\n");
  ASSERT_TRUE(info);
  ASSERT_EQ(info->poll_items.size(), 2U);
  EXPECT_EQ(info->poll_items[0].number, 7);
  EXPECT_EQ(info->poll_items[0].events, 0x80000019U);
  EXPECT_EQ(info->poll_items[0].data, 0xdeadbeefcafeU);
  EXPECT_EQ(info->poll_items[1].data, ~std::uint64_t{0});
}

TEST(FdInfo, HasLocks) {
  const auto info = parse_fd_info(kBegin +
                                  "lock:\t1: POSIX  ADVISORY  WRITE 27198 fe:00:9977939 2 9\n"
                                  "lock:\t2: FLOCK  ADVISORY  READ 27198 fe:00:9977939 0 EOF\n"
                                  "lock:\t3: OFDLCK ADVISORY  READ -1 fe:00:9977939 5 EOF\n");
  ASSERT_TRUE(info);
  ASSERT_EQ(info->locks.size(), 3U);
  EXPECT_EQ(info->locks[0].kind, FileLock::Kind::process);
  EXPECT_TRUE(info->locks[0].exclusive);
  EXPECT_EQ(info->locks[0].begin, 2U);
  EXPECT_EQ(info->locks[0].bytes, 8U);
  EXPECT_EQ(info->locks[1].kind, FileLock::Kind::whole);
  EXPECT_EQ(info->locks[2].kind, FileLock::Kind::open_file);
  EXPECT_EQ(info->locks[2].bytes, 0U) << "to the end";
  EXPECT_FALSE(info->lease);
  EXPECT_TRUE(parse_fd_info(kBegin + "lock:\t1: LEASE  ACTIVE    WRITE 27198 fe:00:9977939 0 EOF\n")->lease);
}

TEST(FdInfo, ThatIsNotUnderstoodIsNone) {
  EXPECT_FALSE(parse_fd_info(""));
  EXPECT_FALSE(parse_fd_info("pos:\t1\n"));
  EXPECT_FALSE(parse_fd_info("pos:\t-1\nflags:\t02\n"));
  EXPECT_FALSE(parse_fd_info("pos:\t1\nflags:\t09\n"));
  for (const std::string line :
       {"eventfd-count: x", "clockid: ", "clockid: 1\nit_value: (1, 1000000000)", "clockid: 1\nit_value: 1, 5",
        "clockid: 1\nit_value: (99999999999999999, 0)", "tfd: 7 events: 1", "tfd: 7 events 19 data: 1", "sigmask: xyz",
        "lock: 1: POSIX ADVISORY WRITE 1 fe:00:9", "lock: 1: POSIX ADVISORY WRITE 1 fe:00:9 9 2",
        "lock: 1: OTHER ADVISORY WRITE 1 fe:00:9 0 EOF", "lock: 1: FLOCK ADVISORY NEITHER 1 fe:00:9 0 EOF"})
    EXPECT_FALSE(parse_fd_info(kBegin + line + "\n")) << line;
}

TEST(FdInfo, ThatIsDamagedIsRefusedOrAnother) {
  const std::string whole = kBegin + "clockid: 1\nticks: 3\nit_value: (1, 9)\ntfd: 7 events: 80 data: de\n" +
                            "lock:\t1: POSIX  ADVISORY  WRITE 27198 fe:00:9977939 2 9\n";
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string text = whole;
    for (auto changes = 1 + random() % 4; changes > 0; --changes)
      text[random() % text.size()] = static_cast<char>(random());
    (void)parse_fd_info(text);
  }
}

}  // namespace
}  // namespace perdure::process
