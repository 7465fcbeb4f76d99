// Objects in S3 beyond what all objects promise (objects_test.cpp): answers, places, credentials, faults of a server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "store/s3_answers.hpp"
#include "store/s3_objects.hpp"
#include "support/s3_server.hpp"

namespace perdure::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string nothing(const char*) { return {}; }

TEST(S3Answers, AreReadAsServersWriteThem) {
  const std::string page =
      "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><EncodingType>url"
      "</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>a+b/=</NextContinuationToken>"
      "<Contents><Key>run/b%26c+d</Key><Size>12</Size><ETag>&quot;ab-2&quot;</ETag>"
      "<LastModified>2026-11-30T10:00:00.500Z</LastModified></Contents>"
      "<CommonPrefixes><Prefix>run/a/</Prefix></CommonPrefixes></ListBucketResult>";
  const std::uint64_t now_ns = parse_s3_time("2026-11-30T10:00:01.000Z");
  const auto listing = parse_s3_listing(page, now_ns, "bucket").value();
  ASSERT_EQ(listing.objects.size(), 2U);
  EXPECT_EQ(listing.objects[0].key, "run/a/");
  EXPECT_EQ(listing.objects[1].key, "run/b&c d");
  EXPECT_EQ(listing.objects[1].bytes, 12U);
  EXPECT_EQ(listing.objects[1].tag, "ab-2");
  EXPECT_EQ(listing.objects[1].age_ns, 500'000'000U);
  EXPECT_EQ(listing.next, "a+b/=");
}

TEST(S3Answers, ThatAreCutOrForeignAreErrors) {
  const std::string page =
      "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key></Contents></ListBucketResult>";
  ASSERT_TRUE(parse_s3_listing(page, 0, "bucket"));
  for (std::size_t bytes = 0; bytes < page.size(); ++bytes)
    EXPECT_FALSE(parse_s3_listing(page.substr(0, bytes), 0, "bucket")) << bytes;
  EXPECT_FALSE(parse_s3_listing("<html><body>Login</body></html>", 0, "bucket"));
  EXPECT_FALSE(parse_s3_listing("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", 0, "bucket"))
      << "it does not say how to go on";
  const auto told = parse_s3_completed("<Error><Code>InternalError</Code><Message>try</Message></Error>", "key");
  ASSERT_FALSE(told) << "an answer of status 200 may hold an error";
  EXPECT_TRUE(told.error().retryable);
  EXPECT_THAT(told.error().text(), HasSubstr("InternalError"));
}

