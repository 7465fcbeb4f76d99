#include "inspect/audit.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <tuple>

#include "os/thread.hpp"
#include "reader/branches.hpp"
#include "store/renamed.hpp"

namespace perdure::inspect {
namespace {

constexpr const char* kUnknownRank = "unknown";

std::string absolute(const store::Store& store, const store::SegmentRef& ref) {
  return store.properties().location + "/" + ref.path;
}

/// The place and name of the file must be those that its manifest says: otherwise it is another segment under this
/// name.
std::optional<base::Error> misplaced(const segment::ByteSource& source, const SegmentTask& task) {
  auto manifest = segment::read_contents(source);
  if (!manifest) return manifest.error();
  if (manifest->id == task.id && manifest->segment_index == task.ref.index && manifest->segment_count == task.ref.count)
    return std::nullopt;
  if (store::differs_in_name(manifest->id, task.id)) return store::renamed_directory(task.id.name, manifest->id.name);
  return base::Error{PERDURE_CORRUPT, source.name(),
                     "name and place of the file disagree with its manifest, which says " + manifest->id.text() +
                         ", attempt " + manifest->id.attempt.hex() + ", segment " +
                         std::to_string(manifest->segment_index) + " of " + std::to_string(manifest->segment_count),
                     "the file was renamed or moved; give it back the name its manifest says", false};
}

std::vector<Finding> audit_segment(store::Store& store, const SegmentTask& task,
                                   const std::function<void(std::uint64_t)>& progress) {
  const std::string file = absolute(store, task.ref);
  auto source = store.open(task.ref);
  if (!source && source.error().code == PERDURE_NOT_FOUND) return {};  // retired by a running job meanwhile
  if (!source) return {{file, 0, kUnknownRank, -1, source.error()}};
  std::vector<Finding> findings;
  for (segment::Defect& defect : segment::verify(**source, progress)) {
    std::string rank = defect.rank >= 0 ? std::to_string(defect.rank) : ranks_of(**source).value_or(kUnknownRank);
    findings.push_back({file, defect.offset, std::move(rank), defect.chunk, std::move(defect.error)});
  }
  if (!findings.empty()) return findings;
  if (auto wrong = misplaced(**source, task))
    findings.push_back({file, 0, ranks_of(**source).value_or(kUnknownRank), -1, *wrong});
  return findings;
}

/// All segments of a renamed directory have the same defect: one finding is enough, and it is about the directory.
void tell_renamed_once(const store::Store& store, std::vector<Finding>& findings) {
  constexpr std::string_view kObject = "checkpoint ";
  std::set<std::string> told;
  std::erase_if(findings, [&](const Finding& one) {
    return one.error.code == PERDURE_MISMATCH && !told.insert(one.error.object).second;
  });
  for (Finding& one : findings)
    if (one.error.code == PERDURE_MISMATCH && one.error.object.starts_with(kObject))
      one.file = store.properties().location + "/" + one.error.object.substr(kObject.size());
}

/// Finds defects that only show across the segments of a version: ranks that are missing or appear twice.
void audit_whole(store::Store& store, const store::VersionListing& listing, bool has_defects, AuditResult& result) {
  if (listing.all_present() && has_defects) return;  // said already, segment by segment
  auto whole = store::read_version(store, listing);
  if (whole) return;
  if (whole.error().code == PERDURE_NOT_FOUND) {
    const auto again = store.list(listing.id.name);  // retired meanwhile, or really incomplete?
    if (!again) return;
    const bool still =
        std::any_of(again->begin(), again->end(), [&](const auto& other) { return other.id == listing.id; });
    if (still) result.incomplete.push_back(listing.id.text() + ": " + whole.error().cause);
  } else if (!has_defects) {
    const std::string file = listing.segments.empty() ? listing.id.text() : absolute(store, listing.segments.front());
    result.defects.push_back({file, 0, kUnknownRank, -1, whole.error()});
  }
}

}  // namespace

// A version's own file may have been rewritten since its segment was borrowed: then there are two.
base::Status plan_borrowed(store::Store& store, AuditPlan& plan) {
  std::vector<std::pair<segment::VersionId, store::BorrowedSegment>> all;
  for (const auto& listing : plan.versions) {
    PERDURE_TRY(const auto borrowed, store::borrowed(store, listing.id));
    for (const auto& one : borrowed) all.emplace_back(listing.id, one);
  }
  if (all.empty()) return {};
  std::set<std::string> read;
  for (const SegmentTask& task : plan.segments)
    if (const auto source = store.open(task.ref)) read.insert((*source)->identity());
  for (const auto& [borrower, lent] : all) {
    auto source = store.open(lent.segment);
    const std::string identity = source ? (*source)->identity() : "";
    if (!identity.empty() && !read.insert(identity).second) continue;
    const segment::VersionId lender{borrower.name, lent.version, lent.segment.attempt};
    plan.segments.push_back({lent.segment, lender, source ? (*source)->size() : 0});
    plan.bytes += plan.segments.back().bytes;
  }
  return {};
}

base::Result<AuditPlan> plan_audit(store::Store& store, const std::string& name, std::optional<std::uint64_t> version,
                                   std::optional<plan::Branch> branch) {
  std::vector<std::string> names{name};
  if (name.empty()) {
    PERDURE_TRY(names, store.names());
  }
  AuditPlan plan;
  for (const std::string& one : names) {
    PERDURE_TRY(auto listings, store.list(one));
    reader::Branches branches;
    if (branch) {
      PERDURE_TRY(branches, reader::branches_of(store, one, listings));
    }
    for (auto& listing : listings)
      if ((!version || listing.id.version == *version) && (!branch || branches.has(listing.id, branch)))
        plan.versions.push_back(std::move(listing));
  }
  for (const auto& listing : plan.versions) {
    for (const auto& ref : listing.segments) {
      auto source = store.open(ref);
      plan.segments.push_back({ref, listing.id, source ? (*source)->size() : 0});
      plan.bytes += plan.segments.back().bytes;
    }
  }
  PERDURE_CHECK(plan_borrowed(store, plan));
  std::stable_sort(plan.segments.begin(), plan.segments.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return plan;
}

AuditResult audit(store::Store& store, const AuditPlan& plan, unsigned threads,
                  const std::function<void(std::uint64_t)>& progress) {
  AuditResult result;
  std::set<segment::VersionId> damaged;
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  auto work = [&] {
    for (std::size_t i = next++; i < plan.segments.size(); i = next++) {
      auto findings = audit_segment(store, plan.segments[i], progress);
      std::lock_guard lock(mutex);
      if (!findings.empty()) damaged.insert(plan.segments[i].id);
      std::move(findings.begin(), findings.end(), std::back_inserter(result.defects));
    }
  };
  os::Threads workers;
  const std::size_t useful =
      std::min<std::size_t>(std::max(threads, 1U), std::max<std::size_t>(plan.segments.size(), 1));
  for (std::size_t i = 1; i < useful; ++i) {
    const auto begun = workers.start("audit", work, [&](const base::Error& why) {
      std::lock_guard lock(mutex);
      result.defects.push_back({store.properties().location, 0, kUnknownRank, -1, why});
      return false;  // the other threads have to do
    });
    if (!begun) break;  // the other threads have to do
  }
  work();
  workers.join();  // which are waited for
  tell_renamed_once(store, result.defects);
  for (const auto& listing : plan.versions) audit_whole(store, listing, damaged.contains(listing.id), result);
  std::sort(result.defects.begin(), result.defects.end(),
            [](const Finding& a, const Finding& b) { return std::tie(a.file, a.offset) < std::tie(b.file, b.offset); });
  result.segments = plan.segments.size();
  result.versions = plan.versions.size();
  return result;
}

}  // namespace perdure::inspect
