#include "store/s3_answers.hpp"

#include <algorithm>
#include <array>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <sstream>

namespace perdure::store {
namespace {

using Tree = boost::property_tree::ptree;

/// Nothing: the text is no XML.
std::optional<Tree> parse_xml(const std::string& xml) {
  try {
    std::istringstream in(xml);
    Tree tree;
    boost::property_tree::read_xml(in, tree, boost::property_tree::xml_parser::trim_whitespace);
    return tree;
  } catch (const boost::property_tree::ptree_error&) {
    return std::nullopt;
  }
}

std::string text_of(const Tree& node, const char* name) { return node.get<std::string>(name, {}); }

/// Fills `found` with the root element, if that is what it has to be.
base::Status parse_root(const std::string& xml, const char* root, const std::string& object, Tree& found) {
  const auto tree = parse_xml(xml);
  if (!tree || tree->empty())
    return base::fail(PERDURE_IO, object, "the answer is no XML", "check that store.s3.endpoint is an S3 server");
  const S3Error error = parse_s3_error(xml);
  if (!error.code.empty()) {
    const std::string cause = "the server says " + error.code + ": " + error.message;
    if (error.code == "NoSuchUpload") return base::fail(PERDURE_NOT_FOUND, object, cause);
    if (error.code == "PreconditionFailed") return base::fail(PERDURE_EXISTS, object, cause);
    return base::fail(PERDURE_UNAVAILABLE, object, cause, "", true);
  }
  const auto child = tree->get_child_optional(root);
  if (!child)
    return base::fail(PERDURE_IO, object, std::string("the answer is no ") + root + ", but " + tree->back().first,
                      "check that store.s3.endpoint is an S3 server");
  found = *child;
  return {};
}

/// An entity tag without its quotes.
std::string unquoted(std::string tag) {
  std::erase(tag, '"');
  return tag;
}

std::uint64_t age(const std::string& changed, std::uint64_t server_ns) {
  const std::uint64_t then_ns = parse_s3_time(changed);
  return then_ns != 0 && then_ns < server_ns ? server_ns - then_ns : 0;
}

std::uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

}  // namespace

S3Error parse_s3_error(const std::string& xml) {
  const auto tree = parse_xml(xml);
  const auto error = tree ? tree->get_child_optional("Error") : boost::none;
  return error ? S3Error{text_of(*error, "Code"), text_of(*error, "Message")} : S3Error{};
}

base::Result<S3Listing> parse_s3_listing(const std::string& xml, std::uint64_t server_ns, const std::string& object) {
  Tree root;
  PERDURE_CHECK(parse_root(xml, "ListBucketResult", object, root));
  const bool encoded = text_of(root, "EncodingType") == "url";
  const auto key_of = [&](const std::string& text) { return encoded ? percent_decoded(text) : text; };
  S3Listing listing;
  for (const auto& [name, node] : root) {
    if (name == "Contents")
      listing.objects.push_back({key_of(text_of(node, "Key")), number(text_of(node, "Size")),
                                 unquoted(text_of(node, "ETag")), age(text_of(node, "LastModified"), server_ns)});
    if (name == "CommonPrefixes") listing.objects.push_back({key_of(text_of(node, "Prefix")), 0, {}, 0});
  }
  std::sort(listing.objects.begin(), listing.objects.end(),
            [](const ObjectInfo& a, const ObjectInfo& b) { return a.key < b.key; });
  const bool more = text_of(root, "IsTruncated") == "true";
  if (more) listing.next = text_of(root, "NextContinuationToken");
  if (more && listing.next.empty())
    return base::fail(PERDURE_IO, object, "a page of the listing is cut, and does not say how to go on");
  return listing;
}

base::Result<S3Uploads> parse_s3_uploads(const std::string& xml, std::uint64_t server_ns, const std::string& object) {
  Tree root;
  PERDURE_CHECK(parse_root(xml, "ListMultipartUploadsResult", object, root));
  S3Uploads uploads;
  for (const auto& [name, node] : root)
    if (name == "Upload")
      uploads.uploads.push_back(
          {text_of(node, "Key"), text_of(node, "UploadId"), age(text_of(node, "Initiated"), server_ns)});
  if (text_of(root, "IsTruncated") != "true") return uploads;
  uploads.next_key = text_of(root, "NextKeyMarker");
  uploads.next_id = text_of(root, "NextUploadIdMarker");
  return uploads;
}

base::Result<std::string> parse_s3_upload_id(const std::string& xml, const std::string& object) {
  Tree root;
  PERDURE_CHECK(parse_root(xml, "InitiateMultipartUploadResult", object, root));
  std::string id = text_of(root, "UploadId");
  if (id.empty()) return base::fail(PERDURE_IO, object, "the answer has no UploadId");
  return id;
}

base::Result<std::string> parse_s3_completed(const std::string& xml, const std::string& object) {
  Tree root;
  PERDURE_CHECK(parse_root(xml, "CompleteMultipartUploadResult", object, root));
  return unquoted(text_of(root, "ETag"));
}

std::string s3_complete_body(const std::vector<std::string>& tags) {
  std::string body = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (std::size_t part = 0; part < tags.size(); ++part)
    body += "<Part><PartNumber>" + std::to_string(part + 1) + "</PartNumber><ETag>\"" + tags[part] + "\"</ETag></Part>";
  return body + "</CompleteMultipartUpload>";
}

std::uint64_t parse_s3_time(const std::string& text) {
  std::tm parts{};
  double seconds = 0;
  if (std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%lfZ", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &parts.tm_hour,
                  &parts.tm_min, &seconds) != 6)
    return 0;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  const std::time_t whole = timegm(&parts);
  if (whole < 0 || seconds < 0 || seconds >= 61) return 0;
  return static_cast<std::uint64_t>(whole) * 1'000'000'000U + static_cast<std::uint64_t>(seconds * 1e9);
}

std::string percent_encoded(std::string_view text, bool all) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~' || (c == '/' && !all);
    if (plain) {
      encoded += c;
      continue;
    }
    std::array<char, 4> hex{};
    std::snprintf(hex.data(), hex.size(), "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
    encoded += hex.data();
  }
  return encoded;
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    if (escape) {
      decoded += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

}  // namespace perdure::store
