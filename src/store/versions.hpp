#pragma once
// A store of checkpoints in objects (objects.hpp): segments, marks and records are objects under the keys that a posix
// store gives its files. Made by who knows the objects.
#include "store/objects.hpp"
#include "store/store.hpp"

namespace perdure::store {

class Versions final : public Store, private Records {
 public:
  explicit Versions(std::shared_ptr<Objects> objects);
  const Properties& properties() const override { return properties_; }
  base::Status prepare() override;
  base::Result<std::unique_ptr<SegmentSink>> begin(const segment::Manifest& manifest,
                                                   std::uint64_t file_bytes) override;
  base::Result<std::unique_ptr<SegmentSink>> resume(const segment::Manifest& manifest,
                                                    std::uint64_t file_bytes) override;
  base::Result<std::vector<std::unique_ptr<segment::ByteSource>>> unpublished(const segment::VersionId& id,
                                                                              std::uint32_t index,
                                                                              std::uint32_t count) override;
  base::Status discard(const segment::VersionId& id, std::uint32_t index, std::uint32_t count) override;
  base::Result<std::vector<std::string>> names() override;
  base::Result<std::vector<VersionListing>> list(const std::string& name) override;
  base::Result<std::unique_ptr<segment::ByteSource>> open(const SegmentRef& segment) override;
  base::Result<std::unique_ptr<segment::ByteSource>> open_anew(const SegmentRef& segment) override;
  base::Status remove(const segment::VersionId& id) override;
  base::Status make_lasting(const segment::VersionId& id) override;
  base::Status quarantine(const SegmentRef& segment, const segment::VersionId& id, const base::Error& why) override;
  base::Result<std::vector<QuarantinedSegment>> set_aside(const std::string& name) override;
  base::Status forget(const std::string& name, std::uint64_t until_ns) override;
  base::Result<std::uint64_t> forgotten(const std::string& name) override;
  base::Result<std::optional<Owner>> owner(const std::string& name) override;
  base::Status set_owner(const std::string& name, const std::optional<Owner>& expected, const Owner& next) override;
  base::Result<std::uint64_t> incarnation(const std::string& name, Missing missing) override;
  base::Result<std::vector<Residue>> residue() override;
  base::Status clean(const std::function<bool(const segment::VersionId&, std::uint32_t)>& abandoned) override;
  Records* records() override { return this; }

 private:
  base::Result<std::optional<Owner>> runner(const std::string& name) override;
  base::Status set_runner(const std::string& name, const std::optional<Owner>& expected, const Owner& next) override;
  base::Result<std::vector<plan::Fork>> forks(const std::string& name) override;
  base::Status set_forks(const std::string& name, const std::vector<plan::Fork>& forks) override;
  base::Result<std::uint64_t> halt(const std::string& name) override;
  base::Status set_halt(const std::string& name, std::uint64_t at_ns) override;

  const std::shared_ptr<Objects> objects_;
  const Properties properties_;
};

}  // namespace perdure::store
