#pragma once
// Captures processes to a store and resumes them, through the same engine, tiers and store as every checkpoint.
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
  /// Copies pages while the process runs, then those that it wrote meanwhile. It stands still only for the last ones.
  /// This needs memory for one more copy. Without that memory, or if the kernel cannot tell which pages are written, it
  /// stands still for all pages, and a note says so.
  bool pre_copy = false;
  bool tree = false;  ///< captures all descendants too
  /// Stores only pages that an earlier image in the store lacks. That image's segments are kept for this one, whatever
  /// happens to its version. At most this many earlier images are used, and never more than 16; then all pages are
  /// stored again. 0: each image stores all of its pages.
  unsigned increments = 0;
  /// The program was started anew. Earlier images of the name belong to another run, and stay as a branch of their own.
  /// Otherwise they count as its own past.
  bool new_program = false;
};

/// Results of a capture. Times are in s.
struct CaptureReport {
  std::int64_t version = 0;
  std::uint64_t threads = 0, maps = 0;
  std::uint64_t record_bytes = 0, page_bytes = 0;
  std::uint64_t borrowed_bytes = 0;            ///< of pages that are not stored again because earlier images have them
  std::uint64_t zero_bytes = 0;                ///< of pages that have only zeros and are not stored
  double seize_s = 0, read_s = 0, copy_s = 0;  ///< durations: until all threads stood still, of reading the image, of
                                               ///< copying pages
  double frozen_s = 0;                         ///< while it stood still; with pre-copy, both times together
  std::uint64_t frozen_bytes = 0;              ///< of pages copied while it stood still
  std::uint64_t rounds = 0;                    ///< of copies while it ran
  double seconds = 0;                          ///< until the tiers had all of it, including the above
  std::vector<std::string> notes;              ///< for people: omissions and assumptions
  std::vector<std::int32_t> processes;         ///< all captured living processes; the first is the requested one
};

struct ResumeReport {
  std::int64_t version = 0;
  pid_t process = 0;
  pid_t child = 0;  ///< our child that ends with its status: the process itself, or the first process of its name space
  std::uint64_t threads = 0, maps = 0, page_bytes = 0;
  double seconds = 0;                   ///< until the process ran
  double complete_s = 0;                ///< until all of its pages had come
  std::vector<std::string> notes;       ///< for people: changed files and the like
  std::vector<std::int32_t> processes;  ///< all living processes, as in CaptureReport
  bool is_tree = false;                 ///< it had children, possibly only zombies
  /// The watcher of the process keeps this claim until the process has ended. Meanwhile nobody else can resume that
  /// name. Null if the process outlives this one.
  std::shared_ptr<client::RunClaim> claim;
};

struct ResumeChoices {
  RestoreChoices files = {};
  AffinityChoices affinity = {};
  /// This process ends first. The resumed one then loses its parent-death signal.
  bool outlives = false;
  bool again = false;  ///< resume although another resumed process of that name runs
  Numbering numbering = Numbering::everybody;
  /// The process runs as soon as it can. Its pages come afterwards, first those that it waits for. `runs` is called
  /// when it runs; resume() returns when all pages have come. On failure the process is killed before it uses a missing
  /// page.
  bool lazy = false;
  std::function<void(const ResumeReport&)> runs = {};
  bool of_others = false;   ///< accept files of other users, and files in directories that others may write
  std::string branch = {};  ///< "3f9a12": the version is of this branch; empty: of the current one
};

/// Uses one engine and store. One thread makes all calls: the kernel knows it as the tracer of processes.
class ProcessStore {
 public:
  /// `settings`: "key=value", which override all others. `options`: those of a program (perdure_open()). This process
  /// must have one thread. `holds`: a guard is needed, for captures and lazy resumes. Without it there is no guard
  /// process, which could take the number that a resume needs.
  static base::Result<ProcessStore> open(const std::vector<std::string>& settings, const char* options = nullptr,
                                         bool holds = true);

  /// Captures the next version of `name`; it has level `process` at the return. `then` is called with the report while
  /// the process still stands still. Afterwards the process continues, unless `then` ended it. Without `then` it
  /// continues as soon as its pages are copied. A failure leaves it as it was.
  base::Result<CaptureReport> capture(const CaptureChoices& choices, const std::string& name,
                                      const std::function<base::Status(const CaptureReport&)>& then = {});
  /// Returns when the version is in the store.
  base::Status wait_stored(const std::string& name, std::int64_t version);
  /// Makes a child of this process that continues from the version. PERDURE_LATEST means the newest one. PERDURE_BUSY:
  /// a resumed process of `name` runs. If it fails, nothing of the image has run.
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
