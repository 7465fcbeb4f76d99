#include "parity/server_file.hpp"

#include <optional>

#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::parity {
namespace {

constexpr std::string_view kFirstLine = "perdure-parity-server 1\n";
constexpr std::uint64_t kMaxFile = 8192;

std::string hex_of(base::ConstByteSpan bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4U];
    text += kDigits[std::to_integer<unsigned>(byte) & 15U];
  }
  return text;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::optional<network::Bytes> bytes_of(std::string_view hex) {
  network::Bytes bytes;
  if (hex.size() % 2 != 0) return {};
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit_of(hex[i]), low = digit_of(hex[i + 1]);
    if (high < 0 || low < 0) return {};
    bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return bytes;
}

/// Takes "NAME HEX\n" off the text.
std::optional<network::Bytes> take_line(std::string_view& text, std::string_view name) {
  const auto end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with(name)) return {};
  const std::string_view value = text.substr(name.size(), end - name.size());
  text.remove_prefix(end + 1);
  return bytes_of(value);
}

}  // namespace

std::string to_text(const ServerFile& file) {
  return std::string(kFirstLine) + "address " + hex_of(file.address) + "\nkey " + hex_of(file.key) + "\n";
}

base::Result<ServerFile> parse_server_file(std::string_view text, const std::string& path) {
  if (text.starts_with("perdure-parity-server ") && !text.starts_with(kFirstLine))
    return base::fail(PERDURE_UNSUPPORTED, path, "it is of another version of perdure-parityd");
  const auto corrupt = [&](const char* what) {
    return base::fail(PERDURE_CORRUPT, path, what,
                      "remove it, and start perdure-parityd with --endpoint and this path");
  };
  if (!text.starts_with(kFirstLine)) return corrupt("it is not what a parity server writes");
  text.remove_prefix(kFirstLine.size());
  const auto address = take_line(text, "address ");
  if (!address || !network::decode_address(*address)) return corrupt("its address is none");
  const auto key = take_line(text, "key ");
  ServerFile file;
  if (!key || key->size() != file.key.size()) return corrupt("its key is none");
  if (!text.empty()) return corrupt("something follows the key");
  file.address = *address;
  std::copy(key->begin(), key->end(), file.key.begin());
  return file;
}

base::Status write_server_file(const std::string& path, const ServerFile& file) {
  return os::write_file_atomically(path, base::as_bytes(to_text(file)));
}

base::Result<ServerFile> read_server_file(const std::string& path) {
  PERDURE_TRY(const os::File file, os::File::open(path, os::Open::read));
  PERDURE_TRY(const os::FileIdentity identity, file.identity());
  if (identity.user != os::user_id() || (identity.permissions & 077U) != 0)
    return base::fail(PERDURE_PERMISSION, path, "it holds a key, and others than its user can read it",
                      "chmod 600, and better a new key: remove the file and start the server again");
  network::Bytes text(kMaxFile + 1);
  PERDURE_TRY(const std::size_t got, file.read_some(0, text));
  return parse_server_file({reinterpret_cast<const char*>(text.data()), got}, path);
}

base::Result<std::vector<ServerFile>> read_server_files(const std::vector<std::string>& paths) {
  std::vector<ServerFile> files;
  for (const std::string& path : paths) {
    PERDURE_TRY(ServerFile file, read_server_file(path));
    if (!files.empty() && files.front().key != file.key)
      return base::fail(PERDURE_MISMATCH, path, "its key is not that of " + paths.front(),
                        "start it with --key-of " + paths.front());
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace perdure::parity
