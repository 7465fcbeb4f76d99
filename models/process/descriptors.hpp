#pragma once
// An image stores the descriptors of a process and their open files in this form.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/fields.hpp"
#include "base/hash.hpp"

namespace perdure::process {

/// An entry of the descriptor table. Duplicates (by dup and dup2) refer to the same open file, and share its offset and
/// flags.
struct Descriptor {
  std::int32_t number = 0;
  bool close_on_exec = false;
  std::uint32_t file = 0;  ///< index of OpenFiles::files
  PERDURE_FIELDS(number, close_on_exec, file)
};

/// Bytes at an offset of a file. For a pipe or socket: one message, or a part of a stream.
struct DataRun {
  std::uint64_t offset = 0;
  std::vector<std::byte> bytes;
  PERDURE_FIELDS(offset, bytes)
};

/// Content that is stored in the image: of a pipe, FIFO, unlinked file or memfd. Several open files may share one.
struct FileContent {
  std::uint64_t size = 0;         ///< of a file, with its holes; 0 for a pipe
  std::uint32_t permissions = 0;  ///< of a file
  std::uint32_t seals = 0;        ///< of a memfd
  std::uint32_t capacity = 0;     ///< of a pipe
  std::vector<DataRun> runs;      ///< ascending; the bytes between them are zero
  PERDURE_FIELDS(size, permissions, seals, capacity, runs)
  std::uint64_t bytes() const;  ///< in all runs
  std::string wrong() const;
};

/// A regular file, directory or character device that has a name.
struct NamedFile {
  std::string path;
  std::uint32_t mode = 0;  ///< kind and permissions (st_mode)
  std::uint64_t device = 0, inode = 0;
  std::uint64_t special_device = 0;  ///< the device number of a character device (st_rdev)
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::optional<base::Hash128> hash;  ///< of the first `size` bytes of a regular file, if the user asked for it
  PERDURE_FIELDS(path, mode, device, inode, special_device, size, modified_ns, hash)
  std::string wrong() const;
};
/// `content` is an index of OpenFiles::contents.
struct UnlinkedFile {
  std::string path;  ///< the path before it was unlinked
  std::uint32_t content = 0;
  PERDURE_FIELDS(path, content)
};
struct MemoryFile {
  std::string name;
  std::uint32_t content = 0;
  PERDURE_FIELDS(name, content)
};
/// The flags of the open file tell which end it is: O_RDONLY, O_WRONLY, or O_RDWR for both.
struct PipeEnd {
  std::uint32_t content = 0;
  PERDURE_FIELDS(content)
};
struct FifoEnd {
  NamedFile file;
  std::uint32_t content = 0;
  PERDURE_FIELDS(file, content)
};
struct Terminal {
  std::string path;
  PERDURE_FIELDS(path)
};
/// One of the first three descriptors, if it leads to another process. The resuming process gives its own instead.
struct Inherited {
  std::string was;
  PERDURE_FIELDS(was)
};
/// The user left it out of the capture. It becomes /dev/null.
struct LeftOut {
  std::string was;
  PERDURE_FIELDS(was)
};
/// An eventfd.
struct EventCount {
  std::uint64_t count = 0;
  bool semaphore = false;
  PERDURE_FIELDS(count, semaphore)
};
/// A timerfd. Times are in ns; it is disarmed if `remaining_ns` is 0.
struct TimerFile {
  std::int32_t clock = 0;
  std::uint32_t set_flags = 0;  ///< TFD_TIMER_ABSTIME, TFD_TIMER_CANCEL_ON_SET
  std::uint64_t remaining_ns = 0, interval_ns = 0;
  std::uint64_t ticks = 0;  ///< expirations that the program has not read yet
  PERDURE_FIELDS(clock, set_flags, remaining_ns, interval_ns, ticks)
  std::string wrong() const;
  /// It has expired, and the kernel restarts it when the program reads it. So nothing remains, although it is armed.
  bool waits_to_be_read() const { return ticks != 0 && interval_ns != 0 && remaining_ns == 0; }
};
/// A signalfd; bit n - 1 stands for signal n.
struct SignalFile {
  std::uint64_t signals = 0;
  PERDURE_FIELDS(signals)
};
/// An entry of an epoll set. `number` is the descriptor that the program added. It may mean another file now, or be
/// closed.
struct PollItem {
  std::int32_t number = 0;
  std::uint32_t file = 0;
  std::uint32_t events = 0;
  std::uint64_t data = 0;
  PERDURE_FIELDS(number, file, events, data)
};
/// An epoll descriptor.
struct PollSet {
  std::vector<PollItem> items;
  PERDURE_FIELDS(items)
};
/// A socket of an unnamed Unix pair.
struct PairSocket {
  std::uint32_t type = 0;             ///< SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET
  std::optional<std::uint32_t> peer;  ///< index of OpenFiles::files; none if the peer is closed
  std::uint32_t shut_down = 0;        ///< bits: 1 for receiving, 2 for sending
  std::uint32_t send_buffer = 0, receive_buffer = 0;
  bool pass_credentials = false;
  std::int32_t peek_offset = -1;
  std::uint64_t send_timeout_us = 0, receive_timeout_us = 0;
  std::vector<DataRun> unread;
  PERDURE_FIELDS(type, peer, shut_down, send_buffer, receive_buffer, pass_credentials, peek_offset, send_timeout_us,
                 receive_timeout_us, unread)
  std::string wrong() const;
};

/// An option with its value for setsockopt.
struct SocketOption {
  std::int32_t level = 0, name = 0, value = 0;
  PERDURE_FIELDS(level, name, value)
};
/// A listening TCP or Unix socket in which no connection waits.
struct ListeningSocket {
  std::uint32_t domain = 0, type = 0, protocol = 0;
  std::vector<std::byte> address;  ///< as bind() takes it
  std::uint32_t backlog = 0;
  std::uint32_t permissions = 0;      ///< of the socket's name in a file system
  std::vector<SocketOption> options;  ///< those that are not 0
  PERDURE_FIELDS(domain, type, protocol, address, backlog, permissions, options)
  std::string wrong() const;
};

/// The thread, process or group that is told when the file is ready (F_SETOWN), and the signal (F_SETSIG; 0: SIGIO).
struct SignalOwner {
  enum class Kind : std::uint8_t { nobody, thread, process, group };
  friend constexpr Kind greatest(Kind) { return Kind::group; }
  Kind kind = Kind::nobody;
  std::int32_t id = 0;
  std::int32_t signal = 0;
  PERDURE_FIELDS(kind, id, signal)
  std::string wrong() const;
};

struct FileLock {
  enum class Kind : std::uint8_t { process, open_file, whole };  ///< F_SETLK, F_OFD_SETLK, flock
  friend constexpr Kind greatest(Kind) { return Kind::whole; }
  Kind kind = Kind::process;
  bool exclusive = false;
  std::uint64_t begin = 0, bytes = 0;  ///< bytes 0: to the end of the file, also when it grows
  PERDURE_FIELDS(kind, exclusive, begin, bytes)
};

struct OpenFile {
  using What = std::variant<NamedFile, UnlinkedFile, MemoryFile, PipeEnd, FifoEnd, Terminal, Inherited, LeftOut,
                            EventCount, TimerFile, SignalFile, PollSet, PairSocket, ListeningSocket>;
  What what;
  std::uint32_t flags = 0;  ///< O_*, as in fdinfo, without O_CLOEXEC
  std::uint64_t offset = 0;
  SignalOwner owner;
  std::vector<FileLock> locks;  ///< locks of the process are listed at the first of its open files with that inode
  PERDURE_FIELDS(what, flags, offset, owner, locks)
  /// Returns whether a resume replaces this file by a terminal, /dev/null or a descriptor of the resuming process.
  bool is_replaced() const;
  std::string wrong() const;
};

/// The open files of a process. wrong() says what is invalid in data from outside, and the decoder refuses that.
struct OpenFiles {
  static constexpr std::int32_t kGreatestNumber = (1 << 20) - 1;
  static constexpr std::uint64_t kMostContentBytes = std::uint64_t{1} << 30;  ///< of all contents and messages together
  std::vector<Descriptor> descriptors;                                        ///< ascending
  std::vector<OpenFile> files;
  std::vector<FileContent> contents;
  PERDURE_FIELDS(descriptors, files, contents)
  std::string wrong() const;
};

}  // namespace perdure::process
