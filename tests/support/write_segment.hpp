#pragma once
// Writes sample segments to any store, and compares versions with the samples.
#include <algorithm>
#include <string>
#include <vector>

#include "store/store.hpp"
#include "support/sample_segment.hpp"

namespace perdure::test_support {

/// Bytes that begin at a page boundary, like those of a tier's slots.
class PageAligned {
 public:
  explicit PageAligned(base::ConstByteSpan bytes) : memory_(bytes.size() + kPage), size_(bytes.size()) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    skipped_ = (kPage - address % kPage) % kPage;
    std::copy(bytes.begin(), bytes.end(), memory_.begin() + static_cast<std::ptrdiff_t>(skipped_));
  }
  base::ConstByteSpan span() const { return base::ConstByteSpan(memory_).subspan(skipped_, size_); }

 private:
  static constexpr std::size_t kPage = 4096;
  std::vector<std::byte> memory_;
  std::size_t size_, skipped_ = 0;
};

/// Writes the segment in blocks of `block` bytes and commits it.
inline base::Status write_segment(store::Store& store, const segment::Manifest& manifest, std::size_t block = 4096) {
  const PageAligned aligned(sample_file(manifest));
  const base::ConstByteSpan file = aligned.span();
  PERDURE_TRY(auto sink, store.begin(manifest, file.size()));
  for (std::size_t done = 0; done < file.size(); done += block)
    PERDURE_CHECK(sink->write(done, file.subspan(done, std::min(block, file.size() - done))));
  return sink->commit();
}

/// Returns the manifests of a version of `count` segments with one rank each.
inline std::vector<segment::Manifest> sample_version(const segment::VersionId& id, std::uint32_t count,
                                                     std::uint64_t bytes = 5000) {
  std::vector<segment::Manifest> manifests;
  for (std::uint32_t i = 0; i < count; ++i) manifests.push_back(sample_manifest(id, count, i, count, {i}, bytes, 4096));
  return manifests;
}

/// Returns "" if the listed version is complete, verifies, and equals the sample; otherwise the difference.
inline std::string check_version(store::Store& store, const store::VersionListing& listing) {
  auto manifests = store::read_version(store, listing);
  if (!manifests) return manifests.error().text();
  for (std::size_t i = 0; i < manifests->size(); ++i) {
    auto source = store.open(listing.segments[i]);
    if (!source) return source.error().text();
    if (auto defects = segment::verify(**source, nullptr); !defects.empty()) return defects[0].error.text();
    std::vector<std::byte> bytes((*source)->size());
    if (auto read = (*source)->read(0, bytes); !read) return read.error().text();
    if (bytes != sample_file((*manifests)[i])) return listing.segments[i].path + " holds something else";
  }
  return {};
}

}  // namespace perdure::test_support