TEST(S3Answers, KnowOnlyTheTimesThatServersWrite) {
  EXPECT_EQ(parse_s3_time("1970-01-01T00:00:01.000Z"), 1'000'000'000U);
  for (const char* text : {"", "yesterday", "2026-11-30", "1969-12-31T23:59:59Z"}) EXPECT_EQ(parse_s3_time(text), 0U);
}

TEST(S3Keys, AreEncodedAndDecoded) {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(percent_decoded(percent_encoded(all, true)), all);
  EXPECT_EQ(percent_decoded(percent_encoded(all, false)), all);
  EXPECT_EQ(percent_encoded("a/b c", false), "a/b%20c");
  EXPECT_EQ(percent_encoded("a/b", true), "a%2Fb");
}

TEST(S3Place, FollowsOptionsThenTheEnvironment) {
  const auto plain = s3_place("bucket/a/b//", nothing, nothing).value();
  EXPECT_EQ(plain.endpoint, "https://s3.us-east-1.amazonaws.com");
  EXPECT_EQ(plain.bucket, "bucket");
  EXPECT_EQ(plain.prefix, "a/b/");
  EXPECT_FALSE(plain.path_style);
  const auto variable = [](const char* name) -> std::string {
    if (name == std::string("AWS_REGION")) return "eu-west-1";
    return name == std::string("AWS_ENDPOINT_URL") ? "http://minio:9000/" : "";
  };
  const auto there = s3_place("bucket", nothing, variable).value();
  EXPECT_EQ(there.endpoint, "http://minio:9000");
  EXPECT_EQ(there.region, "eu-west-1");
  EXPECT_EQ(there.prefix, "");
  EXPECT_TRUE(there.path_style);
  const auto option = [](const char* name) -> std::string { return name == std::string("region") ? "us-west-2" : ""; };
  EXPECT_EQ(s3_place("bucket", option, variable).value().region, "us-west-2");
  EXPECT_EQ(s3_place("", nothing, nothing).error().code, PERDURE_INVALID_ARGUMENT);
  const auto wrong = [](const char* name) -> std::string { return name == std::string("endpoint") ? "minio" : ""; };
  EXPECT_EQ(s3_place("bucket", wrong, nothing).error().code, PERDURE_INVALID_ARGUMENT);
}

TEST(S3Credentials, ComeFromTheEnvironmentOrAProfile) {
  const std::string text =
      "# mine\n[default]\naws_access_key_id = one\naws_secret_access_key=two # no\n\n[other]\n"
      "aws_access_key_id=three\r\naws_secret_access_key=four\naws_session_token=five\n[half]\naws_access_key_id=x\n";
  EXPECT_EQ(parse_credentials(text, "default")->key, "one");
  EXPECT_EQ(parse_credentials(text, "other")->secret, "four");
  EXPECT_EQ(parse_credentials(text, "other")->token, "five");
  EXPECT_FALSE(parse_credentials(text, "half"));
  EXPECT_FALSE(parse_credentials(text, "none"));
  const auto missing = find_credentials([](const char* name) -> std::string {
    return name == std::string("HOME") ? "/nowhere" : name == std::string("AWS_ACCESS_KEY_ID") ? "AKIA" : "";
  });
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, PERDURE_PERMISSION);
}

TEST(S3Server, ThatIsNotThereIsAnErrorThatPasses) {
  auto place =
      s3_place(
          "bucket",
          [](const char* name) -> std::string { return name == std::string("endpoint") ? "http://127.0.0.1:1" : ""; },
          nothing)
          .value();
  const auto objects = make_s3_objects(place, []() -> base::Result<S3Credentials> {
    return S3Credentials{"a", "b", ""};
  });
  const auto listed = objects->list("", Depth::all);
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, PERDURE_UNAVAILABLE);
  EXPECT_TRUE(listed.error().retryable);
  EXPECT_EQ(listed.error().text().find("a:b"), std::string::npos) << "no secret in a text";
}

TEST(S3Server, ListsMoreKeysThanOnePageHas) {
  if (!test_support::S3Server::of_process().missing().empty())
    GTEST_SKIP() << test_support::S3Server::of_process().missing();
  const auto objects = test_support::objects_of_s3("pages");
  std::vector<std::string> keys;
  for (int i = 0; i < 1100; ++i) {
    keys.push_back("run/" + std::to_string(i));
    ASSERT_TRUE(objects->put(keys.back(), {}, PutCondition::any()));
  }
  std::sort(keys.begin(), keys.end());
  const auto listed = objects->list("run/", Depth::all).value();
  ASSERT_EQ(listed.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(listed[i].key, keys[i]);
}

TEST(S3Server, WithoutTheBucketSaysSo) {
  if (!test_support::S3Server::of_process().missing().empty())
    GTEST_SKIP() << test_support::S3Server::of_process().missing();
  auto place = s3_place(
                   "nowhere",
                   [](const char* name) -> std::string {
                     return name == std::string("endpoint") ? test_support::S3Server::of_process().endpoint() : "";
                   },
                   nothing)
                   .value();
  const auto objects = make_s3_objects(place, []() -> base::Result<S3Credentials> {
    return S3Credentials{"a", "b", ""};
  });
  const auto listed = objects->list("", Depth::all);
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, PERDURE_NOT_FOUND);
  EXPECT_THAT(listed.error().text(), HasSubstr("make the bucket"));
}

}  // namespace
}  // namespace perdure::store
