#pragma once
// Keeps objects in a bucket of S3, or of a server that speaks its protocol. Inside this module only.
#include "store/http_client.hpp"
#include "store/objects.hpp"
#include "store/s3_credentials.hpp"

namespace perdure::store {

struct S3Place {
  std::string endpoint;  ///< "https://s3.eu-central-1.amazonaws.com"
  std::string region;
  std::string bucket;
  std::string prefix;      ///< before each key: empty, or ends with '/'
  bool path_style = true;  ///< the bucket is in the path, not in the host's name
  HttpLimits limits = {};
};

/// The place that a location ("bucket/prefix") and options (endpoint, region, path_style, certificates) say. Pure but
/// for `variable`. Fails with PERDURE_INVALID_ARGUMENT.
base::Result<S3Place> s3_place(const std::string& location, const std::function<std::string(const char*)>& option,
                               const Variable& variable);

/// `credentials`: asked for at the first request, and again when the server says that they ended.
std::shared_ptr<Objects> make_s3_objects(S3Place place, std::function<base::Result<S3Credentials>()> credentials);

}  // namespace perdure::store
