#include "process/process_store.hpp"

#include <unistd.h>

#include "comm/communicator.hpp"
#include "os/system.hpp"
#include "process/image_source.hpp"
#include "process/image_target.hpp"
#include "process/read_image.hpp"

namespace perdure::process {
namespace {

double seconds_since(std::uint64_t begun_ns) { return static_cast<double>(os::monotonic_ns() - begun_ns) * 1e-9; }

/// Seizes the process only when everything else is ready, and holds it until it is released.
class HeldProcess : public capture::Source {
 public:
  explicit HeldProcess(pid_t process) : process_(process) {}
  base::Result<capture::Description> describe() override {
    begun_ns_ = os::monotonic_ns();
    PERDURE_TRY(tracee_, Tracee::seize(process_));
    report_.seize_s = seconds_since(begun_ns_);
    PERDURE_TRY(const auto image, read_image(*tracee_));
    source_.emplace(process_, image);
    report_.read_s = seconds_since(begun_ns_) - report_.seize_s;
    report_.threads = image.threads.size();
    report_.maps = image.maps.size();
    report_.page_bytes = image.page_bytes();
    PERDURE_TRY(auto description, source_->describe());
    report_.record_bytes = description.entries[0].bytes();
    return description;
  }
  base::Status read(capture::ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) override {
    return source_->read(range, take);
  }
  CaptureReport report() const {
    CaptureReport report = report_;
    report.frozen_s = seconds_since(begun_ns_);
    report.copy_s = report.frozen_s - report.seize_s - report.read_s;
    return report;
  }
  base::Status release() { return tracee_ ? tracee_->release() : base::Status(); }

 private:
  pid_t process_;
  std::uint64_t begun_ns_ = 0;
  std::optional<Tracee> tracee_;
  std::optional<ImageSource> source_;
  CaptureReport report_;
};

/// Whether this process, and this machine, may bring it back.
base::Status check(const ProcessImage& image) {
  const std::string object = "process " + std::to_string(image.number);
  if (image.user != ::geteuid())
    return base::fail(PERDURE_PERMISSION, object, "it is of user " + std::to_string(image.user),
                      "only that user can resume it");
  return {};
}

}  // namespace

base::Result<ProcessStore> ProcessStore::open(const std::vector<std::string>& settings) {
  PERDURE_TRY(auto session, client::Session::open(comm::make_solo(), nullptr, settings));
  return ProcessStore(std::move(session));
}

base::Result<std::int64_t> ProcessStore::next_version(const std::string& name) {
  const auto latest = session_->latest(name);
  if (latest) return static_cast<std::int64_t>(*latest) + 1;
  const auto code = latest.error().code;
  if (code == PERDURE_NOT_FOUND || code == PERDURE_INCOMPLETE) return std::int64_t{1};
  return base::fail(latest.error());
}

// Numbers of versions that are damaged are taken, too.
base::Result<CaptureReport> ProcessStore::capture(pid_t process, const std::string& name,
                                                  const std::function<base::Status(const CaptureReport&)>& then) {
  PERDURE_TRY(std::int64_t version, next_version(name));
  HeldProcess held(process);
  base::Status done = session_->checkpoint(name, version, held);
  for (int tries = 0; !done && done.error().code == PERDURE_EXISTS && tries < 100; ++tries)
    done = session_->checkpoint(name, ++version, held);
  PERDURE_CHECK(done);
  CaptureReport report = held.report();
  report.version = version;
  const base::Status after = then(report);
  const base::Status released = held.release();
  PERDURE_CHECK(after);
  if (!released && released.error().code != PERDURE_NOT_FOUND) return base::fail(released.error());
  return report;
}

base::Status ProcessStore::wait_stored(const std::string& name, std::int64_t version) {
  return session_->wait(name, version, PERDURE_LEVEL_STORE, PERDURE_FOREVER);
}

base::Result<ResumeReport> ProcessStore::resume(const std::string& name, std::int64_t version) {
  const std::uint64_t begun = os::monotonic_ns();
  ImageTarget target([](ProcessImage& image, Operations&) { return check(image); });
  PERDURE_CHECK(session_->restore(name, version, target));
  PERDURE_CHECK(target.finish());
  perdure_progress progress{};
  (void)session_->progress(progress);
  ResumeReport report;
  const ProcessImage& image = target.image();
  report.version = progress.restored_version;
  report.process = image.number;
  report.threads = image.threads.size();
  report.maps = image.maps.size();
  report.page_bytes = image.page_bytes();
  PERDURE_CHECK(target.release());
  report.seconds = seconds_since(begun);
  return report;
}

}  // namespace perdure::process
