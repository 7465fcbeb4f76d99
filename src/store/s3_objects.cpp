// Speaks the protocol of S3 (AWS, "Amazon S3 API Reference", 2006-03-01). Conditional puts are If-None-Match and
// If-Match, for objects (since August 2024) and for the completion of uploads.
#include "store/s3_objects.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include "base/guarded.hpp"
#include "os/system.hpp"
#include "store/curl_library.hpp"
#include "store/retrying_objects.hpp"
#include "store/s3_answers.hpp"
#include "store/store.hpp"
#include "store/versions.hpp"

namespace perdure::store {
namespace {

using base::Result;
using base::Status;

/// Bodies up to this are hashed for the signature. The hash of a larger one would cost more than sending it.
constexpr std::size_t kMostSignedBytes = 256 * base::KiB;
constexpr const char* kPageKeys = "1000";
constexpr const char* kNoServer = "check that store.s3.endpoint is an S3 server";

/// Sorted by name, as the signature asks.
using Query = std::map<std::string, std::string>;

std::string sha256_hex(base::ConstByteSpan bytes) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  std::array<char, 2 * crypto_hash_sha256_BYTES + 1> hex{};
  sodium_bin2hex(hex.data(), hex.size(), hash.data(), hash.size());
  return hex.data();
}

std::string header_of(const HttpAnswer& answer, const char* name) {
  const auto found = answer.headers.find(name);
  return found == answer.headers.end() ? std::string() : found->second;
}

std::string tag_of(const HttpAnswer& answer) {
  std::string tag = header_of(answer, "etag");
  std::erase(tag, '"');
  return tag;
}

/// The time that a header says, in nanoseconds since 1970; 0: none.
std::uint64_t time_of(const HttpAnswer& answer, const char* header) {
  const auto library = curl_library();
  const auto seconds = library ? (*library)->curl_getdate(header_of(answer, header).c_str(), nullptr) : -1;
  return seconds > 0 ? static_cast<std::uint64_t>(seconds) * 1'000'000'000U : 0;
}

/// The server's time, or ours if it does not say.
std::uint64_t server_ns(const HttpAnswer& answer) {
  const std::uint64_t told_ns = time_of(answer, "date");
  return told_ns == 0 ? os::wall_clock_ns() : told_ns;
}

std::uint64_t age_of(const HttpAnswer& answer) {
  const std::uint64_t then_ns = time_of(answer, "last-modified"), now_ns = server_ns(answer);
  return then_ns != 0 && then_ns < now_ns ? now_ns - then_ns : 0;
}

/// S3 sends 307 while the name of a new bucket spreads, and 409 while another request changes the same object.
bool passes(long status) {
  constexpr std::array<long, 8> kPassing = {307, 408, 409, 429, 500, 502, 503, 504};
  return std::find(kPassing.begin(), kPassing.end(), status) != kPassing.end();
}

/// Whether the credentials may have ended. The answer to HEAD has no body that says why it failed.
bool ended(const std::string& method, const HttpAnswer& answer) {
  if (answer.status != 400 && answer.status != 401 && answer.status != 403) return false;
  if (method == "HEAD") return true;
  const std::string code = parse_s3_error(answer.body).code;
  return code == "ExpiredToken" || code == "TokenRefreshRequired" || code == "InvalidToken" || code == "RequestExpired";
}

/// How an answer fails. Pure.
base::Error error_of(const HttpAnswer& answer, const std::string& object) {
  const S3Error told = parse_s3_error(answer.body);
  const std::string cause = "the server answers " + std::to_string(answer.status) +
                            (told.code.empty() ? std::string() : " " + told.code + ": " + told.message);
  const auto is = [&](const char* code) { return told.code == code; };
  if (is("NoSuchBucket")) return {PERDURE_NOT_FOUND, object, cause, "check store.path, or make the bucket", false};
  // A part that another try of the same part replaced is as good as gone: its upload has to be made anew.
  if (answer.status == 404 || is("InvalidPart")) return {PERDURE_NOT_FOUND, object, cause, "", false};
  if (answer.status == 412) return {PERDURE_EXISTS, object, cause, "", false};
  if (is("QuotaExceeded") || is("StorageFull") || is("XMinioStorageFull") || answer.status == 507)
    return {PERDURE_NO_SPACE, object, cause, "remove versions (perdure prune), or ask for more room", true};
  if (is("RequestTimeTooSkewed")) return {PERDURE_PERMISSION, object, cause, "set this machine's clock", true};
  if (ended("GET", answer)) return {PERDURE_PERMISSION, object, cause, "renew the credentials", true};
  if (answer.status == 401 || answer.status == 403)
    return {PERDURE_PERMISSION, object, cause, "check the credentials and the bucket's policy", false};
  if (answer.status == 301)
    return {PERDURE_IO, object, cause,
            "set store.s3.region to the bucket's " + header_of(answer, "x-amz-bucket-region"), false};
  if (passes(answer.status) || is("RequestTimeout") || is("SlowDown") || is("IncompleteBody"))
    return {PERDURE_UNAVAILABLE, object, cause, "", true};
  if (answer.status == 501)
    return {PERDURE_UNSUPPORTED, object, cause, "use a server that knows conditional puts", false};
  return {PERDURE_IO, object, cause, "", false};
}

std::vector<std::string> condition_headers(const PutCondition& condition) {
  if (condition.is == PutCondition::Object::absent) return {"if-none-match: *"};
  if (condition.is == PutCondition::Object::tagged) return {"if-match: \"" + condition.tag + "\""};
  return {};
}

/// Sends the requests of one bucket.
class Bucket {
 public:
  Bucket(S3Place place, std::function<Result<S3Credentials>()> credentials)
      : place_(std::move(place)), credentials_(std::move(credentials)), client_(place_.limits) {}

