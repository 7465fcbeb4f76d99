#include "process/guard.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/field_codec.hpp"
#include "os/fault_rules.hpp"
#include "os/system.hpp"
#include "os/thread.hpp"
#include "process/page_faults.hpp"
#include "process/read_image.hpp"
#include "process/resume_proof.hpp"
#include "process/tracee.hpp"
#include "process/wait_limit.hpp"

namespace perdure::process {
namespace {

/// An answer: a length, and that many bytes.
using Told = base::Result<Guard::Held>;
using ToldOfTree = base::Result<Guard::HeldWithAll>;
using ToldOfPages = base::Result<Guard::Followed>;
using Released = base::Result<std::uint8_t>;  // whether flags are those that were seen

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

/// A byte with two descriptors, as sendmsg and recvmsg want it.
struct DescriptorMessage {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
  msghdr message{};
  DescriptorMessage() {
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
  DescriptorMessage& operator=(const DescriptorMessage&) = delete;
};

bool send_descriptors(int socket, std::array<int, 2> fds) {
  DescriptorMessage one;
  cmsghdr* header = CMSG_FIRSTHDR(&one.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(header), fds.data(), sizeof fds);
  ssize_t sent = 0;
  do sent = ::sendmsg(socket, &one.message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == 1;
}

bool receive_descriptors(int socket, std::array<int, 2>& fds) {
  DescriptorMessage one;
  ssize_t got = 0;
  do got = ::recvmsg(socket, &one.message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  const cmsghdr* header = got == 1 ? CMSG_FIRSTHDR(&one.message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof fds)) return false;
  std::memcpy(fds.data(), CMSG_DATA(header), sizeof fds);
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

/// Longer than any thread takes that is only slow.
constexpr std::uint64_t kLongestWait_ns = 10'000'000'000;

/// A process that is to end with our peer.
struct Kept {
  pid_t process = 0;
  os::Fd pidfd;
  std::vector<os::Fd> faults;
  Kept() = default;
  Kept(Kept&&) = default;
  Kept& operator=(Kept&&) = default;
  ~Kept() {
    if (faults.empty()) return;
    std::vector<int> all;
    for (const os::Fd& one : faults) all.push_back(one.get());
    end_unserved(process, pidfd.get(), all);
  }
};

/// The data of processes that may run again before their image is proved.
struct HeldImages {
  std::vector<ProcessImage> images;
  std::vector<MachineFacts> facts;  // of each, as long as it stood still: it may remove or change its files later
};

/// What the guard's process has of another one. Whatever ends it lets go of that: nobody is left to be told.
struct Hands {
  std::optional<Tracee> tracee;
  std::optional<HeldTree> tree;
  std::optional<DirtyTracking> tracking;
  std::optional<SeenFlags> flags;
  HeldImages held_images;
  Kept kept;
};

base::Result<SeenFiles> look(const Guard::Wanted& wanted) {
  return look_for_obstacles(wanted.process, {wanted.left_out.begin(), wanted.left_out.end()}, {wanted.captor});
}

DescriptorChoices choices_of(const Guard::Wanted& wanted) {
  DescriptorChoices choices;
  choices.left_out.insert(wanted.left_out.begin(), wanted.left_out.end());
  choices.hash_files = wanted.hash_files;
  return choices;
}

base::Status prove(const ProcessImage& image, const Guard::Wanted& wanted, HeldImages& held_images) {
  PERDURE_TRY(auto facts, facts_where_captured(image));
  if (wanted.proof == Guard::Wanted::at_once) return prove_resumable(image, facts);
  held_images.facts.push_back(std::move(facts));
  return {};
}

Told hold_here(const Guard::Wanted& wanted, Hands& hands) {
  DescriptorChoices choices = choices_of(wanted);
  PERDURE_TRY(const SeenFiles seen, look(wanted));
  choices.look.before = &seen;
  hands.flags.reset();
  if (wanted.flags_before) hands.flags = look_at_flags(wanted.process);
  PERDURE_TRY(auto seized, Tracee::seize(wanted.process));
  hands.tracee.emplace(std::move(seized));
  Guard::Held held;
  held.seized_ns = os::monotonic_ns();
  // Between the look at it and this moment it may have made children, which would be missed where it is brought back.
  PERDURE_TRY(const auto now, read_facts_again(wanted.process));
  PERDURE_CHECK(refused(wanted.process, obstacles_of_facts(now, {wanted.captor})));
  FollowedPages pages;
  if (hands.tracking) pages = hands.tracking->look(wanted.process);
  PERDURE_TRY(held.read,
              read_image(*hands.tracee, choices,
                         {.flags = hands.flags ? &*hands.flags : nullptr, .pages = &pages, .places = wanted.places}));
  PERDURE_CHECK(prove(held.read.image, wanted, hands.held_images));
  held.unwritten = std::move(pages.unwritten);
  return held;
}

ToldOfTree hold_tree_here(const Guard::Wanted& wanted, Hands& hands) {
  const DescriptorChoices choices = choices_of(wanted);
  PERDURE_TRY(const SeenTree seen, look_at_tree(wanted.process, choices.left_out));
  PERDURE_TRY(auto tree, HeldTree::seize(wanted.process));
  hands.tree.emplace(std::move(tree));
  Guard::HeldWithAll held;
  held.seized_ns = os::monotonic_ns();
  PERDURE_TRY(held.read, hands.tree->read(choices, seen, wanted.places));
  for (const ProcessImage& image : held.read.tree.processes) PERDURE_CHECK(prove(image, wanted, hands.held_images));
  return held;
}

ToldOfPages follow_here(const Guard::Wanted& wanted, Hands& hands) {
  PERDURE_CHECK(look(wanted));
  Guard::Followed followed;
  const std::uint64_t begun = os::monotonic_ns();
  {
    PERDURE_TRY(auto tracee, Tracee::seize(wanted.process));
    PERDURE_TRY(auto tracking, DirtyTracking::begin(tracee));
    hands.tracking.emplace(std::move(tracking));
    PERDURE_CHECK(tracee.release());
  }
  followed.stopped_s = static_cast<double>(os::monotonic_ns() - begun) * 1e-9;
  PERDURE_TRY(followed.written, hands.tracking->take_written());
  return followed;
}

ToldOfPages written_here(Hands& hands) {
  if (!hands.tracking) return base::fail(PERDURE_INVALID_ARGUMENT, "guard", "nothing is followed");
  Guard::Followed followed;
  PERDURE_TRY(followed.written, hands.tracking->take_written());
  return followed;
}

Released release_here(Hands& hands) {
  if (hands.tree) {
    const auto released = hands.tree->release();
    hands.tree.reset();
    PERDURE_CHECK(released);
    return std::uint8_t{1};
  }
  if (!hands.tracee) return base::fail(PERDURE_INVALID_ARGUMENT, "guard", "nothing is held");
  const auto released = hands.tracee->release();
  const pid_t process = hands.tracee->process();
  hands.tracee.reset();
  if (hands.tracking) hands.tracking->unprotect();
  hands.tracking.reset();
  PERDURE_CHECK(released);
  const auto flags = std::exchange(hands.flags, {});
  return std::uint8_t{!flags || !flags->contradicts(look_at_flags(process))};
}

Released prove_here(const HeldImages& held_images) {
  if (held_images.images.empty()) return base::fail(PERDURE_INVALID_ARGUMENT, "guard", "nothing is left to be proved");
  for (std::size_t i = 0; i < held_images.images.size(); ++i)
    PERDURE_CHECK(prove_resumable(held_images.images[i], held_images.facts[i]));
  return std::uint8_t{1};
}

Released keep_here(int socket, const Guard::Wanted& wanted, Kept& kept) {
  std::array<int, 2> fds{};
  if (!receive_descriptors(socket, fds)) return base::fail(PERDURE_INTERNAL, "guard", "no descriptors came");
  kept.process = wanted.process;
  kept.pidfd = os::Fd(fds[0]);
  kept.faults.emplace_back(fds[1]);
  return std::uint8_t{1};
}

Released forget_here(Kept& kept) {
  kept.faults.clear();
  return std::uint8_t{1};
}

/// An answer: events as they are, then the descriptor of each fork.
using ToldOfEvents = base::Result<std::vector<std::byte>>;

bool tell_events(int socket, std::size_t number, Kept& kept) {
  if (number >= kept.faults.size())
    return send_message(socket, ToldOfEvents(base::fail(PERDURE_INVALID_ARGUMENT, "guard", "nothing is kept")));
  const auto events = read_events(kept.faults[number].get());
  const std::size_t before = kept.faults.size();
  for (const uffd_msg& event : events)
    if (event.event == UFFD_EVENT_FORK) kept.faults.emplace_back(static_cast<int>(event.arg.fork.ufd));
  const auto bytes = std::as_bytes(std::span(events));
  if (!send_message(socket, ToldOfEvents(std::vector<std::byte>(bytes.begin(), bytes.end())))) return false;
  for (std::size_t made = before; made < kept.faults.size(); ++made)
    if (!send_descriptors(socket, {kept.faults[made].get(), kept.pidfd.get()})) return false;
  return true;
}

/// False: nobody is left to answer to.
bool answer(int socket, const Guard::Asked& asked, Hands& hands) {
  const WaitLimit limit(kLongestWait_ns);
  if (asked.what == Guard::Asked::events)
    return tell_events(socket, static_cast<std::size_t>(asked.wanted.process), hands.kept);
  if (asked.what == Guard::Asked::keep) return send_message(socket, keep_here(socket, asked.wanted, hands.kept));
  if (asked.what == Guard::Asked::forget) return send_message(socket, forget_here(hands.kept));
  if (asked.what == Guard::Asked::release) return send_message(socket, release_here(hands));
  if (asked.what == Guard::Asked::prove) {
    const HeldImages held_images = std::exchange(hands.held_images, {});
    return send_message(socket, base::caught("guard", [&] { return prove_here(held_images); }));
  }
  hands.held_images = {};
  const bool later = asked.wanted.proof == Guard::Wanted::afterwards;
  if (asked.what == Guard::Asked::hold) {
    Told told = base::caught("guard", [&] { return hold_here(asked.wanted, hands); });
    if (!told) {
      hands.tracee.reset();
      hands.tracking.reset();
      hands.flags.reset();
    }
    const bool is_told = send_message(socket, told);
    if (told && later) hands.held_images.images.push_back(std::move(told->read.image));
    return is_told;
  }
  if (asked.what == Guard::Asked::hold_tree) {
    ToldOfTree told = base::caught("guard", [&] { return hold_tree_here(asked.wanted, hands); });
    if (!told) hands.tree.reset();
    const bool is_told = send_message(socket, told);
    if (told && later) hands.held_images.images = std::move(told->read.tree.processes);
    return is_told;
  }
  const bool begins = asked.what == Guard::Asked::follow;
  const ToldOfPages told =
      base::caught("guard", [&] { return begins ? follow_here(asked.wanted, hands) : written_here(hands); });
  if (!told) hands.tracking.reset();
  return send_message(socket, told);
}

enum class Served { all, anew };

/// What could not be held may be traced all the same, where it ended, changed or did not stop meanwhile. The system
/// lets go of everything when the thread that traces ends: after a failure another one goes on. (ptrace(2))
Served serve(int socket) {
  Hands hands;
  for (;;) {
    const auto asked = receive_message<Guard::Asked>(socket);
    if (!asked || !answer(socket, *asked, hands)) return Served::all;
    const bool holds = hands.tracee || hands.tree || hands.tracking || !hands.kept.faults.empty();
    if (!holds && asked->what != Guard::Asked::release) return Served::anew;
  }
}

[[noreturn]] void be_the_guard(int socket) {
  ::setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE}) ::signal(signal, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  ::prctl(PR_SET_NAME, "perdure-guard");
  (void)os::install_faults_from_environment();  // a mistake in them is told where a handle is opened
  if (socket != 3) ::dup3(socket, 3, O_CLOEXEC);
  ::close_range(4, ~0U, 0);
  for (Served served = Served::anew; served == Served::anew;) {
    const auto aside = os::run_aside("hold a process", [&] { served = serve(3); });
    if (!aside) base::attempt([&] { served = serve(3); });  // no thread to be had
    if (!aside) break;
  }
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

template <class Answer>
base::Result<Answer> Guard::ask(const Asked& asked) {
  if (asked.wanted.process == ::getpid())
    return base::fail(PERDURE_INVALID_ARGUMENT, "process " + std::to_string(asked.wanted.process),
                      "a process cannot capture itself like this");
  if (!send_message(socket_.get(), asked)) PERDURE_CHECK(lost());
  PERDURE_TRY(auto told, receive_message<base::Result<Answer>>(socket_.get()));
  return told;
}

base::Result<Guard::Held> Guard::hold(const Wanted& wanted) { return ask<Held>({Asked::hold, wanted}); }

base::Result<Guard::HeldWithAll> Guard::hold_tree(const Wanted& wanted) {
  return ask<HeldWithAll>({Asked::hold_tree, wanted});
}

base::Result<Guard::Followed> Guard::follow(const Wanted& wanted) { return ask<Followed>({Asked::follow, wanted}); }

base::Result<Guard::Followed> Guard::written() { return ask<Followed>({Asked::written, {}}); }

base::Status Guard::keep(pid_t process, int pidfd, int faults) {
  Asked asked{Asked::keep, {}};
  asked.wanted.process = process;
  if (!send_message(socket_.get(), asked) || !send_descriptors(socket_.get(), {pidfd, faults})) return lost();
  PERDURE_TRY(auto told, receive_message<Released>(socket_.get()));
  PERDURE_CHECK(told);
  return {};
}

base::Result<Guard::Events> Guard::take_events(std::size_t number) {
  Asked asked{Asked::events, {}};
  asked.wanted.process = static_cast<std::int32_t>(number);
  if (!send_message(socket_.get(), asked)) PERDURE_CHECK(lost());
  PERDURE_TRY(const auto told, receive_message<ToldOfEvents>(socket_.get()));
  PERDURE_TRY(const auto bytes, told);
  Events events;
  events.all.resize(bytes.size() / sizeof(uffd_msg));
  if (!events.all.empty()) std::memcpy(events.all.data(), bytes.data(), events.all.size() * sizeof(uffd_msg));
  for (const uffd_msg& event : events.all) {
    if (event.event != UFFD_EVENT_FORK) continue;
    std::array<int, 2> fds{};
    if (!receive_descriptors(socket_.get(), fds)) PERDURE_CHECK(lost());
    const os::Fd process(fds[1]);
    events.made.emplace_back(fds[0]);
  }
  return events;
}

base::Status Guard::forget() {
  PERDURE_CHECK(ask<std::uint8_t>({Asked::forget, {}}));
  return {};
}

base::Status Guard::prove() {
  PERDURE_CHECK(ask<std::uint8_t>({Asked::prove, {}}));
  return {};
}

base::Result<bool> Guard::release() {
  PERDURE_TRY(const std::uint8_t same, ask<std::uint8_t>({Asked::release, {}}));
  return same != 0;
}

}  // namespace perdure::process
