#include "client/write/direct_write.hpp"

#include "client/write/version_writer.hpp"
#include "os/crash_point.hpp"

namespace perdure::client {

base::Status DirectWrite::write(const segment::VersionId& id, const Opened& /*opened*/) {
  std::optional<PlacedSource> regions;
  std::optional<VersionWriter> writer;
  const base::Status captured = base::caught("checkpoint", [&]() -> base::Status {
    writer.emplace(job_, source_ == nullptr ? regions.emplace(regions_, places_) : *source_);
    PERDURE_CHECK(writer->begin(id));
    PERDURE_CHECK(writer->put_all());
    if (source_ != nullptr) PERDURE_CHECK(source_->was_read());
    bytes_ = writer->bytes();
    return writer->stage();
  });
  os::crash_point(os::CrashPoint::checkpoint_staged);
  // All ranks know the outcome then, and tell their engine.
  const auto agreed = agree_on(job_.comm(), captured, writer && !writer->busy());
  if (agreed && !replicates_in_call(job_)) job_.comm().last();
  return base::caught("checkpoint", [&]() -> base::Status {
    if (agreed) return writer->commit(*agreed);
    if (writer) writer->abort();
    return base::fail(agreed.error());
  });
}

}  // namespace perdure::client
