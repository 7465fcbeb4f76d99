#pragma once
// Makes the open files of an image again in this process. A child then moves them to their numbers.
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
  std::set<int> left_out = {};              ///< descriptors; their files become /dev/null
  std::array<int, 3> standard = {0, 1, 2};  ///< of this process; replace terminals and inherited descriptors
  bool cut_back = false;                    ///< collect files open for writing that have grown, for take_grown()
  std::optional<pid_t> process = {};        ///< the new number of the process, if it differs: for F_SETOWN
  pid_t captured = 0;                       ///< its number at the capture
};

class RestoredDescriptors {
 public:
  /// Opens files with the rights of this process, makes pipes and the like with their content, and takes locks of open
  /// files. Raises the limit of descriptors if needed. A changed file is noted, but never cut or created. On failure
  /// nothing is left.
  /// PERDURE_NOT_FOUND: a file is missing; the error has its path.
  /// PERDURE_MISMATCH: the path now is something else.
  /// PERDURE_BUSY: another process has a lock, or writes a file that is to be cut back.
  /// PERDURE_CORRUPT: files.wrong() is not empty.
  static base::Result<RestoredDescriptors> make(const OpenFiles& files, const RestoreChoices& choices = {});
  /// For several processes: `files` are those of all together. part() selects those of one process.
  static base::Result<RestoredDescriptors> make_together(const OpenFiles& files, const RestoreChoices& choices);
  /// The files of one process among those of several.
  struct Part {
    const OpenFiles* files = nullptr;                ///< of the one process
    const std::vector<std::uint32_t>* of = nullptr;  ///< for each of its open files: the index among all
    const std::vector<bool>* watches = nullptr;      ///< for each: whether this process adds the watches of an epoll
    std::vector<int> kept;  ///< descriptors of this process that stay open, ascending, above all numbers that it uses
  };
  /// For a child that begins before this object and the returned part are destroyed.
  base::Result<RestoredDescriptors> part(const Part& part) const;
  /// descriptor() returns this process's descriptor of the open file. unused() returns a number above all used ones.
  int descriptor(std::size_t file) const { return fds_[file].get(); }
  int unused() const { return unused_; }
  RestoredDescriptors(RestoredDescriptors&&) noexcept;
  RestoredDescriptors& operator=(RestoredDescriptors&&) = delete;
  /// Closes the descriptors here; a child keeps its own.
  ~RestoredDescriptors();

  /// Adds calls that give a copy of this process these descriptors and no others. They close all others, so add calls
  /// that need one before.
  void add_to(Operations& operations) const;
  /// For people: changed files and replaced descriptors.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Returns the files to cut back in the last step, when nothing else can fail. No file has been changed yet.
  GrownFiles take_grown() { return std::move(grown_); }

 private:
  RestoredDescriptors() = default;
  void watch_former(Operations& operations) const;
  void move(Operations& operations) const;
  void watch(Operations& operations) const;
  void listen(Operations& operations) const;
  void tell_owners(Operations& operations) const;
  void lock(Operations& operations) const;
  int number_of(std::size_t file) const;  // its first descriptor
  /// Returns whether the number still means the watched file.
  bool is_current(const PollItem& item) const;
  bool is_left_out(std::size_t file) const;
  /// Returns whether a resume replaces it by another file, which epoll may not be able to watch.
  bool is_replaced(std::size_t file) const;

  std::vector<Descriptor> descriptors_;
  std::vector<OpenFile> files_;  // without messages
  std::vector<os::Fd> fds_;      // of the files, with numbers above all used ones
  std::vector<std::string> notes_;
  GrownFiles grown_;
  RestoreChoices choices_;
  std::optional<rlimit> limit_;  // the limit before it was raised
  std::vector<int> kept_;
  int unused_ = 0;
};

}  // namespace perdure::process
