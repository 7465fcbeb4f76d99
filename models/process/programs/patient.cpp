// This program works until it is told to end, and checks itself all the time: `patient DIRECTORY STATUS [socket]`. It
// makes the directory DIRECTORY/ready when all of its threads work. It adds a line to DIRECTORY/beats at each step, and
// makes the directory DIRECTORY/heard at SIGUSR2. It ends with STATUS when there is a file DIRECTORY/end, or with 99 if
// anything was wrong. With `socket` it has a TCP socket, which cannot be captured.
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

std::atomic<bool> wrong{false}, over{false}, computed{false};
std::atomic<std::uint64_t> numbers_read{0};
volatile sig_atomic_t heard = 0;

void judge(bool good) {
  if (!good) wrong = true;
}

void pause_ms(long ms) {
  timespec left{ms / 1000, ms % 1000 * 1'000'000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {  // wait: it is captured meanwhile
  }
}

/// Makes it with one call, so that an observer sees no open descriptor for it.
void make(const std::string& path) { mkdir(path.c_str(), 0700); }
bool is_there(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

double turned() {
  volatile double start = 0.5;
  double x = start, y = 1;
  for (int i = 0; i < 20'000; ++i) {
    x = x * 0.9999 + y;
    y = y * 0.999 + 0.001;
    asm volatile("" : "+x"(x), "+x"(y));
  }
  return x + y;
}

/// Computes the same sum repeatedly, in registers.
void compute() {
  const double first = turned();
  while (!over) {
    errno = EDOM;
    judge(turned() == first);
    judge(errno == EDOM);
    computed = true;
    pause_ms(1);
  }
}

/// Reads numbers in order from a pipe; 0 is the last.
void read_numbers(int from) {
  for (std::uint64_t expected = 1;; ++expected) {
    std::uint64_t number = 0;
    ssize_t got = 0;
    do got = read(from, &number, sizeof number);
    while (got < 0 && errno == EINTR);
    judge(got == sizeof number);
    if (number == 0 || got != sizeof number) return;
    judge(number == expected);
    numbers_read = number;
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const std::string directory = arguments[1];
  if (count > 3) {
    const int tcp = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in any{AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {}};
    if (bind(tcp, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0) return 98;
  }
  struct sigaction action = {};
  action.sa_handler = [](int) { heard = 1; };
  sigaction(SIGUSR2, &action, nullptr);
  const int beats = open((directory + "/beats").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  std::array<int, 2> ends{};
  if (beats < 0 || pipe2(ends.data(), O_CLOEXEC) != 0) return 97;
  std::thread computing(compute), reading(read_numbers, ends[0]);
  bool ready = false;
  for (std::uint64_t step = 1;; ++step) {
    judge(write(ends[1], &step, sizeof step) == sizeof step);
    const std::string line = std::to_string(step) + "\n";
    judge(write(beats, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
    if (!ready && computed && numbers_read > 0) make(directory + "/ready"), ready = true;
    if (heard != 0) make(directory + "/heard");
    if (is_there(directory + "/end")) break;
    pause_ms(2);
  }
  const std::uint64_t last = 0;
  judge(write(ends[1], &last, sizeof last) == sizeof last);
  over = true;
  computing.join();
  reading.join();
  std::printf("wrong: %s\n", wrong ? "yes" : "no");
  std::fflush(stdout);
  return wrong ? 99 : std::atoi(arguments[2]);
}
