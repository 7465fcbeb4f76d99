#pragma once
// Reads the XML answers of S3, and writes the one request that has any. Pure. Inside this module only.
#include <string>
#include <vector>

#include "store/objects.hpp"

namespace perdure::store {

struct S3Error {
  std::string code, message;  ///< empty: the text is no error of S3
};
S3Error parse_s3_error(const std::string& xml);

/// A page of ListObjectsV2. Keys are decoded. `server_ns`: the server's time, for the ages.
struct S3Listing {
  std::vector<ObjectInfo> objects;  ///< ascending, folders among them
  std::string next;                 ///< continuation token; empty: this is the last page
};
base::Result<S3Listing> parse_s3_listing(const std::string& xml, std::uint64_t server_ns, const std::string& object);

/// A page of ListMultipartUploads.
struct S3Uploads {
  std::vector<OpenUpload> uploads;
  std::string next_key, next_id;  ///< markers of the next page; empty: this is the last one
};
base::Result<S3Uploads> parse_s3_uploads(const std::string& xml, std::uint64_t server_ns, const std::string& object);

/// The identity of an upload that was begun.
base::Result<std::string> parse_s3_upload_id(const std::string& xml, const std::string& object);
/// The tag of an upload that was completed. An answer of status 200 may hold an error.
base::Result<std::string> parse_s3_completed(const std::string& xml, const std::string& object);
/// The body that completes an upload of parts with these tags.
std::string s3_complete_body(const std::vector<std::string>& tags);

/// "2026-11-30T10:20:30.000Z" in nanoseconds since 1970; 0 for any other text.
std::uint64_t parse_s3_time(const std::string& text);
/// A key as part of a path; with `all`, as the value of a query.
std::string percent_encoded(std::string_view text, bool all);
std::string percent_decoded(std::string_view text);

}  // namespace perdure::store
