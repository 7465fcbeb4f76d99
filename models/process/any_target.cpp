#include "process/any_target.hpp"

#include <utility>

namespace perdure::process {
namespace {

void add_to(ResumeReport& report, const ProcessImage& image) {
  report.threads += image.threads.size();
  report.maps += image.maps.size();
  report.page_bytes += image.page_bytes() + image.borrowed_bytes();
}

}  // namespace

AnyTarget::AnyTarget(const Choose& choose, const ResumeChoices& choices)
    : numbering_(choices.numbering),
      one_([choose](auto& image, auto& operations) { return choose(image, operations, true); }, choices.files,
           choices.affinity, choices.numbering),
      several_([choose, this](auto& image, auto& operations) { return choose(image, operations, is_root(image)); },
               choices.files, choices.affinity) {}

void AnyTarget::be_lazy(Guard& guard, std::function<void(const segment::VersionId&)> runs) {
  is_lazy_ = true;
  one_.be_lazy(guard, std::move(runs));
}

// Processes begun for another version have numbers that this one may need. A process that already runs takes no other
// version.
base::Result<std::vector<capture::ChunkRange>> AnyTarget::accept(const std::vector<segment::RegionEntry>& stored) {
  if (one_.runs()) return one_.accept(stored);
  one_.drop();
  several_.drop();
  is_tree_ = is_tree(stored);
  if (!is_tree_) return one_.accept(stored);
  if (numbering_ == Numbering::itself)
    return base::fail(PERDURE_UNSUPPORTED, "image",
                      "it is of several processes, which do not come back in a name space of their own",
                      "resume it without --name-space, where all of its numbers are free");
  return several_.accept(stored);
}

base::Status AnyTarget::write(capture::ChunkRange range, base::ConstByteSpan bytes) {
  return is_tree_ ? several_.write(range, bytes) : one_.write(range, bytes);
}

ResumeReport AnyTarget::report() const {
  ResumeReport report;
  report.is_tree = is_tree_;
  if (is_tree_) {
    for (const ProcessImage& image : several_.image().processes) {
      add_to(report, image);
      report.processes.push_back(image.number);
    }
    report.process = report.child = report.processes.front();
    report.notes = several_.notes();
    if (is_lazy_) report.notes.emplace_back("all pages came before they ran: they are several processes");
    return report;
  }
  add_to(report, one_.image());
  report.process = one_.made().process;
  report.child = one_.made().child;
  report.processes.push_back(report.process);
  report.notes = one_.notes();
  if (report.child != report.process)
    report.notes.push_back("it knows itself by the number " + std::to_string(one_.image().number) +
                           ", in a name space of its own; elsewhere that is " + std::to_string(report.process));
  return report;
}

}  // namespace perdure::process
