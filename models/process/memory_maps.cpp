#include "process/memory_maps.hpp"

#include <charconv>

namespace perdure::process {
namespace {

/// Consumes a line from its front.
class Line {
 public:
  explicit Line(std::string_view text) : left_(text) {}
  template <class Number>
  bool number(Number& value, int base) {
    const auto read = std::from_chars(left_.data(), left_.data() + left_.size(), value, base);
    if (read.ec != std::errc()) return false;
    left_.remove_prefix(static_cast<std::size_t>(read.ptr - left_.data()));
    return true;
  }
  bool skip(char one) {
    if (left_.empty() || left_.front() != one) return false;
    left_.remove_prefix(1);
    return true;
  }
  /// Takes the character `flag` or `otherwise`.
  bool choice(char flag, char otherwise, bool& is) {
    is = skip(flag);
    return is || skip(otherwise);
  }
  std::string_view rest() {
    left_.remove_prefix(std::min(left_.find_first_not_of(' '), left_.size()));
    return left_;
  }

 private:
  std::string_view left_;
};

std::string with_newlines(std::string_view name) {
  constexpr std::string_view kEscaped = "\\012";
  std::string all;
  while (!name.empty()) {
    const bool escaped = name.starts_with(kEscaped);
    all += escaped ? '\n' : name.front();
    name.remove_prefix(escaped ? kEscaped.size() : 1);
  }
  return all;
}

}  // namespace

bool is_shared_without_file(std::string_view name) {
  return name.starts_with("/dev/zero") || name == std::string("/memfd:") + kSharedMemory + " (deleted)";
}

std::optional<MemoryMap> parse_map(std::string_view text) {
  MemoryMap map;
  Line line(text);
  const bool understood = line.number(map.begin, 16) && line.skip('-') && line.number(map.end, 16) && line.skip(' ') &&
                          line.choice('r', '-', map.readable) && line.choice('w', '-', map.writable) &&
                          line.choice('x', '-', map.executable) && line.choice('s', 'p', map.shared) &&
                          line.skip(' ') && line.number(map.offset, 16) && line.skip(' ') &&
                          line.number(map.device_major, 16) && line.skip(':') && line.number(map.device_minor, 16) &&
                          line.skip(' ') && line.number(map.inode, 10) && map.begin < map.end;
  if (!understood) return std::nullopt;
  map.name = with_newlines(line.rest());
  return map;
}

base::Result<std::vector<MemoryMap>> parse_maps(std::string_view text, const std::string& object) {
  std::vector<MemoryMap> maps;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    auto map = parse_map(line);
    if (!map || (!maps.empty() && map->begin < maps.back().end))
      return base::fail(PERDURE_INTERNAL, object,
                        "line " + std::to_string(maps.size() + 1) + " of its maps is '" + std::string(line) +
                            "', which is not understood");
    maps.push_back(std::move(*map));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return maps;
}

}  // namespace perdure::process
