#pragma once
// Images of processes in a store: captured and made again through the same engine, tiers and store as every checkpoint.
#include <functional>
#include <memory>
#include <optional>

#include "client/run_claim.hpp"
#include "client/session.hpp"
#include "process/guard.hpp"
#include "process/new_process.hpp"
#include "process/placement.hpp"
#include "process/restored_descriptors.hpp"

namespace perdure::process {

struct CaptureChoices {
  Guard::Wanted process;
  /// Pages are copied while it runs, and again what it writes meanwhile, so that it stands still for the last ones
  /// only. Takes memory for one more copy of them; where that is not there, or the kernel cannot tell what is written,
  /// it stands still for all, and a note says so.
  bool pre_copy = false;
  bool tree = false;  ///< with all that descend from it
  /// What an earlier image of the name that its store has holds already is not stored again; it is kept for this one,
  /// whatever becomes of that version. So many earlier ones at most, 16 at the very most; then all is stored again. 0:
  /// each image has all of its pages itself.
  unsigned increments = 0;
  /// It was begun anew: earlier images of the name are another run's, and stay as a branch of their own. Else they
  /// count as its own past.
  bool new_program = false;
};

/// What a capture did. Times in s.
struct CaptureReport {
  std::int64_t version = 0;
  std::uint64_t threads = 0, maps = 0;
  std::uint64_t record_bytes = 0, page_bytes = 0;
  std::uint64_t borrowed_bytes = 0;            ///< of pages that earlier images have, and are not stored again
  std::uint64_t zero_bytes = 0;                ///< of pages that held only zeros, and are not stored
  double seize_s = 0, read_s = 0, copy_s = 0;  ///< until all threads stood still, the image was read, pages were copied
  double frozen_s = 0;                         ///< as long as it stood still, both times together with pre-copy
  std::uint64_t frozen_bytes = 0;              ///< of pages that were copied while it stood still
  std::uint64_t rounds = 0;                    ///< of copies while it ran
  double seconds = 0;                          ///< until it was whole in the tiers, all of the above included
  std::vector<std::string> notes;              ///< for people: what was left out, or assumed
  std::vector<std::int32_t> processes;         ///< all that were captured, and live; the first is the one asked for
};

struct ResumeReport {
  std::int64_t version = 0;
  pid_t process = 0;
  pid_t child = 0;  ///< of this process: ends when it does, with its status; it itself, or the first of its name space
  std::uint64_t threads = 0, maps = 0, page_bytes = 0;
  double seconds = 0;                   ///< until it ran
  double complete_s = 0;                ///< until all of its pages were there
  std::vector<std::string> notes;       ///< for people: files that changed, and the like
  std::vector<std::int32_t> processes;  ///< all that live, as in CaptureReport
  bool is_tree = false;                 ///< it had children, if only such as have ended
  /// Who watches over it keeps this until it has ended: meanwhile nobody else resumes that name. Nothing where it was
  /// to outlive this process.
  std::shared_ptr<client::RunClaim> claim;
};

struct ResumeChoices {
  RestoreChoices files = {};
  AffinityChoices affinity = {};
  /// This process ends before it, which then gets none of the signals that it wanted at its parent's end.
  bool outlives = false;
  bool again = false;  ///< although another one that was brought back of that name runs
  Numbering numbering = Numbering::everybody;
  /// It runs as soon as it can, and its pages come afterwards, those first that it waits for. `runs` is called when it
  /// does; resume() returns when all are there. When that fails it is killed before it sees a page that is not.
  bool lazy = false;
  std::function<void(const ResumeReport&)> runs = {};
  bool of_others = false;   ///< although its files belong to other users, or others may write where they are
  std::string branch = {};  ///< "3f9a12": the version is one of this branch; empty: of the current one
};

/// Of one engine and store. All calls by one thread: the kernel knows it as the tracer of processes.
class ProcessStore {
 public:
  /// `settings`: "key=value", which win over all others; `options`: those of a program (perdure_open()). To be called
  /// while this process has one thread. `holds`: processes, for a capture, or while their pages come to them (lazy);
  /// else there is no guard, which could get the number that a resume needs.
  static base::Result<ProcessStore> open(const std::vector<std::string>& settings, const char* options = nullptr,
                                         bool holds = true);

  /// As the next version of `name`, at level `process` when it returns. `then` is called while the process still stands
  /// still, with what came of the capture; then it goes on, unless `then` ended it. With none it goes on as soon as its
  /// pages are copied. Whatever fails leaves it as it was.
  base::Result<CaptureReport> capture(const CaptureChoices& choices, const std::string& name,
                                      const std::function<base::Status(const CaptureReport&)>& then = {});
  /// Waits until the version is in the store.
  base::Status wait_stored(const std::string& name, std::int64_t version);
  /// A child of this process that goes on where it was captured; of the newest version when `version` is
  /// PERDURE_LATEST. PERDURE_BUSY: what was brought back of `name` runs. When it fails nothing of the image has run.
  base::Result<ResumeReport> resume(const std::string& name, std::int64_t version, const ResumeChoices& choices = {});
  client::Session& session() { return *session_; }
  base::Status close() { return session_->close(); }

 private:
  ProcessStore(std::optional<Guard> guard, std::unique_ptr<client::Session> session, config::Config config)
      : guard_(std::move(guard)), session_(std::move(session)), config_(std::move(config)) {}
  base::Result<std::int64_t> next_version(const std::string& name, bool new_program);
  std::optional<Guard> guard_;
  std::unique_ptr<client::Session> session_;
  config::Config config_;
};

}  // namespace perdure::process
