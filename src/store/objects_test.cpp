// Tests the promises that all objects keep. A new kind is one line in kMembers.
#include "store/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "os/system.hpp"
#include "store/retrying_objects.hpp"
#include "support/memory_objects.hpp"
#include "support/s3_server.hpp"

namespace perdure::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct ObjectsMember {
  const char* name;
  std::shared_ptr<Objects> (*open)(const std::string& bucket);
};
void PrintTo(const ObjectsMember& member, std::ostream* out) { *out << member.name; }

std::shared_ptr<Objects> open_in_memory(const std::string& bucket) {
  return std::make_shared<test_support::MemoryObjects>(test_support::memory_bucket(bucket));
}

const ObjectsMember kObjects[] = {
    {"memory", open_in_memory},
    {"retrying",
     [](const std::string& bucket) { return retrying(open_in_memory(bucket), kUsualRetries, [](std::uint64_t) {}); }},
    {"s3", test_support::objects_of_s3},
};

class ObjectsConformance : public testing::TestWithParam<ObjectsMember> {
 protected:
  void SetUp() override {
    if (std::string(GetParam().name) == "s3" && !test_support::S3Server::of_process().missing().empty())
      GTEST_SKIP() << test_support::S3Server::of_process().missing();
    objects_ = open();
  }
  std::shared_ptr<Objects> open() { return GetParam().open(bucket_); }
  std::string text_of(const std::string& key) {
    const auto whole = get_whole(*objects_, key, 32 << 20);
    return whole && *whole ? (*whole)->text : "none";
  }
  std::vector<std::string> keys(const std::string& prefix, Depth depth) {
    std::vector<std::string> found;
    const auto listed = objects_->list(prefix, depth).value();
    for (const ObjectInfo& one : listed) found.push_back(one.key);
    return found;
  }
  std::string put(const std::string& key, const std::string& text) {
    return objects_->put(key, base::as_bytes(text), PutCondition::any()).value();
  }
  const std::string bucket_ = "b" + std::to_string(os::random_u64());
  std::shared_ptr<Objects> objects_;
};

TEST_P(ObjectsConformance, GiveBackWhatWasPut) {
  EXPECT_EQ(objects_->stat("a/b").error().code, PERDURE_NOT_FOUND);
  const std::string tag = put("a/b", "0123456789");
  const auto there = open()->stat("a/b").value();
  EXPECT_EQ(there.bytes, 10U);
  EXPECT_EQ(there.tag, tag);
  std::vector<std::byte> part(4);
  ASSERT_TRUE(objects_->get("a/b", 3, part, tag));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(part.data()), part.size()), "3456");
  ASSERT_TRUE(objects_->get("a/b", 3, part, ""));
  EXPECT_FALSE(objects_->get("a/b", 7, part, "")) << "it ends before";
  EXPECT_EQ(objects_->get("a/c", 0, part, "").error().code, PERDURE_NOT_FOUND);
}

TEST_P(ObjectsConformance, GiveAnotherTagToOtherBytes) {
  const std::string first = put("key", "more"), second = put("key", "less");
  EXPECT_NE(first, second);
  EXPECT_EQ(put("key", "less") != second, objects_->properties().tags_tell_puts);
  put("key", "less");
  std::vector<std::byte> part(4);
  EXPECT_EQ(objects_->get("key", 0, part, first).error().code, PERDURE_NOT_FOUND);
  EXPECT_TRUE(objects_->get("key", 0, part, objects_->stat("key").value().tag));
}

TEST_P(ObjectsConformance, ReplaceOnlyUnderTheCondition) {
  ASSERT_TRUE(objects_->put("key", base::as_bytes(std::string("one")), PutCondition::absent()));
  EXPECT_EQ(objects_->put("key", base::as_bytes(std::string("two")), PutCondition::absent()).error().code,
            PERDURE_EXISTS);
  EXPECT_EQ(text_of("key"), "one");
  const std::string tag = objects_->stat("key").value().tag;
  ASSERT_TRUE(objects_->put("key", base::as_bytes(std::string("three")), PutCondition::tagged(tag)));
  EXPECT_EQ(objects_->put("key", base::as_bytes(std::string("four")), PutCondition::tagged(tag)).error().code,
            PERDURE_EXISTS);
  EXPECT_EQ(text_of("key"), "three");
  ASSERT_TRUE(objects_->remove("key"));
  EXPECT_TRUE(objects_->remove("key")) << "repeatable";
  EXPECT_FALSE(objects_->put("key", {}, PutCondition::tagged(tag))) << "there is none with that tag";
  EXPECT_EQ(text_of("key"), "none");
}

