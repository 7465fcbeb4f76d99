// A store of versions in objects beyond what every store promises (conformance_test.cpp): deaths at each call, answers
// that get lost, damage.
#include "store/versions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/forwarding_objects.hpp"
#include "store/object_keys.hpp"
#include "store/retrying_objects.hpp"
#include "store/version_upload.hpp"
#include "support/memory_objects.hpp"
#include "support/write_segment.hpp"

namespace perdure::store {
namespace {

using base::Result;
using base::Status;
using segment::Manifest;
using segment::VersionId;
using test_support::check_version;
using test_support::MemoryBucket;
using test_support::MemoryObjects;
using test_support::sample_version;
using test_support::write_segment;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

const VersionId kFirstAttempt{"nbody", 1, {1000, 7}}, kSecondAttempt{"nbody", 2, {2000, 7}},
    kThirdAttempt{"nbody", 3, {3000, 7}};
constexpr std::uint64_t kSeveralParts = 40 * base::KiB;  // of 16 KiB

/// Counts the calls that change something, and fails one of them, or it and all behind.
class FaultyObjects final : public ForwardingObjects {
 public:
  enum class Fault { dead_before, dead_after, answer_lost };
  FaultyObjects(std::shared_ptr<Objects> real, Fault fault, std::uint64_t at)
      : ForwardingObjects(std::move(real)), fault_(fault), at_(at) {}
  std::uint64_t calls() const { return calls_; }

  Status get(const std::string& key, std::uint64_t offset, base::ByteSpan target, const std::string& tag) override {
    if (dead_) return dead();
    return real().get(key, offset, target, tag);
  }
  Result<std::string> put(const std::string& key, base::ConstByteSpan bytes, const PutCondition& condition) override {
    return changing([&] { return real().put(key, bytes, condition); });
  }
  Result<std::unique_ptr<Upload>> begin(const std::string& key) override {
    PERDURE_TRY(auto upload, changing([&] { return real().begin(key); }));
    return std::make_unique<FaultyUpload>(*this, std::move(upload));
  }
  Result<std::vector<ObjectInfo>> list(const std::string& prefix, Depth depth) override {
    if (dead_) return base::fail(dead().error());
    return real().list(prefix, depth);
  }
  Status remove(const std::string& key) override {
    return changing([&] { return real().remove(key); });
  }
  Result<ObjectInfo> stat(const std::string& key) override {
    if (dead_) return base::fail(dead().error());
    return real().stat(key);
  }

 private:
  class FaultyUpload final : public Upload {
   public:
    FaultyUpload(FaultyObjects& objects, std::unique_ptr<Upload> real) : objects_(objects), real_(std::move(real)) {}
    ~FaultyUpload() override {
      if (objects_.dead_) objects_.left_.push_back(std::move(real_));  // a dead process gives nothing up
    }
    Status put(std::uint32_t number, base::ConstByteSpan bytes) override {
      return objects_.changing([&] { return real_->put(number, bytes); });
    }
    Result<std::string> complete(std::uint32_t parts, const PutCondition& condition) override {
      return objects_.changing([&] { return real_->complete(parts, condition); });
    }

   private:
    FaultyObjects& objects_;
    std::unique_ptr<Upload> real_;
  };

  static Status dead() { return base::fail(PERDURE_UNAVAILABLE, "objects", "no answer came", "", true); }
  template <class Call>
  auto changing(const Call& call) -> decltype(call()) {
    if (dead_) return base::fail(dead().error());
    const bool now = calls_++ == at_;
    if (!now) return call();
    dead_ = fault_ != Fault::answer_lost;
    if (fault_ != Fault::dead_before) (void)call();
    return base::fail(dead().error());
  }

