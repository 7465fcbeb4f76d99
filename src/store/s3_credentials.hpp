#pragma once
// Finds the credentials of S3 where its other clients find them. Inside this module only.
#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace perdure::store {

struct S3Credentials {
  std::string key, secret;
  std::string token;  ///< of credentials that end; empty: they do not
};

/// Gives the value of a variable of the environment; empty: it is not set.
using Variable = std::function<std::string(const char* name)>;

/// The profile's entries in a file of the form of ~/.aws/credentials. Nothing: it has no such profile, or no key. Pure.
std::optional<S3Credentials> parse_credentials(const std::string& text, const std::string& profile);

/// Looks at AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, then at the file that
/// AWS_SHARED_CREDENTIALS_FILE names, else at ~/.aws/credentials, for the profile AWS_PROFILE ("default"). Fails with
/// PERDURE_PERMISSION if there are none. No text of it has a secret.
base::Result<S3Credentials> find_credentials(const Variable& variable);

}  // namespace perdure::store
