#pragma once
// A process that is captured, as the source of a capture: held when everything else is ready, until it is released.
#include <memory>

#include "capture/source.hpp"
#include "process/earlier_image.hpp"
#include "process/image_source.hpp"
#include "process/process_store.hpp"
#include "process/staged_pages.hpp"

namespace perdure::process {

class HeldProcess : public capture::Source {
 public:
  /// `let_go`: releases the process once nothing is read from it any more, and proves afterwards that its image can be
  /// resumed. Else the proof comes before its memory is read.
  /// `earlier`: nothing is stored again that this one has.
  HeldProcess(Guard& guard, const CaptureChoices& choices, bool let_go, EarlierImage* earlier = nullptr)
      : guard_(guard), choices_(choices), let_go_(let_go), earlier_(earlier) {}
  ~HeldProcess() override { (void)release(); }
  HeldProcess(const HeldProcess&) = delete;
  HeldProcess& operator=(const HeldProcess&) = delete;

  base::Result<capture::Description> describe() override;
  base::Status goes_to(const segment::VersionId& id) override {
    return earlier_ != nullptr ? earlier_->lend_to(id) : base::Status();
  }
  capture::Manner manner() const override { return source_->manner(); }
  base::Status read(capture::ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) override {
    return source_->read(range, take);
  }
  base::Status was_read() override;
  /// All of it was read.
  CaptureReport report() const;
  base::Status release();
  double frozen_s() const { return report_.frozen_s; }

 private:
  base::Status hold(bool flags_before);
  base::Status hold_tree();
  base::Result<std::unique_ptr<StagedPages>> stage();
  base::Status complete(std::unique_ptr<StagedPages> staged);
  base::Result<bool> let_go();
  base::Status use_pages_there();
  base::Status check_record();
  base::Result<ProcessImage> shorten(ProcessImage image, const ReadBlock& read);

  Guard& guard_;
  CaptureChoices choices_;
  bool let_go_;
  EarlierImage* earlier_;
  bool holds_ = false;
  Guard::Held held_;
  Guard::HeldWithAll tree_;
  std::unique_ptr<capture::Source> source_;
  capture::Description description_;
  CaptureReport report_;
};

}  // namespace perdure::process