  std::vector<std::unique_ptr<Upload>> left_;  // of a dead process, until nobody looks any more
  const Fault fault_;
  const std::uint64_t at_;
  std::uint64_t calls_ = 0;
  bool dead_ = false;
};

constexpr std::int64_t kTwoHours_ns = 7'200'000'000'000;

/// How far a life came.
struct Done {
  bool wrote_first = false, set_aside = false, mended = false, wrote_second = false, began_removal = false,
       removed = false, wrote_third = false, began_forgetting = false, forgot = false;
};

/// Writes, damages, mends, removes and forgets; stops at the first error.
Status live(Versions& store, Done& done) {
  const base::Error why{PERDURE_CORRUPT, "here", "damaged", "", false};
  const auto first = sample_version(kFirstAttempt, 2);
  for (const Manifest& manifest : first) PERDURE_CHECK(write_segment(store, manifest));
  done.wrote_first = true;
  PERDURE_TRY(const auto listed, store.list("nbody"));
  PERDURE_CHECK(store.quarantine(listed.at(0).segments[1], kFirstAttempt, why));
  done.set_aside = true;
  PERDURE_CHECK(write_segment(store, first[1]));
  done.mended = true;
  PERDURE_CHECK(write_segment(store, sample_version(kSecondAttempt, 1, kSeveralParts)[0], 5000));
  done.wrote_second = true;
  done.began_removal = true;
  PERDURE_CHECK(store.remove(kFirstAttempt));
  done.removed = true;
  PERDURE_CHECK(write_segment(store, sample_version(kThirdAttempt, 1)[0]));
  done.wrote_third = true;
  done.began_forgetting = true;
  PERDURE_CHECK(store.forget("nbody", kSecondAttempt.attempt.created_ns));
  done.forgot = true;
  return {};
}

/// The versions that are whole. Those that say so are read.
std::vector<std::uint64_t> whole_versions(Versions& store) {
  std::vector<std::uint64_t> versions;
  const auto listings = store.list("nbody");
  if (!listings) return versions;
  for (const auto& listing : *listings) {
    if (!listing.all_present()) continue;
    EXPECT_EQ(check_version(store, listing), "");
    versions.push_back(listing.id.version);
  }
  return versions;
}

void expect_promises(Versions& store, const Done& done) {
  const auto whole = whole_versions(store);
  const auto has = [&](std::uint64_t version) { return std::count(whole.begin(), whole.end(), version) == 1; };
  EXPECT_TRUE(!done.mended || done.began_removal || has(1));
  EXPECT_TRUE(!done.removed || !has(1));
  EXPECT_TRUE(!done.wrote_second || done.began_forgetting || has(2));
  EXPECT_TRUE(!done.wrote_third || has(3));
  EXPECT_TRUE(!done.forgot || !has(2));
  const auto residue = store.residue().value();
  for (const Residue& one : residue) EXPECT_EQ(one.kind, Residue::Kind::quarantined) << one.path;
  EXPECT_TRUE(!done.set_aside || !residue.empty());
}

TEST(VersionsInObjects, AreCompleteOrInvisibleWhereverTheirWriterDies) {
  for (const auto fault : {FaultyObjects::Fault::dead_before, FaultyObjects::Fault::dead_after}) {
    std::uint64_t at = 0;
    for (bool finished = false; !finished; ++at) {
      const auto bucket = std::make_shared<MemoryBucket>();
      const auto faulty = std::make_shared<FaultyObjects>(std::make_shared<MemoryObjects>(bucket), fault, at);
      Done done;
      {
        Versions store(faulty);
        finished = live(store, done).has_value();
      }
      SCOPED_TRACE("call " + std::to_string(at));
      Versions after(std::make_shared<MemoryObjects>(bucket));
      (void)whole_versions(after);         // before anybody cleans
      os::shift_wall_clock(kTwoHours_ns);  // nobody copies into quarantine any more
      const auto cleaned = after.clean([](const VersionId&, std::uint32_t) { return true; });
      os::shift_wall_clock(-kTwoHours_ns);
      ASSERT_TRUE(cleaned);
      expect_promises(after, done);
      if (HasFailure()) return;
      Done again;  // the next launch writes the same versions
      if (done.began_forgetting) continue;
      const auto repeated = live(after, again);
      ASSERT_TRUE(repeated) << repeated.error().text();
      expect_promises(after, again);
    }
    EXPECT_GT(at, 30U);
  }
}

TEST(VersionsInObjects, LoseNothingWhenAnAnswerIsLost) {
  for (std::uint64_t at = 0;; ++at) {
    const auto bucket = std::make_shared<MemoryBucket>();
    const auto faulty =
        std::make_shared<FaultyObjects>(std::make_shared<MemoryObjects>(bucket), FaultyObjects::Fault::answer_lost, at);
    std::vector<std::uint64_t> pauses;
    Versions store(retrying(faulty, kUsualRetries, [&](std::uint64_t ns) { pauses.push_back(ns); }));
    Done done;
    const auto lived = live(store, done);
    ASSERT_TRUE(lived) << at << ": " << lived.error().text();
    ASSERT_TRUE(store.clean([](const VersionId&, std::uint32_t) { return true; }));
    expect_promises(store, done);
    if (HasFailure() || faulty->calls() <= at) return;
    EXPECT_EQ(pauses.size(), 1U);
  }
}

TEST(VersionsInObjects, SetADamagedSegmentAsideThatStandsWhereAnotherIsPublished) {
  const auto bucket = std::make_shared<MemoryBucket>();
  const auto objects = std::make_shared<MemoryObjects>(bucket);
  Versions store(objects);
  const Manifest manifest = sample_version(kFirstAttempt, 1)[0];
  auto damaged = test_support::sample_file(manifest);
  damaged[5000] ^= std::byte{1};
  ASSERT_TRUE(objects->put(segment_key(kFirstAttempt, 0, 1), damaged, PutCondition::absent()));
  ASSERT_TRUE(write_segment(store, manifest));
  EXPECT_THAT(whole_versions(store), ElementsAre(1));
  const auto aside = store.residue().value();
  ASSERT_EQ(aside.size(), 1U);
  EXPECT_EQ(aside[0].kind, Residue::Kind::quarantined);
  EXPECT_THAT(aside[0].report_text, testing::HasSubstr("\"code\": \"corrupt\""));
  std::vector<std::byte> kept(damaged.size());
  const std::string key = aside[0].path.substr(objects->properties().location.size() + 1);
  ASSERT_TRUE(objects->get(key, 0, kept, ""));
  EXPECT_EQ(kept, damaged);
}

TEST(VersionsInObjects, KeepWhatReplacedADamagedSegmentWhileItWasSetAside) {
  /// Mends the segment once its report is put.
  class Overtaken final : public ForwardingObjects {
   public:
    Overtaken(std::shared_ptr<Objects> real, std::function<void()> mend)
        : ForwardingObjects(std::move(real)), mend_(std::move(mend)) {}
    Result<std::string> put(const std::string& key, base::ConstByteSpan bytes, const PutCondition& condition) override {
      auto done = real().put(key, bytes, condition);
      if (key.ends_with(".json"))
        if (const auto mend = std::exchange(mend_, {})) mend();
      return done;
    }

   private:
    std::function<void()> mend_;
  };
  const auto objects = std::make_shared<MemoryObjects>(std::make_shared<MemoryBucket>());
  Versions store(objects);
  const Manifest manifest = sample_version(kFirstAttempt, 1)[0];
  ASSERT_TRUE(write_segment(store, manifest));
  const auto segment = store.list("nbody").value().at(0).segments[0];
  const base::Error why{PERDURE_CORRUPT, "here", "damaged", "", false};
  Versions finder(std::make_shared<Overtaken>(objects, [&] {
    ASSERT_TRUE(store.quarantine(segment, kFirstAttempt, why));
    ASSERT_TRUE(write_segment(store, manifest));
  }));
  EXPECT_EQ(finder.quarantine(segment, kFirstAttempt, why).error().code, PERDURE_NOT_FOUND);
  EXPECT_THAT(whole_versions(store), ElementsAre(1));
}

TEST(VersionsInObjects, SetNothingAsideThatCouldNotBeReadTwice) {
  /// Gives one wrong byte, and no answer to the first request of the next reading.
  class Doubtful final : public ForwardingObjects {
   public:
    using ForwardingObjects::ForwardingObjects;
    Status get(const std::string& key, std::uint64_t offset, base::ByteSpan target, const std::string& tag) override {
      if (std::exchange(silent_, false)) return base::fail(PERDURE_UNAVAILABLE, key, "no answer came", "", true);
      PERDURE_CHECK(real().get(key, offset, target, tag));
      constexpr std::uint64_t kByte = 5000;
      if (!wrong_ && offset <= kByte && kByte - offset < target.size()) {
        target[kByte - offset] ^= std::byte{1};
        wrong_ = true;
      }
      return {};
    }
    Result<ObjectInfo> stat(const std::string& key) override {
      silent_ = wrong_;
      return real().stat(key);
    }

   private:
    bool wrong_ = false, silent_ = false;
  };
  const auto objects = std::make_shared<MemoryObjects>(std::make_shared<MemoryBucket>());
  Versions store(objects);
  const Manifest manifest = sample_version({"nbody", 1, {1000, 7}}, 1)[0];
  ASSERT_TRUE(write_segment(store, manifest));
  Versions doubtful(std::make_shared<Doubtful>(objects));
  const auto written = write_segment(doubtful, manifest);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, PERDURE_UNAVAILABLE);
  EXPECT_THAT(store.residue().value(), IsEmpty());
  EXPECT_THAT(whole_versions(store), ElementsAre(1));
}

TEST(VersionsInObjects, KeepWhatWasPublishedSinceAnotherFinishedTheRemoval) {
  /// Lets another engine act once the segments of a version were listed.
  class Slow final : public ForwardingObjects {
   public:
    Slow(std::shared_ptr<Objects> real, std::function<void()> meanwhile)
        : ForwardingObjects(std::move(real)), meanwhile_(std::move(meanwhile)) {}
    Result<std::vector<ObjectInfo>> list(const std::string& prefix, Depth depth) override {
      auto listed = real().list(prefix, depth);
      if (prefix == version_prefix(kFirstAttempt))
        if (const auto meanwhile = std::exchange(meanwhile_, {})) meanwhile();
      return listed;
    }

   private:
    std::function<void()> meanwhile_;
  };
  const auto objects = std::make_shared<MemoryObjects>(std::make_shared<MemoryBucket>());
  Versions store(objects);
  const Manifest manifest = sample_version(kFirstAttempt, 1)[0];
  ASSERT_TRUE(write_segment(store, manifest));
  ASSERT_TRUE(objects->put(name_prefix("nbody") + retired_mark(kFirstAttempt), {}, PutCondition::any()));
  const auto never = [](const VersionId&, std::uint32_t) { return false; };
  Versions cleaner(std::make_shared<Slow>(objects, [&] { ASSERT_TRUE(write_segment(store, manifest)); }));
  ASSERT_TRUE(cleaner.clean(never));
  EXPECT_THAT(whole_versions(store), ElementsAre(1));
}

TEST(VersionsInObjects, RefuseASegmentThatWasNotWrittenWhole) {
  const auto bucket = std::make_shared<MemoryBucket>();
  Versions store(std::make_shared<MemoryObjects>(bucket));
  const Manifest manifest = sample_version(kFirstAttempt, 1, kSeveralParts)[0];
  const auto file = test_support::sample_file(manifest);
  {
    auto sink = store.begin(manifest, file.size()).value();
    ASSERT_TRUE(sink->write(0, base::ConstByteSpan(file).first(20 * base::KiB)));
    ASSERT_TRUE(sink->write(20 * base::KiB + 1, base::ConstByteSpan(file).subspan(20 * base::KiB + 1)));
    EXPECT_EQ(sink->commit().error().code, PERDURE_INTERNAL);
  }
  EXPECT_THAT(whole_versions(store), IsEmpty());
  EXPECT_THAT(store.residue().value(), IsEmpty());
}

TEST(Coverage, JoinsWhatTouches) {
  Coverage there;
  EXPECT_TRUE(there.reaches(0));
  there.add(10, 20);
  there.add(30, 40);
  EXPECT_FALSE(there.reaches(20));
  there.add(0, 10);
  EXPECT_TRUE(there.reaches(20));
  EXPECT_FALSE(there.reaches(21));
  there.add(15, 35);
  EXPECT_TRUE(there.reaches(40));
  there.add(5, 8);
  EXPECT_TRUE(there.reaches(40));
  EXPECT_FALSE(there.reaches(41));
}

TEST(PartBytes, AreEnoughForTheMostParts) {
  ObjectsProperties properties;
  EXPECT_EQ(part_bytes(base::MiB, properties), 8 * base::MiB);
  const std::uint64_t large = 5'000'000'000'000;
  EXPECT_LE((large + part_bytes(large, properties) - 1) / part_bytes(large, properties), properties.most_parts);
  properties.least_part_bytes = 9 * base::MiB + 1;
  EXPECT_EQ(part_bytes(0, properties), 9 * base::MiB + 4096);
}

TEST(RetryingObjects, GiveUpAfterTheirTimeWithPausesOfAnyLengthUpToTheLimit) {
  /// Never answers.
  class Silent final : public ForwardingObjects {
   public:
    using ForwardingObjects::ForwardingObjects;
    Result<ObjectInfo> stat(const std::string& key) override {
      ++calls;
      return base::fail(PERDURE_UNAVAILABLE, key, "no answer came", "", true);
    }
    int calls = 0;
  };
  const auto silent = std::make_shared<Silent>(std::make_shared<MemoryObjects>(std::make_shared<MemoryBucket>()));
  std::int64_t shifted_ns = 0;
  const auto objects = retrying(silent, kUsualRetries, [&](std::uint64_t ns) {
    EXPECT_LE(ns, kUsualRetries.maximum_ns);
    os::shift_monotonic_clock(kUsualRetries.maximum_ns);
    shifted_ns += static_cast<std::int64_t>(kUsualRetries.maximum_ns);
  });
  EXPECT_EQ(objects->stat("key").error().code, PERDURE_UNAVAILABLE);
  os::shift_monotonic_clock(-shifted_ns);
  EXPECT_GE(silent->calls, 12);
  EXPECT_LE(silent->calls, 15);
}

}  // namespace
}  // namespace perdure::store