TEST_P(ObjectsConformance, LetOneOfManyPutWhatIsAbsent) {
  std::atomic<int> winners = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i)
    all.emplace_back([&, i] {
      if (open()->put("key", base::as_bytes(std::to_string(i)), PutCondition::absent())) ++winners;
    });
  for (auto& thread : all) thread.join();
  EXPECT_EQ(winners, 1);
}

TEST_P(ObjectsConformance, PublishAnUploadAtOnce) {
  const std::uint64_t part = objects_->properties().least_part_bytes;
  const std::string first(part, 'a'), second(part + 1, 'b'), last("c");
  auto upload = objects_->begin("key").value();
  ASSERT_TRUE(upload->put(2, base::as_bytes(last)));
  ASSERT_TRUE(upload->put(0, base::as_bytes(second)));
  ASSERT_TRUE(upload->put(1, base::as_bytes(second)));
  ASSERT_TRUE(upload->put(0, base::as_bytes(first))) << "the last one sent of a number counts";
  EXPECT_EQ(text_of("key"), "none");
  const auto open_ones = open()->uploads("k").value();
  ASSERT_EQ(open_ones.size(), 1U);
  EXPECT_EQ(open_ones[0].key, "key");
  EXPECT_THAT(objects_->uploads("other").value(), IsEmpty());
  ASSERT_TRUE(upload->complete(3, PutCondition::absent()));
  EXPECT_TRUE(text_of("key") == first + second + last);
  EXPECT_THAT(objects_->uploads("").value(), IsEmpty());
}

TEST_P(ObjectsConformance, KeepAnUploadWhoseConditionDoesNotHold) {
  const std::string tag = put("key", "there");
  auto upload = objects_->begin("key").value();
  ASSERT_TRUE(upload->put(0, base::as_bytes(std::string("new"))));
  EXPECT_EQ(upload->complete(1, PutCondition::absent()).error().code, PERDURE_EXISTS);
  if (GetParam().name != std::string("s3")) {  // moto completes an upload whatever If-Match says
    EXPECT_EQ(upload->complete(1, PutCondition::tagged("another")).error().code, PERDURE_EXISTS);
  }
  EXPECT_EQ(text_of("key"), "there");
  ASSERT_TRUE(upload->complete(1, PutCondition::tagged(tag)));
  EXPECT_EQ(text_of("key"), "new");
}

TEST_P(ObjectsConformance, ForgetAnUploadThatIsGivenUp) {
  auto upload = objects_->begin("key").value();
  ASSERT_TRUE(upload->put(0, base::as_bytes(std::string("new"))));
  upload.reset();
  EXPECT_THAT(objects_->uploads("").value(), IsEmpty());
  auto other = objects_->begin("key").value();
  ASSERT_TRUE(other->put(0, base::as_bytes(std::string("new"))));
  const auto left = open()->uploads("").value();
  ASSERT_EQ(left.size(), 1U);
  ASSERT_TRUE(open()->abort(left[0]));
  EXPECT_TRUE(open()->abort(left[0])) << "repeatable";
  const auto completed = other->complete(1, PutCondition::any());
  ASSERT_FALSE(completed);
  if (GetParam().name != std::string("s3")) {  // moto fails by itself
    EXPECT_EQ(completed.error().code, PERDURE_NOT_FOUND);
  }
  EXPECT_EQ(text_of("key"), "none");
}

TEST_P(ObjectsConformance, ListKeysInOrderAndFoldersOnce) {
  for (const char* key : {"b/2", "a", "b/10/x", "b/10/y", "b.c", "c/1"}) put(key, key);
  EXPECT_THAT(keys("", Depth::all), ElementsAre("a", "b.c", "b/10/x", "b/10/y", "b/2", "c/1"));
  EXPECT_THAT(keys("", Depth::one), ElementsAre("a", "b.c", "b/", "c/"));
  EXPECT_THAT(keys("b/", Depth::one), ElementsAre("b/10/", "b/2"));
  EXPECT_THAT(keys("b/1", Depth::all), ElementsAre("b/10/x", "b/10/y"));
  EXPECT_THAT(keys("d", Depth::all), IsEmpty());
}

TEST_P(ObjectsConformance, RefuseToReadAWholeThatIsTooLarge) {
  put("key", "0123456789");
  EXPECT_EQ(get_whole(*objects_, "key", 9).error().code, PERDURE_CORRUPT);
  EXPECT_EQ(get_whole(*objects_, "key", 10).value()->text, "0123456789");
  EXPECT_EQ(get_whole(*objects_, "other", 10).value(), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Members, ObjectsConformance, testing::ValuesIn(kObjects),
                         [](const auto& member) { return std::string(member.param.name); });

}  // namespace
}  // namespace perdure::store
