#pragma once
// Keeps track of a lazy restore: which bytes have come, which must come first, and which chunk is wanted next.
// ImageTarget uses it from its one thread.
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
  /// `runs` is called as soon as the process runs.
  LazyResume(Guard& guard, std::function<void(const segment::VersionId&)> runs)
      : guard_(guard), when_it_runs_(std::move(runs)) {}

  void comes_from(const segment::VersionId& id) { offered_ = id; }
  /// Starts again, with nothing of the `bytes` of the capture.
  void begin_anew(std::uint64_t bytes);
  /// The record has come; `faults` is the new process's userfaultfd. The process may run early only after this call.
  void know(const ProcessImage& image, std::uint64_t record_bytes, os::Fd faults);
  bool runs() const { return runs_; }
  /// Returns, while the process runs, the missing ranges of its version. It takes nothing of another version.
  base::Result<std::vector<capture::ChunkRange>> left() const;
  /// Returns a position in the capture.
  std::optional<std::uint64_t> wanted();
  void has_come(capture::ChunkRange range);
  /// Calls give(begin, bytes) for the pages that `bytes` complete. `begin`: their position among all pages. A chunk may
  /// end within a page, but the kernel takes whole pages only.
  base::Status join(std::uint64_t begin, base::ConstByteSpan bytes,
                    const std::function<base::Status(std::uint64_t begin, base::ConstByteSpan bytes)>& give);
  /// Returns whether follow() is next: all that must come first has come, and other pages are missing.
  bool may_be_followed() const;
  /// Follows missing pages of the process, which stands still. Some may be in its memory already, as zeros. A reader of
  /// its command line, such as `ps`, makes such a page, and so does a partly filled huge page. The process would never
  /// fault on them, so they must also come before it runs.
  base::Status follow(pid_t process);
  /// Returns whether it is followed, and everything that must come first has come.
  bool may_run() const { return pages_ && !runs_ && first_.empty(); }
  /// The process runs now.
  void begun() {
    runs_ = true;
    pages_->released();
    when_it_runs_(id_);
  }
  /// Returns whether no process needs its pages any more.
  bool has_ended() const { return runs() && pages_->has_ended(); }
  base::Status put(std::uint64_t address, base::ConstByteSpan bytes) { return pages_->put(address, bytes); }
  base::Status end() { return pages_->end(); }

 private:
  struct Place {
    std::uint64_t address = 0, bytes = 0, begin = 0;  // of a run: its address, length, and position in the capture
  };
  /// A page that has come only in part.
  struct Torn {
    std::vector<std::byte> bytes = std::vector<std::byte>(kPageBytes);
    std::vector<capture::ChunkRange> come;  // the parts that have come
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
  std::vector<capture::ChunkRange> first_, come_;  // ranges that must still come before it runs; ranges that have come
  std::map<std::uint64_t, Torn> torn_;             // by position among all pages
  std::unique_ptr<LazyPages> pages_;               // set once it is followed
  bool runs_ = false;
};

}  // namespace perdure::process
