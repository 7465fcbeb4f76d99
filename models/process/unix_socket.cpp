#include "process/unix_socket.hpp"

#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <linux/unix_diag.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "os/file.hpp"

// rtnetlink.h has the macros that walk through attributes
#include <linux/rtnetlink.h>

namespace perdure::process {
namespace {

int integer_option(int socket, int option) {
  int value = 0;
  socklen_t length = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, option, &value, &length) == 0 ? value : 0;
}

std::uint64_t time_option(int socket, int option) {
  timeval value{};
  socklen_t length = sizeof value;
  if (::getsockopt(socket, SOL_SOCKET, option, &value, &length) != 0) return 0;
  return static_cast<std::uint64_t>(value.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(value.tv_usec);
}

struct Question {
  nlmsghdr header{};
  unix_diag_req request{};
};

Question question_about(std::uint64_t inode) {
  Question question;
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.request.sdiag_family = AF_UNIX;
  question.request.udiag_states = ~0U;
  question.request.udiag_ino = static_cast<std::uint32_t>(inode);
  question.request.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN;
  question.request.udiag_cookie[0] = question.request.udiag_cookie[1] = ~0U;
  return question;
}

template <class Value>
Value value_of(const rtattr* attribute) {
  Value value{};
  std::memcpy(&value, RTA_DATA(attribute), std::min(sizeof value, static_cast<std::size_t>(RTA_PAYLOAD(attribute))));
  return value;
}

UnixSocket answer_in(const nlmsghdr* header) {
  UnixSocket seen;
  const auto* message = static_cast<const unix_diag_msg*>(NLMSG_DATA(header));
  seen.known = true;
  int left = static_cast<int>(header->nlmsg_len - NLMSG_LENGTH(sizeof *message));
  for (const rtattr* at = reinterpret_cast<const rtattr*>(message + 1); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
    if (at->rta_type == UNIX_DIAG_NAME) seen.named = RTA_PAYLOAD(at) > 0;
    if (at->rta_type == UNIX_DIAG_SHUTDOWN) seen.shut_down = value_of<std::uint8_t>(at);
    if (at->rta_type == UNIX_DIAG_RQLEN) {
      const auto lengths = value_of<unix_diag_rqlen>(at);
      seen.waiting = lengths.udiag_rqueue;
      seen.backlog = lengths.udiag_wqueue;
    }
    if (at->rta_type == UNIX_DIAG_PEER) {
      seen.connected = true;
      seen.peer = value_of<std::uint32_t>(at);
    }
  }
  return seen;
}

base::Error cannot_peek() { return base::errno_error(errno, "recv", "a Unix socket"); }

/// Returns nothing if there is no further message.
base::Result<std::optional<DataRun>> next_message(int socket, std::size_t room) {
  DataRun message;
  message.bytes.resize(room);
  iovec where{message.bytes.data(), room};
  msghdr header{};
  header.msg_iov = &where;
  header.msg_iovlen = 1;
  const ssize_t got = ::recvmsg(socket, &header, MSG_PEEK | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::nullopt;
  if (got < 0) return base::fail(cannot_peek());
  if ((header.msg_flags & MSG_CTRUNC) != 0 && integer_option(socket, SO_PASSCRED) == 0)
    return base::fail(PERDURE_UNSUPPORTED, "a Unix socket", "descriptors are on their way through it");
  if ((header.msg_flags & MSG_TRUNC) != 0)
    return base::fail(PERDURE_INTERNAL, "a Unix socket", "its message is larger");
  message.bytes.resize(static_cast<std::size_t>(got));
  return message;
}

/// Peeks at one message after the other; each peek moves the offset.
base::Result<std::vector<DataRun>> messages_by_offset(int socket, std::size_t room, bool ended, bool only_one) {
  std::vector<DataRun> all;
  std::uint64_t offset = 0;
  for (;;) {
    PERDURE_TRY(auto message, next_message(socket, room));
    if (!message || (message->bytes.empty() && ended)) return all;
    message->offset = offset;
    offset += message->bytes.size();
    all.push_back(std::move(*message));
    if (only_one) return all;
  }
}

}  // namespace

std::optional<SocketKind> kind_of_socket(int socket) {
  socklen_t length = sizeof(int);
  SocketKind kind;
  if (::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &kind.domain, &length) != 0) return std::nullopt;
  kind.type = integer_option(socket, SO_TYPE);
  kind.protocol = integer_option(socket, SO_PROTOCOL);
  kind.listens = integer_option(socket, SO_ACCEPTCONN) != 0;
  return kind;
}

UnixSocket look_at_socket(std::uint64_t inode) {
  const os::Fd link(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!link) return {};
  const Question question = question_about(inode);
  if (::send(link.get(), &question, sizeof question, 0) != static_cast<ssize_t>(sizeof question)) return {};
  alignas(nlmsghdr) std::array<std::byte, 8192> answer;
  const ssize_t got = ::recv(link.get(), answer.data(), answer.size(), 0);
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (got < 0 || !NLMSG_OK(header, static_cast<std::size_t>(got)) || header->nlmsg_type != SOCK_DIAG_BY_FAMILY)
    return {};
  return answer_in(header);
}

PairSocket options_of(int socket) {
  PairSocket options;
  options.type = static_cast<std::uint32_t>(integer_option(socket, SO_TYPE));
  options.send_buffer = static_cast<std::uint32_t>(integer_option(socket, SO_SNDBUF));
  options.receive_buffer = static_cast<std::uint32_t>(integer_option(socket, SO_RCVBUF));
  options.pass_credentials = integer_option(socket, SO_PASSCRED) != 0;
  options.peek_offset = integer_option(socket, SO_PEEK_OFF);
  options.send_timeout_us = time_option(socket, SO_SNDTIMEO);
  options.receive_timeout_us = time_option(socket, SO_RCVTIMEO);
  return options;
}

base::Result<std::vector<DataRun>> unread_messages(int socket, int type, bool ended) {
  int waiting = 0;
  pollfd readable{socket, POLLIN, 0};
  if (::ioctl(socket, SIOCINQ, &waiting) != 0) return base::fail(cannot_peek());
  // A pending error is gone once a call has returned it.
  if (::poll(&readable, 1, 0) <= 0 || (readable.revents & POLLERR) != 0) return std::vector<DataRun>();
  if (waiting == 0 && type != SOCK_DGRAM) return std::vector<DataRun>();
  const int before = integer_option(socket, SO_PEEK_OFF);
  const auto room = static_cast<std::size_t>(std::max(waiting, integer_option(socket, SO_RCVBUF))) + 65536;
  const auto set_offset = [&](int offset) {
    return ::setsockopt(socket, SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof offset) == 0;
  };
  const bool at_once = type == SOCK_STREAM && before < 0;  // one peek returns all of it
  if (!at_once && !set_offset(0)) return base::fail(cannot_peek());
  auto all = messages_by_offset(socket, room, ended, at_once);
  if (!at_once && !set_offset(before)) return base::fail(cannot_peek());
  if (!all) return all;
  const auto bytes = all->empty() ? 0 : all->back().offset + all->back().bytes.size();
  if (type != SOCK_DGRAM && bytes != static_cast<std::uint64_t>(waiting))
    return base::fail(PERDURE_UNSUPPORTED, "a Unix socket", "not all that waits in it can be looked at");
  return all;
}

}  // namespace perdure::process
