#include "store/emulated.hpp"

namespace perdure::store {
namespace {

class EmulatedSink final : public SegmentSink {
 public:
  EmulatedSink(std::unique_ptr<SegmentSink> real, std::shared_ptr<device::Emulator> device)
      : real_(std::move(real)), device_(std::move(device)) {}

  base::Status write(std::uint64_t offset, base::ConstByteSpan data) override {
    const device::StreamId stream = device_->start(data.size());
    const base::Status status = real_->write(offset, data);
    if (status)
      device_->wait(stream);
    else
      device_->cancel(stream);
    return status;
  }
  base::Status commit() override { return real_->commit(); }
  base::Status read(std::uint64_t offset, base::ByteSpan target) override {
    device_->transfer(target.size());
    return real_->read(offset, target);
  }
  void keep(bool kept) override { real_->keep(kept); }

 private:
  std::unique_ptr<SegmentSink> real_;
  std::shared_ptr<device::Emulator> device_;
};

class EmulatedStore final : public Store {
 public:
  EmulatedStore(std::unique_ptr<Store> real, std::shared_ptr<device::Emulator> device)
      : real_(std::move(real)), device_(std::move(device)) {}

  const Properties& properties() const override { return real_->properties(); }
  base::Status prepare() override { return real_->prepare(); }
  base::Result<std::unique_ptr<SegmentSink>> begin(const segment::Manifest& manifest,
                                                   std::uint64_t file_bytes) override {
    PERDURE_TRY(auto sink, real_->begin(manifest, file_bytes));
    return std::make_unique<EmulatedSink>(std::move(sink), device_);
  }
  base::Result<std::unique_ptr<SegmentSink>> resume(const segment::Manifest& manifest,
                                                    std::uint64_t file_bytes) override {
    PERDURE_TRY(auto sink, real_->resume(manifest, file_bytes));
    return std::make_unique<EmulatedSink>(std::move(sink), device_);
  }
  base::Result<std::vector<std::unique_ptr<segment::ByteSource>>> unpublished(const segment::VersionId& id,
                                                                              std::uint32_t index,
                                                                              std::uint32_t count) override {
    return real_->unpublished(id, index, count);
  }
  base::Status discard(const segment::VersionId& id, std::uint32_t index, std::uint32_t count) override {
    return real_->discard(id, index, count);
  }
  base::Result<std::vector<std::string>> names() override { return real_->names(); }
  base::Result<std::vector<VersionListing>> list(const std::string& name) override { return real_->list(name); }
  base::Result<std::unique_ptr<segment::ByteSource>> open(const SegmentRef& segment) override {
    return real_->open(segment);
  }
  base::Result<std::unique_ptr<segment::ByteSource>> open_anew(const SegmentRef& segment) override {
    return real_->open_anew(segment);
  }
  base::Result<std::vector<QuarantinedSegment>> set_aside(const std::string& name) override {
    return real_->set_aside(name);
  }
  base::Status remove(const segment::VersionId& id) override { return real_->remove(id); }
  base::Status make_lasting(const segment::VersionId& id) override { return real_->make_lasting(id); }
  base::Status quarantine(const SegmentRef& segment, const segment::VersionId& id, const base::Error& why) override {
    return real_->quarantine(segment, id, why);
  }
  base::Status forget(const std::string& name, std::uint64_t until_ns) override {
    return real_->forget(name, until_ns);
  }
  base::Result<std::uint64_t> forgotten(const std::string& name) override { return real_->forgotten(name); }
  base::Result<std::optional<Owner>> owner(const std::string& name) override { return real_->owner(name); }
  Lending* lending() override { return real_->lending(); }
  Records* records() override { return real_->records(); }
  base::Status set_owner(const std::string& name, const std::optional<Owner>& expected, const Owner& next) override {
    return real_->set_owner(name, expected, next);
  }
  base::Result<std::uint64_t> incarnation(const std::string& name, Missing missing) override {
    return real_->incarnation(name, missing);
  }
  base::Result<std::vector<Residue>> residue() override { return real_->residue(); }
  base::Result<std::vector<Residue>> quarantined() override { return real_->quarantined(); }
  base::Status clean(const std::function<bool(const segment::VersionId&, std::uint32_t)>& abandoned) override {
    return real_->clean(abandoned);
  }

 private:
  std::unique_ptr<Store> real_;
  std::shared_ptr<device::Emulator> device_;
};

}  // namespace

std::unique_ptr<Store> emulate(std::unique_ptr<Store> real, std::shared_ptr<device::Emulator> device) {
  return std::make_unique<EmulatedStore>(std::move(real), std::move(device));
}

}  // namespace perdure::store
