#include "process/held_process.hpp"

#include <utility>

#include "os/crash_point.hpp"
#include "os/hooks.hpp"
#include "os/system.hpp"
#include "process/proc_facts.hpp"
#include "process/proc_text.hpp"
#include "process/remote_memory.hpp"
#include "process/resume_proof.hpp"
#include "process/tree_source.hpp"

namespace perdure::process {
namespace {

double seconds_from(std::uint64_t begun_ns) { return static_cast<double>(os::monotonic_ns() - begun_ns) * 1e-9; }

constexpr std::uint64_t kMostRounds = 4;
/// What is left is copied in a few ms.
constexpr std::uint64_t kFewPages = 16 * base::MiB / kPageBytes;

std::uint64_t pages_of(const std::vector<PageRun>& runs) {
  std::uint64_t pages = 0;
  for (const PageRun& run : runs) pages += run.pages;
  return pages;
}

/// There is room for a copy of all that it has in memory, beside the image itself.
base::Status room_for_copies(pid_t process) {
  const std::string status = proc_text("/proc/" + std::to_string(process) + "/status");
  const std::uint64_t needed = 2 * first_number(status, "RssAnon") * base::KiB;
  const std::uint64_t there = os::available_memory_bytes();
  if (needed <= there) return {};
  return base::fail(
      PERDURE_NO_SPACE, "process " + std::to_string(process),
      "copies of its pages need " + base::format_bytes(needed) + " of memory, there are " + base::format_bytes(there));
}

}  // namespace

base::Result<capture::Description> HeldProcess::describe() {
  std::unique_ptr<StagedPages> staged;
  source_.reset();
  PERDURE_CHECK(release());
  report_ = {};
  if (choices_.tree) PERDURE_CHECK(hold_tree());
  if (choices_.pre_copy && !choices_.tree) {
    auto begun = stage();
    if (begun)
      staged = std::move(*begun);
    else if (begun.error().code == PERDURE_UNSUPPORTED || begun.error().code == PERDURE_NO_SPACE)
      report_.notes.push_back("it stood still for all of its pages: " + begun.error().text());
    else
      return base::fail(begun.error());
  }
  if (!choices_.tree) PERDURE_CHECK(hold(staged && let_go_));
  if (staged) PERDURE_CHECK(complete(std::move(staged)));
  const bool none_staged = !source_;
  if (none_staged) PERDURE_CHECK(use_pages_there());
  PERDURE_TRY(description_, source_->describe());
  report_.record_bytes = description_.entries[0].bytes();
  if (!let_go_) PERDURE_CHECK(check_record());
  const std::uint64_t stored = description_.bytes - report_.record_bytes;
  report_.zero_bytes = report_.page_bytes - stored - report_.borrowed_bytes;
  report_.page_bytes = stored;
  if (none_staged || choices_.tree) report_.frozen_bytes = report_.page_bytes;
  os::crash_point(os::CrashPoint::process_held);
  return description_;
}

// A program that goes on stands still for no longer than it is read. Whether it can be brought back shows
// before anybody is told that there is an image.
base::Status HeldProcess::was_read() {
  if (let_go_)
    if (const auto released = release(); !released && released.error().code != PERDURE_NOT_FOUND) return released;
  os::crash_point(os::CrashPoint::process_read);
  if (!let_go_) return {};
  PERDURE_CHECK(guard_.prove());
  PERDURE_CHECK(check_record());
  os::crash_point(os::CrashPoint::process_proved);
  return {};
}

// As a resume reads it, before anybody is told that it is there.
base::Status HeldProcess::check_record() {
  if (const int refused = os::ask_hooks({"read_record", "image", {}, 0, {}, {}, 0, 0}); refused != 0)
    return base::fail(base::errno_error(refused, "read its record as a resume does", "image"));
  std::vector<std::byte> record;
  record.reserve(report_.record_bytes);
  PERDURE_CHECK(source_->read({0, report_.record_bytes}, [&](base::ConstByteSpan part) {
    record.insert(record.end(), part.begin(), part.end());
    return base::Status();
  }));
  return prove_record(record, description_.entries);
}

base::Status HeldProcess::use_pages_there() {
  const pid_t process = choices_.process.process;
  if (earlier_ == nullptr) {
    source_ = std::make_unique<ImageSource>(process, held_.read.image);
    return {};
  }
  const auto read = [process](const PageRun& block, base::ByteSpan bytes) {
    return read_memory(process, block.begin, bytes);
  };
  PERDURE_TRY(const auto image, shorten(without_zeros(process, held_.read.image), read));
  source_ = std::make_unique<ImageSource>(process, image, ImageSource::Ready());
  return {};
}

base::Result<ProcessImage> HeldProcess::shorten(ProcessImage image, const ReadBlock& read) {
  if (!earlier_->note().empty()) report_.notes.push_back("all of it is stored: " + earlier_->note());
  PERDURE_TRY(image, earlier_->shorten(std::move(image), read));
  report_.borrowed_bytes = image.borrowed_bytes();
  return image;
}

// Rounds go on while they make it fewer pages.
base::Result<std::unique_ptr<StagedPages>> HeldProcess::stage() {
  PERDURE_CHECK(room_for_copies(choices_.process.process));
  os::crash_point(os::CrashPoint::precopy_to_follow);
  PERDURE_TRY(auto followed, guard_.follow(choices_.process));
  os::crash_point(os::CrashPoint::precopy_followed);
  report_.frozen_s = followed.stopped_s;
  PERDURE_TRY(auto made, StagedPages::make(choices_.process.process, followed.written));
  auto staged = std::make_unique<StagedPages>(std::move(made));
  for (std::uint64_t before = ~std::uint64_t{0}; ++report_.rounds <= kMostRounds;) {
    os::crash_point(os::CrashPoint::precopy_round);
    PERDURE_CHECK(staged->take(followed.written));
    os::crash_point(os::CrashPoint::precopy_copied);
    const std::uint64_t pages = pages_of(followed.written);
    if (report_.rounds > 1 && (pages <= kFewPages || pages > before / 2)) break;
    before = pages;
    PERDURE_TRY(followed, guard_.written());
    os::crash_point(os::CrashPoint::precopy_listed);
  }
  os::crash_point(os::CrashPoint::precopy_to_hold);
  return staged;
}

base::Status HeldProcess::hold(bool flags_before) {
  const std::uint64_t begun = os::monotonic_ns();
  Guard::Wanted wanted = choices_.process;
  wanted.flags_before = flags_before;
  wanted.proof = let_go_ ? Guard::Wanted::afterwards : Guard::Wanted::at_once;
  PERDURE_TRY(held_, guard_.hold(wanted));
  holds_ = true;
  report_.seize_s = static_cast<double>(held_.seized_ns - begun) * 1e-9;
  report_.read_s = seconds_from(held_.seized_ns);
  report_.threads = held_.read.image.threads.size();
  report_.maps = held_.read.image.maps.size();
  report_.page_bytes = held_.read.image.page_bytes();
  report_.processes = {held_.read.image.number};
  return {};
}

// One that has nobody is an image like any other.
base::Status HeldProcess::hold_tree() {
  const std::uint64_t begun = os::monotonic_ns();
  if (earlier_ != nullptr) report_.notes.push_back("images of several processes are stored whole each time");
  if (choices_.pre_copy) report_.notes.push_back("pages of several processes are not copied while they run");
  Guard::Wanted wanted = choices_.process;
  wanted.proof = let_go_ ? Guard::Wanted::afterwards : Guard::Wanted::at_once;
  PERDURE_TRY(tree_, guard_.hold_tree(wanted));
  holds_ = true;
  held_.seized_ns = tree_.seized_ns;
  held_.read.notes = tree_.read.notes;
  report_.seize_s = static_cast<double>(tree_.seized_ns - begun) * 1e-9;
  report_.read_s = seconds_from(tree_.seized_ns);
  TreeImage& tree = tree_.read.tree;
  for (const ProcessImage& image : tree.processes) {
    report_.threads += image.threads.size();
    report_.maps += image.maps.size();
    report_.processes.push_back(image.number);
  }
  report_.page_bytes = tree.page_bytes();
  if (tree.processes.size() == 1 && tree.ended.empty())
    source_ = std::make_unique<ImageSource>(choices_.process.process, std::move(tree.processes.front()));
  else
    source_ = std::make_unique<TreeSource>(std::move(tree));
  return {};
}

// Where flags of its mappings changed just when it was held, it is held once more, for all of its pages.
base::Status HeldProcess::complete(std::unique_ptr<StagedPages> staged) {
  PERDURE_TRY(report_.frozen_bytes, staged->complete(held_.read.image, held_.unwritten));
  os::crash_point(os::CrashPoint::precopy_completed);
  if (let_go_) {
    PERDURE_TRY(const bool same, let_go());
    os::crash_point(os::CrashPoint::precopy_released);
    if (!same) return hold(false);
  }
  if (earlier_ != nullptr)
    staged->change_by([this](ProcessImage image, const ReadBlock& read) { return shorten(std::move(image), read); });
  source_ = std::move(staged);
  return {};
}

CaptureReport HeldProcess::report() const {
  CaptureReport report = report_;
  report.notes.insert(report.notes.end(), held_.read.notes.begin(), held_.read.notes.end());
  if (holds_) report.copy_s = seconds_from(held_.seized_ns) - report.read_s;
  return report;
}

base::Result<bool> HeldProcess::let_go() {
  holds_ = false;
  report_.copy_s = seconds_from(held_.seized_ns) - report_.read_s;
  report_.frozen_s += seconds_from(held_.seized_ns);
  return guard_.release();
}

base::Status HeldProcess::release() {
  if (!holds_) return {};
  PERDURE_CHECK(let_go());
  return {};
}

}  // namespace perdure::process