  const S3Place& place() const { return place_; }
  std::string text(const std::string& key) const { return "s3://" + place_.bucket + "/" + place_.prefix + key; }

  /// Any answer of the server. Credentials that have ended are asked for anew, once.
  Result<HttpAnswer> send(const char* method, const std::string& key, const Query& query,
                          std::vector<std::string> headers = {}, base::ConstByteSpan body = {},
                          base::ByteSpan target = {}) {
    for (bool anew : {false, true}) {
      PERDURE_TRY(const S3Credentials signer, signer_now(anew));
      HttpRequest request{method, url(key, query), headers, body, target};
      request.headers.push_back("x-amz-content-sha256: " +
                                (body.size() <= kMostSignedBytes ? sha256_hex(body) : std::string("UNSIGNED-PAYLOAD")));
      if (!signer.token.empty()) request.headers.push_back("x-amz-security-token: " + signer.token);
      PERDURE_TRY(auto answer, client_.send(request, {place_.region, signer.key, signer.secret}));
      if (anew || !ended(method, answer)) return answer;
    }
    return base::fail(PERDURE_INTERNAL, text(key), "no request was sent");
  }
  /// Only an answer of success.
  Result<HttpAnswer> succeed(const char* method, const std::string& key, const Query& query,
                             std::vector<std::string> headers = {}, base::ConstByteSpan body = {}) {
    PERDURE_TRY(auto answer, send(method, key, query, std::move(headers), body));
    if (answer.status / 100 != 2) return base::fail(error_of(answer, text(key)));
    return answer;
  }

 private:
  std::string url(const std::string& key, const Query& query) const {
    std::string url = place_.endpoint;
    const std::size_t host = url.find("://") + 3;
    if (!place_.path_style) url.insert(host, place_.bucket + ".");
    if (place_.path_style) url += "/" + place_.bucket;
    url += "/" + (key.empty() ? std::string() : percent_encoded(place_.prefix + key, false));
    char before = '?';
    for (const auto& [name, value] : query) {
      url += before + name + "=" + percent_encoded(value, true);
      before = '&';
    }
    return url;
  }
  Result<S3Credentials> signer_now(bool anew) {
    const auto known = known_.lock();
    if (!*known || anew) {
      PERDURE_TRY(*known, credentials_());
    }
    return **known;
  }

  const S3Place place_;
  const std::function<Result<S3Credentials>()> credentials_;
  HttpClient client_;
  base::Guarded<std::optional<S3Credentials>> known_;
};

class S3Upload final : public Upload {
 public:
  S3Upload(std::shared_ptr<Bucket> bucket, std::string key, std::string id)
      : bucket_(std::move(bucket)), key_(std::move(key)), id_(std::move(id)) {}
  ~S3Upload() override {
    if (!completed_) (void)bucket_->send("DELETE", key_, {{"uploadId", id_}});
  }
  Status put(std::uint32_t number, base::ConstByteSpan bytes) override {
    PERDURE_TRY(
        const auto answer,
        bucket_->succeed("PUT", key_, {{"partNumber", std::to_string(number + 1)}, {"uploadId", id_}}, {}, bytes));
    const auto tags = tags_.lock();
    (*tags)[number] = tag_of(answer);
    return {};
  }
  Result<std::string> complete(std::uint32_t parts, const PutCondition& condition) override {
    std::vector<std::string> tags;
    {
      const auto sent = tags_.lock();
      for (std::uint32_t number = 0; number < parts; ++number) tags.push_back((*sent)[number]);
    }
    auto headers = condition_headers(condition);
    headers.push_back("content-type: application/xml");
    const std::string body = s3_complete_body(tags);
    PERDURE_TRY(const auto answer, bucket_->succeed("POST", key_, {{"uploadId", id_}}, headers, base::as_bytes(body)));
    PERDURE_TRY(auto tag, parse_s3_completed(answer.body, bucket_->text(key_)));
    completed_ = true;
    return tag;
  }

