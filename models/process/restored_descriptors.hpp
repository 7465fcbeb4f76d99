#pragma once
// The open files of an image, made again in this process, for a child that takes them to their numbers.
#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "os/file.hpp"
#include "process/descriptors.hpp"
#include "process/grown_files.hpp"
#include "process/operations.hpp"

namespace perdure::process {

struct RestoreChoices {
  std::set<int> left_out = {};              ///< files with one of these become /dev/null
  std::array<int, 3> standard = {0, 1, 2};  ///< of this process, in the place of terminals and inherited ones
  bool cut_back = false;                    ///< grown() is to have files open for writing that have grown
  std::optional<pid_t> process = {};        ///< its number where it is not the one it had: for F_SETOWN
  pid_t captured = 0;                       ///< the number it had
};

class RestoredDescriptors {
 public:
  /// Opens files by the rights of this process, makes pipes and the like with what they held, and takes locks of open
  /// files. Raises the limit of descriptors where there are too few. A file that changed is noted, never cut or made;
  /// PERDURE_NOT_FOUND with its path: it is not there any more; PERDURE_MISMATCH: its name has something else by
  /// now; PERDURE_BUSY: another process has a lock, or writes a file that is to be cut back; PERDURE_CORRUPT: what
  /// files.wrong() says. Then nothing is left.
  static base::Result<RestoredDescriptors> make(const OpenFiles& files, const RestoreChoices& choices = {});
  /// Of several processes: `files` are those of all, and no process has all of them. Those of one are a part of it.
  static base::Result<RestoredDescriptors> make_together(const OpenFiles& files, const RestoreChoices& choices);
  /// Part of those of several processes.
  struct Part {
    const OpenFiles* files = nullptr;                ///< of the one
    const std::vector<std::uint32_t>* of = nullptr;  ///< of each of its open files: the index among those of all
    const std::vector<bool>* watches = nullptr;  ///< of each: it is this one that has an epoll watch what it watches
    std::vector<int> kept;  ///< descriptors of this process that stay open, ascending and above all that it uses
  };
  /// For a child that begins before this, and what it is part of, are destroyed.
  base::Result<RestoredDescriptors> part(const Part& part) const;
  /// A descriptor of this process for the open file, and the least number that no process uses.
  int descriptor(std::size_t file) const { return fds_[file].get(); }
  int unused() const { return unused_; }
  RestoredDescriptors(RestoredDescriptors&&) noexcept;
  RestoredDescriptors& operator=(RestoredDescriptors&&) = delete;
  /// Closes what is open here; a child keeps what it has.
  ~RestoredDescriptors();

  /// What a copy of this process does to have these descriptors, and no others. All of its own are closed: calls come
  /// last that need one.
  void add_to(Operations& operations) const;
  /// For people: files that changed, what was given in the place of what.
  const std::vector<std::string>& notes() const { return notes_; }
  /// What is to be cut back when nothing can fail any more but the last step. Nothing has been changed.
  GrownFiles take_grown() { return std::move(grown_); }

 private:
  RestoredDescriptors() = default;
  void watch_former(Operations& operations) const;
  void move(Operations& operations) const;
  void watch(Operations& operations) const;
  void listen(Operations& operations) const;
  void tell_owners(Operations& operations) const;
  void lock(Operations& operations) const;
  int number_of(std::size_t file) const;  // the first
  /// Its number means its file.
  bool is_current(const PollItem& item) const;
  bool is_left_out(std::size_t file) const;
  /// It is another one than it was, which an epoll may not be able to watch.
  bool is_replaced(std::size_t file) const;

  std::vector<Descriptor> descriptors_;
  std::vector<OpenFile> files_;  // without messages
  std::vector<os::Fd> fds_;      // of the files, by numbers above all that are used
  std::vector<std::string> notes_;
  GrownFiles grown_;
  RestoreChoices choices_;
  std::optional<rlimit> limit_;  // that there was before it was raised
  std::vector<int> kept_;
  int unused_ = 0;
};

}  // namespace perdure::process
