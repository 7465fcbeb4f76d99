#pragma once
// A posix store is a directory of a file system that several nodes see. Use it inside this module only; make_store
// makes it.
#include "store/posix_borrowed.hpp"
#include "store/posix_place.hpp"
#include "store/posix_records.hpp"
#include "store/posix_sink.hpp"
#include "store/store.hpp"

namespace perdure::store {

class PosixStore : public Store {
 public:
  /// `root`: an absolute path; need not exist. `writer`: see store::kWriter.
  explicit PosixStore(const std::string& root, Whose whose = Whose::trusted, const std::string& writer = {},
                      DirectIo direct = DirectIo::where_possible);
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
  base::Result<std::vector<QuarantinedSegment>> set_aside(const std::string& name) override;
  base::Status remove(const segment::VersionId& id) override;
  base::Status make_lasting(const segment::VersionId& id) override;
  base::Status quarantine(const SegmentRef& segment, const segment::VersionId& id, const base::Error& why) override;
  base::Status forget(const std::string& name, std::uint64_t until_ns) override;
  base::Result<std::uint64_t> forgotten(const std::string& name) override;
  base::Result<std::optional<Owner>> owner(const std::string& name) override;
  base::Status set_owner(const std::string& name, const std::optional<Owner>& expected, const Owner& next) override;
  Records* records() override { return &records_; }
  Lending* lending() override { return &lending_; }
  base::Result<std::uint64_t> incarnation(const std::string& name, Missing missing) override;
  base::Result<std::vector<Residue>> residue() override;
  base::Result<std::vector<Residue>> quarantined() override;
  base::Status clean(const std::function<bool(const segment::VersionId&, std::uint32_t)>& abandoned) override;

 private:
  const PosixPlace place_;
  const Properties properties_;
  const DirectIo direct_;
  PosixLending lending_{place_};
  PosixRecords records_{place_};
};

}  // namespace perdure::store
