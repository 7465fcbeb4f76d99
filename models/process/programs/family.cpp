// These processes work together: `family ROUNDS [wait]`. They pass a number round through pipes, and count in shared
// memory. They write to a file with a shared offset, and talk through a pair of sockets. Each checks its parent, group
// and session, and that zero memory stays zero. Two children end at the beginning, and are waited for at the end. The
// program writes one line, which does not depend on its duration, and ends with status 0 only if all was right. With
// `wait` it continues until it gets SIGUSR1. The family dies as a whole.
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int kMembers = 4;  // the parent is the first

struct Together {
  std::atomic<std::uint64_t> turns{0};
  std::atomic<int> wrong{0};
};
Together* together = nullptr;
/// Was written, and is zero again except for the middle. Each process has its own.
std::array<volatile std::uint64_t, 65536> blank{};
volatile sig_atomic_t children_ended = 0, is_over = 0;

void judge(bool good, int what) {
  int none = 0;
  if (!good) together->wrong.compare_exchange_strong(none, what);
}

void write_blank() {
  for (auto& one : blank) one = 1;
  for (auto& one : blank) one = 0;
  blank[blank.size() / 2] = 7;
}

void check_blank(int what) {
  std::uint64_t sum = 0;
  for (const auto& one : blank) sum += one;
  judge(sum == 7 && blank[blank.size() / 2] == 7, what);
}

void pause_us(long us) {
  timespec left{0, us * 1000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {  // wait: it is captured meanwhile
  }
}

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  return x ^ (x >> 27);
}

bool get(int fd, std::uint64_t& number) {
  ssize_t got = 0;
  do got = read(fd, &number, sizeof number);
  while (got < 0 && errno == EINTR);
  return got == sizeof number;
}
bool put(int fd, std::uint64_t number) {
  ssize_t done = 0;
  do done = write(fd, &number, sizeof number);
  while (done < 0 && errno == EINTR);
  return done == sizeof number;
}

struct Ends {
  std::array<std::array<int, 2>, kMembers> ring{};  // pipe i leads to member i
  std::array<int, 2> pair{};                        // the first member's, and the third's
  int file = -1;
};

/// The relations of a member, which never change.
struct Belongs {
  pid_t self = getpid(), parent = getppid(), group = getpgrp(), session = getsid(0);
  void check(int what) const {
    judge(getpid() == self && getppid() == parent, what);
    judge(getpgrp() == group && getsid(0) == session, what + 1);
  }
};

/// Takes one turn: passes the number on, and changes the shared memory and file.
std::uint64_t take_turn(const Ends& ends, std::uint64_t number, int member) {
  together->turns.fetch_add(1);
  number = mix(number + static_cast<std::uint64_t>(member));
  judge(put(ends.file, number), 10);
  return number;
}

[[noreturn]] void be_member(const Ends& ends, int member, pid_t leader) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGUSR1, SIG_IGN);
  if (member == 1) judge(setsid() == getpid(), 20);
  if (member == 2) judge(setpgid(0, 0) == 0, 21);
  if (member == 3) judge(setpgid(0, leader) == 0, 22);
  const Belongs belongs;
  // Only the writer has a write end, so the reader notices its end.
  for (int i = 0; i < kMembers; ++i) {
    if (i != member) close(ends.ring[i][0]);
    if (i != (member + 1) % kMembers) close(ends.ring[i][1]);
  }
  close(ends.pair[0]);
  if (member != 2) close(ends.pair[1]);
  judge(put(ends.ring[(member + 1) % kMembers][1], 0), 23);  // reports that it is ready
  std::uint64_t number = 0;
  while (get(ends.ring[member][0], number)) {
    belongs.check(24);
    if (member == 2) judge(put(ends.pair[1], number), 26);
    pause_us(150);
    judge(put(ends.ring[(member + 1) % kMembers][1], take_turn(ends, number, member)), 27);
  }
  check_blank(28);
  _exit(40 + member);
}

