#include "process/guard.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/field_codec.hpp"
#include "os/system.hpp"
#include "process/read_image.hpp"
#include "process/tracee.hpp"

namespace perdure::process {
namespace {

/// An answer: a length, and that many bytes.
using Told = base::Result<Guard::Held>;
using Released = base::Result<std::uint8_t>;

base::Status lost() {
  return base::fail(PERDURE_INTERNAL, "guard", "the process that holds the captured one has ended",
                    "somebody killed it; the captured process goes on", true);
}

bool send_all(int socket, base::ConstByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

bool receive_all(int socket, base::ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

template <class T>
bool send_message(int socket, const T& value) {
  const auto bytes = base::encode_fields(value);
  const std::uint64_t length = bytes.size();
  return send_all(socket, std::as_bytes(std::span(&length, 1))) && send_all(socket, bytes);
}

template <class T>
base::Result<T> receive_message(int socket) {
  std::uint64_t length = 0;
  if (!receive_all(socket, std::as_writable_bytes(std::span(&length, 1)))) PERDURE_CHECK(lost());
  std::vector<std::byte> bytes(length);
  if (!receive_all(socket, bytes)) PERDURE_CHECK(lost());
  return base::decode_fields<T>(bytes, "guard");
}

Told hold_here(const Guard::Wanted& wanted, std::optional<Tracee>& tracee) {
  DescriptorChoices choices;
  choices.left_out.insert(wanted.left_out.begin(), wanted.left_out.end());
  choices.hash_files = wanted.hash_files;
  PERDURE_TRY(const SeenFiles seen, look_for_obstacles(wanted.process, choices.left_out));
  choices.look.before = &seen;
  PERDURE_TRY(auto seized, Tracee::seize(wanted.process));
  tracee.emplace(std::move(seized));
  Guard::Held held;
  held.seized_ns = os::monotonic_ns();
  PERDURE_TRY(held.read, read_image(*tracee, choices));
  return held;
}

Released release_here(std::optional<Tracee>& tracee) {
  if (!tracee) return base::fail(PERDURE_INVALID_ARGUMENT, "guard", "nothing is held");
  const auto released = tracee->release();
  tracee.reset();
  PERDURE_CHECK(released);
  return std::uint8_t{1};
}

/// Whatever ends this lets go of what is held: at its end nobody is left to be told.
void serve(int socket) {
  std::optional<Tracee> tracee;
  for (;;) {
    const auto wanted = receive_message<Guard::Wanted>(socket);
    if (!wanted) return;
    if (wanted->process != 0) {
      const Told told = base::caught("guard", [&] { return hold_here(*wanted, tracee); });
      if (!told) tracee.reset();
      if (!send_message(socket, told)) return;
    } else if (!send_message(socket, release_here(tracee))) {
      return;
    }
  }
}

[[noreturn]] void be_the_guard(int socket) {
  ::setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE}) ::signal(signal, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  ::prctl(PR_SET_NAME, "perdure-guard");
  if (socket != 3) ::dup3(socket, 3, O_CLOEXEC);
  ::close_range(4, ~0U, 0);
  base::attempt([] { serve(3); });
  ::_exit(0);
}

}  // namespace

base::Result<Guard> Guard::start() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return base::fail(base::errno_error(errno, "socketpair", "guard"));
  os::Fd ours(ends[0]), its(ends[1]);
  const pid_t guard = ::fork();
  if (guard == 0) be_the_guard(its.get());
  if (guard < 0) return base::fail(base::errno_error(errno, "fork", "guard"));
  return Guard(guard, std::move(ours));
}

Guard::Guard(Guard&& other) noexcept : guard_(std::exchange(other.guard_, 0)), socket_(std::move(other.socket_)) {}

Guard::~Guard() {
  if (guard_ == 0) return;
  socket_.reset();  // which ends it
  while (::waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

base::Result<Guard::Held> Guard::hold(const Wanted& wanted) {
  if (wanted.process == ::getpid())
    return base::fail(PERDURE_INVALID_ARGUMENT, "process " + std::to_string(wanted.process),
                      "a process cannot capture itself like this");
  if (!send_message(socket_.get(), wanted)) PERDURE_CHECK(lost());
  PERDURE_TRY(auto told, receive_message<Told>(socket_.get()));
  return told;
}

base::Status Guard::release() {
  if (!send_message(socket_.get(), Wanted{})) PERDURE_CHECK(lost());
  PERDURE_TRY(const auto released, receive_message<Released>(socket_.get()));
  PERDURE_CHECK(released);
  return {};
}

}  // namespace perdure::process
