#pragma once
// A restore to a new process that is to run as soon as it can: what has come, what must come first, and the chunk that
// is wanted next. Used by ImageTarget, from its one thread.
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "capture/source.hpp"
#include "process/lazy_pages.hpp"
#include "process/lazy_plan.hpp"

namespace perdure::process {

class LazyResume {
 public:
  /// `runs` is called as soon as the process does.
  LazyResume(Guard& guard, std::function<void(const segment::VersionId&)> runs)
      : guard_(guard), when_it_runs_(std::move(runs)) {}

  void comes_from(const segment::VersionId& id) { offered_ = id; }
  /// Nothing has come of `bytes`, the whole capture.
  void begin_anew(std::uint64_t bytes);
  /// The record says what there is; `faults` are the new process's. Only then it may run before its pages are there.
  void know(const ProcessImage& image, std::uint64_t record_bytes, os::Fd faults);
  bool runs() const { return runs_; }
  /// When it runs: what is left of the version that it was made from. Of another one it takes nothing.
  base::Result<std::vector<capture::ChunkRange>> left() const;
  /// A byte of the capture.
  std::optional<std::uint64_t> wanted();
  void has_come(capture::ChunkRange range);
  /// Calls give(begin, bytes) for the pages that are whole by now of those that have any of `bytes`, from byte `begin`
  /// of all pages on: a chunk may end within a page, and the kernel takes whole ones only.
  base::Status join(std::uint64_t begin, base::ConstByteSpan bytes,
                    const std::function<base::Status(std::uint64_t begin, base::ConstByteSpan bytes)>& give);
  /// What must be there before is there, and other pages are not: follow() is next.
  bool may_be_followed() const;
  /// It stands still: from now on its missing pages are waited for. Some of them may be in its memory already, as
  /// zeros: whoever reads a command line, as `ps` does, leaves such a page, and so does a huge page of which a part
  /// has come. The process would never ask for them: they must come before it runs, too.
  base::Status follow(pid_t process);
  /// It is followed, and what must be there before is there.
  bool may_run() const { return pages_ && !runs_ && first_.empty(); }
  /// It runs now.
  void begun() {
    runs_ = true;
    pages_->released();
    when_it_runs_(id_);
  }
  /// Nobody is left who needs its pages.
  bool has_ended() const { return runs() && pages_->has_ended(); }
  base::Status put(std::uint64_t address, base::ConstByteSpan bytes) { return pages_->put(address, bytes); }
  base::Status end() { return pages_->end(); }

 private:
  struct Place {
    std::uint64_t address = 0, bytes = 0, begin = 0;  // of a run: where, how long, and where in the capture
  };
  /// A page of which a part has come.
  struct Torn {
    std::vector<std::byte> bytes = std::vector<std::byte>(kPageBytes);
    std::vector<capture::ChunkRange> come;  // of them
  };
  std::vector<PageRun> missing() const;
  void need_first(const PageRun& pages);

  Guard& guard_;
  std::function<void(const segment::VersionId&)> when_it_runs_;
  segment::VersionId offered_, id_;
  std::uint64_t bytes_ = 0;
  os::Fd faults_;
  std::vector<Place> places_;  // by address
  std::vector<PageRun> maps_;
  std::vector<capture::ChunkRange> first_, come_;  // what must come before it runs, and has not; what has come
  std::map<std::uint64_t, Torn> torn_;             // by where it begins among all pages
  std::unique_ptr<LazyPages> pages_;               // when it is followed
  bool runs_ = false;
};

}  // namespace perdure::process
