#include "process/file_details.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>

#include "process/kernel_ids.hpp"
#include "process/listening_socket.hpp"
#include "process/unix_socket.hpp"

namespace perdure::process {
namespace {

bool reads(const OpenFile& file) { return (file.flags & O_ACCMODE) != O_WRONLY; }
bool writes(const OpenFile& file) { return (file.flags & O_ACCMODE) != O_RDONLY; }

SignalOwner owner_of(int fd) {
  f_owner_ex is{};
  if (::fcntl(fd, F_GETOWN_EX, &is) != 0 || is.pid == 0) return {};
  SignalOwner owner;
  owner.kind = is.type == F_OWNER_TID   ? SignalOwner::Kind::thread
               : is.type == F_OWNER_PID ? SignalOwner::Kind::process
                                        : SignalOwner::Kind::group;
  owner.id = is.pid;
  owner.signal = std::max(::fcntl(fd, F_GETSIG), 0);
  return owner;
}

short ready(int fd) {
  pollfd one{fd, 0, 0};
  return ::poll(&one, 1, 0) > 0 ? one.revents : short{0};
}

/// poll() tells a reader by POLLHUP that all writers have gone, and a writer by POLLERR that all readers have.
void add_pipe(SeenFile& seen, int fd) {
  int waiting = 0;
  if (reads(seen.file) && ::ioctl(fd, FIONREAD, &waiting) == 0)
    seen.content_bytes = static_cast<std::uint64_t>(waiting);
  const bool both = reads(seen.file) && writes(seen.file);
  seen.other_end_closed = !both && (ready(fd) & (reads(seen.file) ? POLLHUP : POLLERR)) != 0;
}

std::string name_of(const SocketKind& kind) {
  switch (kind.domain) {
    case AF_UNIX:
      return "a Unix socket";
    case AF_INET:
    case AF_INET6:
      return kind.type == SOCK_STREAM ? "a TCP socket" : kind.type == SOCK_DGRAM ? "a UDP socket" : "a raw socket";
    case AF_NETLINK:
      return "a netlink socket";
    case AF_PACKET:
      return "a packet socket";
    default:
      return "a socket of address family " + std::to_string(kind.domain);
  }
}

void add_listener(SeenFile& seen, int fd) {
  SeenListener listener = look_at_listener(fd, seen.inode);
  if (listener.connections_wait) seen.passing = "connections wait in it, which nobody has accepted yet";
  seen.socket = listener.unkept;
  seen.known = listener.unkept.empty();
  if (seen.known)
    seen.file.what = std::move(listener.socket);
  else
    seen.file.what = LeftOut{seen.socket};
}

void add_socket(SeenFile& seen, int fd) {
  const auto kind = kind_of_socket(fd);
  if (kind && kind->listens) return add_listener(seen, fd);
  if (!kind || kind->domain != AF_UNIX) {
    seen.known = false;
    seen.socket = kind ? name_of(*kind) : "a socket";
    seen.file.what = LeftOut{seen.socket};
    return;
  }
  const UnixSocket unix_socket = look_at_socket(seen.inode);
  PairSocket pair = options_of(fd);
  pair.shut_down = unix_socket.shut_down;
  if (!unix_socket.known)
    seen.socket = "a Unix socket of which the kernel tells nothing (unix_diag)";
  else if (unix_socket.named)
    seen.socket = "a Unix socket with a name";
  else if (!unix_socket.connected)
    seen.socket = "a Unix socket that is connected with none";
  seen.peer = unix_socket.peer;
  seen.other_end_closed = unix_socket.connected && unix_socket.peer == 0;
  seen.error_waits = (ready(fd) & POLLERR) != 0;
  seen.content_bytes = unix_socket.waiting;
  seen.file.what = pair;
}

}  // namespace

base::Status add_details(SeenFile& seen, const FileDuplicates& duplicates) {
  const bool socket = std::holds_alternative<PairSocket>(seen.file.what);
  if (!seen.known || (seen.file.flags & O_PATH) != 0) return {};
  PERDURE_TRY(const os::Fd duplicate, duplicates.duplicate(seen.numbers.front()));
  if (!duplicate) return {};  // it was closed meanwhile
  seen.file.owner = owner_of(duplicate.get());
  const bool pipe = std::holds_alternative<PipeEnd>(seen.file.what) || std::holds_alternative<FifoEnd>(seen.file.what);
  if (pipe) add_pipe(seen, duplicate.get());
  if (socket) add_socket(seen, duplicate.get());
  return {};
}

void find_other_ends(SeenFiles& seen) {
  struct Ends {
    bool read = false, write = false;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, Ends> pipes;
  std::map<std::uint64_t, std::uint32_t> sockets;
  const auto is_pipe = [](const SeenFile& one) {
    return std::holds_alternative<PipeEnd>(one.file.what) || std::holds_alternative<FifoEnd>(one.file.what);
  };
  for (std::uint32_t i = 0; i < seen.files.size(); ++i) {
    const auto& one = seen.files[i];
    auto* ends = is_pipe(one) ? &pipes[{one.device, one.inode}] : nullptr;
    if (ends != nullptr && reads(one.file)) ends->read = true;
    if (ends != nullptr && writes(one.file)) ends->write = true;
    if (std::holds_alternative<PairSocket>(one.file.what)) sockets[one.inode] = i;
  }
  for (auto& one : seen.files) {
    if (is_pipe(one)) {
      const auto ends = pipes[{one.device, one.inode}];
      one.other_end_missing = !(ends.read && ends.write) && !one.other_end_closed;
    }
    auto* pair = std::get_if<PairSocket>(&one.file.what);
    if (pair == nullptr || !one.socket.empty()) continue;
    const auto peer = sockets.find(one.peer);
    if (peer != sockets.end()) pair->peer = peer->second;
    one.other_end_missing = peer == sockets.end() && !one.other_end_closed;
  }
}

namespace {

/// Returns the file that the epoll watches by this number: the number's present file, or an earlier one.
std::optional<std::uint32_t> watched_by(const SeenFiles& seen, int poll, const PollItem& item, std::uint32_t nth) {
  for (const auto& descriptor : seen.descriptors)
    if (descriptor.number == item.number && watches(seen.process, poll, item.number, nth, item.number))
      return descriptor.file;
  for (std::uint32_t i = 0; i < seen.files.size(); ++i)
    if (watches(seen.process, poll, item.number, nth, seen.files[i].numbers.front())) return i;
  return std::nullopt;
}

}  // namespace

void find_watched(SeenFiles& seen) {
  for (auto& one : seen.files) {
    auto* set = std::get_if<PollSet>(&one.file.what);
    if (set == nullptr) continue;
    std::map<std::int32_t, std::uint32_t> of_number;
    std::vector<PollItem> items;
    for (PollItem item : set->items) {
      const auto file = watched_by(seen, one.numbers.front(), item, of_number[item.number]++);
      one.watches_unseen = one.watches_unseen || !file;
      if (!file) continue;
      item.file = *file;
      items.push_back(item);
    }
    std::sort(items.begin(), items.end(), [](const PollItem& a, const PollItem& b) {
      return std::pair(a.number, a.file) < std::pair(b.number, b.file);
    });
    set->items = std::move(items);
  }
}

}  // namespace perdure::process