 private:
  const std::shared_ptr<Bucket> bucket_;
  const std::string key_, id_;
  base::Guarded<std::map<std::uint32_t, std::string>> tags_;
  bool completed_ = false;
};

class S3Objects final : public Objects {
 public:
  S3Objects(std::shared_ptr<Bucket> bucket, ObjectsProperties properties)
      : Objects(std::move(properties)), bucket_(std::move(bucket)) {}

  Status get(const std::string& key, std::uint64_t offset, base::ByteSpan target, const std::string& tag) override {
    if (target.empty()) {
      const auto there = stat(key);
      return there ? Status() : Status(base::fail(there.error()));
    }
    std::vector<std::string> headers = {"range: bytes=" + std::to_string(offset) + "-" +
                                        std::to_string(offset + target.size() - 1)};
    if (!tag.empty()) headers.push_back("if-match: \"" + tag + "\"");
    PERDURE_TRY(const auto answer, bucket_->send("GET", key, {}, std::move(headers), {}, target));
    const std::string object = bucket_->text(key);
    if (answer.status == 412) return base::fail(PERDURE_NOT_FOUND, object, "it was replaced since it was looked at");
    if (answer.status / 100 != 2) return base::fail(error_of(answer, object));
    if (answer.received == target.size() && (answer.status == 206 || offset == 0)) return {};
    // It says nothing about the object, which was not replaced: nobody may set it aside for this.
    return base::fail(PERDURE_UNAVAILABLE, object,
                      "the answer ends at byte " + std::to_string(offset + answer.received) + ", before byte " +
                          std::to_string(offset + target.size()),
                      kNoServer, true);
  }
  Result<std::string> put(const std::string& key, base::ConstByteSpan bytes, const PutCondition& condition) override {
    PERDURE_TRY(const auto answer, bucket_->succeed("PUT", key, {}, condition_headers(condition), bytes));
    return tag_of(answer);
  }
  Result<std::unique_ptr<Upload>> begin(const std::string& key) override {
    PERDURE_TRY(const auto answer, bucket_->succeed("POST", key, {{"uploads", ""}}));
    PERDURE_TRY(auto id, parse_s3_upload_id(answer.body, bucket_->text(key)));
    return std::make_unique<S3Upload>(bucket_, key, std::move(id));
  }
  Result<std::vector<ObjectInfo>> list(const std::string& prefix, Depth depth) override {
    std::vector<ObjectInfo> found;
    Query query{{"encoding-type", "url"},
                {"list-type", "2"},
                {"max-keys", kPageKeys},
                {"prefix", bucket_->place().prefix + prefix}};
    if (depth == Depth::one) query["delimiter"] = "/";
    for (;;) {
      PERDURE_TRY(const auto answer, bucket_->succeed("GET", {}, query));
      PERDURE_TRY(auto page, parse_s3_listing(answer.body, server_ns(answer), bucket_->text(prefix)));
      for (ObjectInfo& one : page.objects) {
        if (!one.key.starts_with(query["prefix"]))
          return base::fail(PERDURE_IO, bucket_->text(prefix), "the listing has other keys", kNoServer);
        one.key.erase(0, bucket_->place().prefix.size());
        found.push_back(std::move(one));
      }
      if (page.next.empty()) return found;
      if (page.next == std::exchange(query["continuation-token"], page.next)) return base::fail(endless(prefix));
    }
  }
  Status remove(const std::string& key) override {
    const auto answer = bucket_->succeed("DELETE", key, {});
    const bool gone = !answer && answer.error().code == PERDURE_NOT_FOUND;
    return answer || gone ? Status() : Status(base::fail(answer.error()));
  }
  Result<ObjectInfo> stat(const std::string& key) override {
    PERDURE_TRY(const auto answer, bucket_->succeed("HEAD", key, {}));
    const std::string length = header_of(answer, "content-length"), tag = tag_of(answer);
    if (length.empty() || tag.empty())  // not an empty object, which would stand for a segment that was set aside
      return base::fail(PERDURE_IO, bucket_->text(key), "the answer lacks a length or a tag", kNoServer);
    return ObjectInfo{key, std::strtoull(length.c_str(), nullptr, 10), tag, age_of(answer)};
  }
  Result<std::vector<OpenUpload>> uploads(const std::string& prefix) override {
    std::vector<OpenUpload> found;
    Query query{{"prefix", bucket_->place().prefix + prefix}, {"uploads", ""}};
    for (;;) {
      PERDURE_TRY(const auto answer, bucket_->succeed("GET", {}, query));
      PERDURE_TRY(auto page, parse_s3_uploads(answer.body, server_ns(answer), bucket_->text(prefix)));
      for (OpenUpload& one : page.uploads) {
        if (!one.key.starts_with(bucket_->place().prefix + prefix)) continue;  // of a server that ignores the prefix
        one.key.erase(0, bucket_->place().prefix.size());
        found.push_back(std::move(one));
      }
      if (page.next_key.empty()) return found;
      const std::string key = std::exchange(query["key-marker"], page.next_key);
      const std::string id = std::exchange(query["upload-id-marker"], page.next_id);
      if (key == page.next_key && id == page.next_id) return base::fail(endless(prefix));
    }
  }
  Status abort(const OpenUpload& upload) override {
    const auto answer = bucket_->succeed("DELETE", upload.key, {{"uploadId", upload.id}});
    const bool gone = !answer && answer.error().code == PERDURE_NOT_FOUND;
    return answer || gone ? Status() : Status(base::fail(answer.error()));
  }

