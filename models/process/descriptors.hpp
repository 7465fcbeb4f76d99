#pragma once
// The descriptors of a process, and the open files that they mean, as an image keeps them.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/fields.hpp"
#include "base/hash.hpp"

namespace perdure::process {

/// A number of the process's table. Duplicates (dup, and what dup2 made) mean the same open file: offset and flags are
/// one for all of them.
struct Descriptor {
  std::int32_t number = 0;
  bool close_on_exec = false;
  std::uint32_t file = 0;  ///< index of OpenFiles::files
  PERDURE_FIELDS(number, close_on_exec, file)
};

/// Bytes at an offset of a file; of pipes and sockets a message, or what may be read in any pieces.
struct DataRun {
  std::uint64_t offset = 0;
  std::vector<std::byte> bytes;
  PERDURE_FIELDS(offset, bytes)
};

/// What is carried along: of a pipe or FIFO, of an unlinked file, of a file in memory (memfd). Open files share one.
struct FileContent {
  std::uint64_t size = 0;         ///< of a file, with its holes; 0 of a pipe
  std::uint32_t permissions = 0;  ///< of a file
  std::uint32_t seals = 0;        ///< of a file in memory
  std::uint32_t capacity = 0;     ///< of a pipe
  std::vector<DataRun> runs;      ///< ascending; what lies between is zero
  PERDURE_FIELDS(size, permissions, seals, capacity, runs)
  std::uint64_t bytes() const;  ///< of all runs
  std::string wrong() const;
};

/// A regular file, directory, or character device that has its name.
struct NamedFile {
  std::string path;
  std::uint32_t mode = 0;  ///< kind and permissions (st_mode)
  std::uint64_t device = 0, inode = 0;
  std::uint64_t special_device = 0;  ///< what a character device is (st_rdev)
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::optional<base::Hash128> hash;  ///< of the first `size` bytes of a regular file, where it was asked for
  PERDURE_FIELDS(path, mode, device, inode, special_device, size, modified_ns, hash)
  std::string wrong() const;
};
/// `content`: index of OpenFiles::contents.
struct UnlinkedFile {
  std::string path;  ///< that it had
  std::uint32_t content = 0;
  PERDURE_FIELDS(path, content)
};
struct MemoryFile {
  std::string name;
  std::uint32_t content = 0;
  PERDURE_FIELDS(name, content)
};
/// Which end it is the flags say (O_RDONLY, O_WRONLY, or O_RDWR: both).
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
/// One of the first three descriptors that leads to another process: whoever resumes gives its own.
struct Inherited {
  std::string was;
  PERDURE_FIELDS(was)
};
/// Left out on request: it becomes /dev/null.
struct LeftOut {
  std::string was;
  PERDURE_FIELDS(was)
};
/// eventfd
struct EventCount {
  std::uint64_t count = 0;
  bool semaphore = false;
  PERDURE_FIELDS(count, semaphore)
};
/// timerfd. Times in ns; `remaining` 0: disarmed.
struct TimerFile {
  std::int32_t clock = 0;
  std::uint32_t set_flags = 0;  ///< TFD_TIMER_ABSTIME, TFD_TIMER_CANCEL_ON_SET
  std::uint64_t remaining_ns = 0, interval_ns = 0;
  std::uint64_t ticks = 0;  ///< that nobody has read
  PERDURE_FIELDS(clock, set_flags, remaining_ns, interval_ns, ticks)
  std::string wrong() const;
  /// It has expired, and the kernel starts it again when that is read: nothing remains, and it is not disarmed.
  bool waits_to_be_read() const { return ticks != 0 && interval_ns != 0 && remaining_ns == 0; }
};
/// signalfd; bit n - 1 for signal n
struct SignalFile {
  std::uint64_t signals = 0;
  PERDURE_FIELDS(signals)
};
/// One that an epoll watches: by this number it was added, which may mean another file by now, or none.
struct PollItem {
  std::int32_t number = 0;
  std::uint32_t file = 0;
  std::uint32_t events = 0;
  std::uint64_t data = 0;
  PERDURE_FIELDS(number, file, events, data)
};
/// epoll
struct PollSet {
  std::vector<PollItem> items;
  PERDURE_FIELDS(items)
};
/// One of a pair of Unix sockets without names.
struct PairSocket {
  std::uint32_t type = 0;             ///< SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET
  std::optional<std::uint32_t> peer;  ///< index of OpenFiles::files; nothing: it was closed
  std::uint32_t shut_down = 0;        ///< 1: for receiving, 2: for sending
  std::uint32_t send_buffer = 0, receive_buffer = 0;
  bool pass_credentials = false;
  std::int32_t peek_offset = -1;
  std::uint64_t send_timeout_us = 0, receive_timeout_us = 0;
  std::vector<DataRun> unread;
  PERDURE_FIELDS(type, peer, shut_down, send_buffer, receive_buffer, pass_credentials, peek_offset, send_timeout_us,
                 receive_timeout_us, unread)
  std::string wrong() const;
};

/// As setsockopt takes it.
struct SocketOption {
  std::int32_t level = 0, name = 0, value = 0;
  PERDURE_FIELDS(level, name, value)
};
/// One that listens, of TCP or Unix, without a connection that waits.
struct ListeningSocket {
  std::uint32_t domain = 0, type = 0, protocol = 0;
  std::vector<std::byte> address;  ///< as bind takes it
  std::uint32_t backlog = 0;
  std::uint32_t permissions = 0;      ///< of its name in a file system
  std::vector<SocketOption> options;  ///< that are not 0
  PERDURE_FIELDS(domain, type, protocol, address, backlog, permissions, options)
  std::string wrong() const;
};

/// Who is told when the file is ready (F_SETOWN), and by which signal (F_SETSIG; 0: SIGIO).
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
  std::uint64_t begin = 0, bytes = 0;  ///< bytes 0: to the end, however far that is
  PERDURE_FIELDS(kind, exclusive, begin, bytes)
};

struct OpenFile {
  using What = std::variant<NamedFile, UnlinkedFile, MemoryFile, PipeEnd, FifoEnd, Terminal, Inherited, LeftOut,
                            EventCount, TimerFile, SignalFile, PollSet, PairSocket, ListeningSocket>;
  What what;
  std::uint32_t flags = 0;  ///< O_*, as in fdinfo, without O_CLOEXEC
  std::uint64_t offset = 0;
  SignalOwner owner;
  std::vector<FileLock> locks;  ///< those of the process's are at the first of its open files of that inode
  PERDURE_FIELDS(what, flags, offset, owner, locks)
  /// Whoever resumes it puts another one in its place: a terminal, /dev/null, or its own.
  bool is_replaced() const;
  std::string wrong() const;
};

/// All of a process. What is wrong with one from outside `wrong` says: it is refused by whoever decodes it.
struct OpenFiles {
  static constexpr std::int32_t kGreatestNumber = (1 << 20) - 1;
  static constexpr std::uint64_t kMostContentBytes = std::uint64_t{1} << 30;  ///< of all contents and messages
  std::vector<Descriptor> descriptors;                                        ///< ascending
  std::vector<OpenFile> files;
  std::vector<FileContent> contents;
  PERDURE_FIELDS(descriptors, files, contents)
  std::string wrong() const;
};

}  // namespace perdure::process
