// A version is complete only if its segments and manifests agree.
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"
#include "support/write_segment.hpp"

namespace perdure::store {
namespace {

using segment::Manifest;
using segment::VersionId;
using test_support::sample_manifest;
using test_support::sample_version;
using test_support::write_segment;

const VersionId kVersion{"nbody", 3, {1000, 7}};

class ReadVersion : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(store_->prepare()); }
  /// Stores `manifests` under the names that `as` would have; returns the judgement of the version that is then listed
  /// first.
  base::Error judge(const std::vector<Manifest>& manifests, const std::vector<Manifest>& as) {
    for (const auto& listing : store_->list("nbody").value_or(std::vector<VersionListing>{}))
      EXPECT_TRUE(store_->remove(listing.id));
    for (std::size_t i = 0; i < manifests.size(); ++i) {
      const auto file = test_support::sample_file(manifests[i]);
      auto sink = store_->begin(as[i], file.size()).value();
      EXPECT_TRUE(sink->write(0, file));
      EXPECT_TRUE(sink->commit());
    }
    auto version = read_version(*store_, store_->list("nbody").value().at(0));
    return version ? base::Error{PERDURE_OK, "", "complete", "", false} : version.error();
  }
  base::Error judge(const std::vector<Manifest>& manifests) { return judge(manifests, manifests); }

  test_support::TemporaryDirectory directory_;
  std::unique_ptr<Store> store_ = make_store(directory_ / "store").value();
};

TEST_F(ReadVersion, AcceptsACompleteOne) { EXPECT_EQ(judge(sample_version(kVersion, 3)).cause, "complete"); }

TEST_F(ReadVersion, AcceptsManyRanksInOneSegmentInAnyDistribution) {
  EXPECT_EQ(judge({sample_manifest(kVersion, 4, 0, 2, {1, 3}, 5000, 4096),
                   sample_manifest(kVersion, 4, 1, 2, {0, 2}, 5000, 4096)})
                .cause,
            "complete");
}

TEST_F(ReadVersion, RefusesAMissingSegment) {
  const auto manifests = sample_version(kVersion, 3);
  const base::Error error = judge({manifests[0], manifests[2]});
  EXPECT_EQ(error.code, PERDURE_NOT_FOUND);
  EXPECT_EQ(error.text(), "nbody version 3: incomplete: segment 1 of 3 is missing (not-found)");
}

TEST_F(ReadVersion, RefusesAMissingLastSegment) {
  const auto manifests = sample_version(kVersion, 3);
  EXPECT_EQ(judge({manifests[0], manifests[1]}).cause, "incomplete: 2 of 3 segments are there");
}

TEST_F(ReadVersion, RefusesARankThatIsNowhere) {
  EXPECT_EQ(judge({sample_manifest(kVersion, 3, 0, 1, {0, 2}, 5000, 4096)}).cause, "rank 1 is in no segment");
  EXPECT_EQ(judge({sample_manifest(kVersion, 3, 0, 1, {0, 1}, 5000, 4096)}).cause, "rank 2 is in no segment");
  EXPECT_EQ(judge({sample_manifest(kVersion, 3, 0, 1, {}, 5000, 4096)}).cause, "rank 0 is in no segment");
}

TEST_F(ReadVersion, RefusesARankThatIsThereTwice) {
  const base::Error error = judge(
      {sample_manifest(kVersion, 3, 0, 2, {0, 1}, 5000, 4096), sample_manifest(kVersion, 3, 1, 2, {1, 2}, 5000, 4096)});
  EXPECT_EQ(error.code, PERDURE_CORRUPT);
  EXPECT_EQ(error.cause, "rank 1 appears in two segments");
}

TEST_F(ReadVersion, RefusesSegmentsThatDisagreeAboutTheRanks) {
  const base::Error error =
      judge({sample_manifest(kVersion, 2, 0, 2, {0}, 5000, 4096), sample_manifest(kVersion, 3, 1, 2, {1}, 5000, 4096)});
  EXPECT_EQ(error.code, PERDURE_CORRUPT);
  EXPECT_NE(error.cause.find("disagrees with segment 0"), std::string::npos);
}

TEST_F(ReadVersion, RefusesASegmentUnderAnotherName) {
  for (const VersionId& other : std::vector<VersionId>{{"nbody", 3, {1000, 8}}, {"nbody", 4, {1000, 7}}}) {
    const base::Error error = judge(sample_version(other, 1), sample_version(kVersion, 1));
    EXPECT_EQ(error.code, PERDURE_CORRUPT);
    EXPECT_NE(error.cause.find("the manifest disagrees with the place and name of its file: it says " + other.text()),
              std::string::npos);
  }
}

TEST_F(ReadVersion, RefusesASegmentUnderTheNumberOfAnother) {
  const auto manifests = sample_version(kVersion, 2);
  EXPECT_NE(judge({manifests[0], manifests[0]}, manifests).cause.find("disagrees with the name of its file"),
            std::string::npos);
}

TEST_F(ReadVersion, RefusesADamagedManifest) {
  auto file = test_support::sample_file(sample_version(kVersion, 1)[0]);
  file[file.size() - 4096] ^= std::byte{1};
  auto sink = store_->begin(sample_version(kVersion, 1)[0], file.size()).value();
  ASSERT_TRUE(sink->write(0, file));
  ASSERT_TRUE(sink->commit());
  auto version = read_version(*store_, store_->list("nbody").value().at(0));
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code, PERDURE_CORRUPT);
  EXPECT_NE(version.error().object.find("/store/nbody/3/0000-of-0001."), std::string::npos);
}

}  // namespace
}  // namespace perdure::store