void wait_until_ended(pid_t child) {
  siginfo_t how{};
  while (waitid(P_PID, static_cast<id_t>(child), &how, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

pid_t make_one_that_ends(int signal_number) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (signal_number != 0) kill(getpid(), signal_number);
  _exit(42);
}

int status_of(pid_t child) {
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

bool file_is_right(int file, std::uint64_t turns) {
  std::uint64_t number = 1, read_number = 0;
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    number = mix(number + (turn + 1) % kMembers);
    if (pread(file, &read_number, sizeof read_number, static_cast<off_t>(turn * sizeof read_number)) !=
            sizeof read_number ||
        read_number != number)
      return false;
  }
  return static_cast<std::uint64_t>(lseek(file, 0, SEEK_CUR)) == turns * sizeof number;
}

}  // namespace

int main(int count, char** words) {
  const int rounds = count > 1 ? std::atoi(words[1]) : 10;
  const bool waits = count > 2 && std::string(words[2]) == "wait";
  together = new (mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Together;
  signal(SIGCHLD, [](int) { children_ended = children_ended + 1; });
  signal(SIGUSR1, [](int) { is_over = 1; });
  write_blank();
  Ends ends;
  for (auto& one : ends.ring) judge(pipe(one.data()) == 0, 1);
  judge(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.pair.data()) == 0, 2);
  ends.file = memfd_create("together", 0);
  const pid_t exited = make_one_that_ends(0), killed = make_one_that_ends(SIGTERM);
  wait_until_ended(exited);
  wait_until_ended(killed);
  std::array<pid_t, kMembers> members{getpid()};
  for (int i = 1; i < kMembers; ++i) {
    members[i] = fork();
    if (members[i] == 0) be_member(ends, i, members[2]);
    if (std::uint64_t there = 1; i < kMembers - 1) {  // the next member's pipe reports it; the parent reads that for
                                                      // now
      judge(get(ends.ring[i + 1][0], there) && there == 0, 3);
    }
  }
  std::uint64_t number = 1, said = 0;
  judge(get(ends.ring[0][0], said) && said == 0, 4);
  for (int i = 0; i < kMembers; ++i) {
    if (i != 0) close(ends.ring[i][0]);
    if (i != 1) close(ends.ring[i][1]);
  }
  close(ends.pair[1]);
  const Belongs belongs;
  const int ended_before = children_ended;
  std::uint64_t rounds_done = 0;
  for (; waits ? is_over == 0 : rounds_done < static_cast<std::uint64_t>(rounds); ++rounds_done) {
    judge(put(ends.ring[1][1], number), 5);
    judge(get(ends.ring[0][0], number), 6);
    judge(get(ends.pair[0], said), 7);
    number = take_turn(ends, number, 0);
  }
  judge(children_ended == ended_before, 8);
  judge(getpid() == belongs.self && getpgrp() == belongs.group && getsid(0) == belongs.session, 9);
  close(ends.ring[1][1]);  // each member ends after its predecessor
  for (int i = 1; i < kMembers; ++i) {
    const int status = status_of(members[i]);
    judge(WIFEXITED(status) && WEXITSTATUS(status) == 40 + i, 30 + i);
  }
  const int how_exited = status_of(exited), how_killed = status_of(killed);
  judge(WIFEXITED(how_exited) && WEXITSTATUS(how_exited) == 42, 40);
  judge(WIFSIGNALED(how_killed) && WTERMSIG(how_killed) == SIGTERM, 41);
  judge(together->turns == rounds_done * kMembers && file_is_right(ends.file, rounds_done * kMembers), 42);
  check_blank(43);
  if (waits) number = 0;
  std::printf("number %llx wrong %d\n", static_cast<unsigned long long>(number), together->wrong.load());
  std::fflush(stdout);
  return together->wrong.load() == 0 ? 0 : 1;
}
