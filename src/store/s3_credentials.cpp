#include "store/s3_credentials.hpp"

#include <sstream>

#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::store {
namespace {

constexpr std::size_t kMostFileBytes = 1 << 20;

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace

std::optional<S3Credentials> parse_credentials(const std::string& text, const std::string& profile) {
  S3Credentials found;
  std::istringstream lines(text);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      inside = trimmed(line.substr(1, line.size() - 2)) == profile;
      continue;
    }
    const std::size_t equals = line.find('=');
    if (!inside || equals == std::string::npos) continue;
    const std::string name = trimmed(line.substr(0, equals)), value = trimmed(line.substr(equals + 1));
    if (name == "aws_access_key_id") found.key = value;
    if (name == "aws_secret_access_key") found.secret = value;
    if (name == "aws_session_token") found.token = value;
  }
  if (found.key.empty() || found.secret.empty()) return std::nullopt;
  return found;
}

base::Result<S3Credentials> find_credentials(const Variable& variable) {
  S3Credentials given{variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"), variable("AWS_SESSION_TOKEN")};
  if (!given.key.empty() && !given.secret.empty()) return given;
  std::string path = variable("AWS_SHARED_CREDENTIALS_FILE"), profile = variable("AWS_PROFILE");
  if (path.empty()) path = variable("HOME") + "/.aws/credentials";
  if (profile.empty()) profile = "default";
  const auto content = os::read_file(path, kMostFileBytes);
  if (!content && content.error().code != PERDURE_NOT_FOUND) return base::fail(content.error());
  if (content) {
    const std::string text(reinterpret_cast<const char*>(content->data()), content->size());
    if (auto found = parse_credentials(text, profile)) return std::move(*found);
  }
  return base::fail(
      PERDURE_PERMISSION, "credentials of S3",
      "neither AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY nor profile '" + profile + "' in " + path + " has them",
      "set the two variables, or run: aws configure");
}

}  // namespace perdure::store