 private:
  base::Error endless(const std::string& prefix) const {
    return {PERDURE_IO, bucket_->text(prefix), "the listing gives one page again and again", kNoServer, false};
  }

  const std::shared_ptr<Bucket> bucket_;
};

std::string of_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

Result<S3Place> s3_place(const std::string& location, const std::function<std::string(const char*)>& option,
                         const Variable& variable) {
  S3Place place;
  const std::size_t slash = std::min(location.find('/'), location.size());
  place.bucket = location.substr(0, slash);
  if (slash < location.size()) place.prefix = location.substr(slash + 1);
  while (place.prefix.ends_with('/')) place.prefix.pop_back();
  if (!place.prefix.empty()) place.prefix += '/';
  if (place.bucket.empty())
    return base::fail(PERDURE_INVALID_ARGUMENT, "s3://" + location, "it names no bucket",
                      "set store.path to s3://BUCKET/PREFIX");
  const auto first = [](std::initializer_list<std::string> values) {
    for (const std::string& value : values)
      if (!value.empty()) return value;
    return std::string();
  };
  place.region = first({option("region"), variable("AWS_REGION"), variable("AWS_DEFAULT_REGION"), "us-east-1"});
  const std::string given = first({option("endpoint"), variable("AWS_ENDPOINT_URL_S3"), variable("AWS_ENDPOINT_URL")});
  place.endpoint = first({given, "https://s3." + place.region + ".amazonaws.com"});
  while (place.endpoint.ends_with('/')) place.endpoint.pop_back();
  if (!place.endpoint.starts_with("http://") && !place.endpoint.starts_with("https://"))
    return base::fail(PERDURE_INVALID_ARGUMENT, "store.s3.endpoint", "'" + place.endpoint + "' is no URL",
                      "begin it with https:// or http://");
  const std::string style = option("addressing");
  place.path_style = style == "path" || (style != "host" && !given.empty());
  place.limits.certificates = first({option("certificates"), variable("AWS_CA_BUNDLE")});
  return place;
}

std::shared_ptr<Objects> make_s3_objects(S3Place place, std::function<Result<S3Credentials>()> credentials) {
  std::string location = "s3://" + place.bucket + "/" + place.prefix;
  if (location.ends_with('/')) location.pop_back();
  ObjectsProperties properties{"s3", std::move(location)};
  properties.tags_tell_puts = false;  // they are hashes of the bytes
  const auto bucket = std::make_shared<Bucket>(std::move(place), std::move(credentials));
  return std::make_shared<S3Objects>(bucket, properties);
}

Result<std::unique_ptr<Store>> make_s3_store(const std::string& place, const StoreOptions& options, Whose) {
  const auto option = [&](const char* name) {
    const auto found = options.find(std::string("s3.") + name);
    return found == options.end() ? std::string() : found->second;
  };
  PERDURE_TRY(auto where, s3_place(place, option, of_environment));
  auto objects = make_s3_objects(std::move(where), [] { return find_credentials(of_environment); });
  return std::make_unique<Versions>(retrying(std::move(objects), kUsualRetries, os::sleep_ns));
}

}  // namespace perdure::store
