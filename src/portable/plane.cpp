#include "portable/plane.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "array/strided.hpp"
#include "reader/slabs.hpp"

namespace perdure::portable {
namespace {

using base::Result;

constexpr std::uint64_t kSampleBytes = 16 * base::MiB;

tl::unexpected<base::Error> wrong_plane(const std::string& object, const std::string& why) {
  return base::fail(PERDURE_INVALID_ARGUMENT, object, why,
                    "a plane has an index or a range for each dimension, and one or two ranges: [3,:,10:20]");
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',')
      parts.emplace_back();
    else if (c != ' ')
      parts.back() += c;
  }
  return parts;
}

/// Returns false when it is neither an index nor a range of this dimension.
bool read_part(const std::string& part, unsigned d, Plane& plane, std::vector<unsigned>& ranges) {
  const auto colon = part.find(':');
  const std::uint64_t extent = plane.box.end[d];
  if (colon == std::string::npos) {
    const auto index = number_of(part);
    if (!index || *index >= extent) return false;
    plane.box.begin[d] = *index;
    plane.box.end[d] = *index + 1;
    return true;
  }
  const std::string first = part.substr(0, colon), last = part.substr(colon + 1);
  const auto begin = first.empty() ? 0 : number_of(first), end = last.empty() ? extent : number_of(last);
  if (!begin || !end || *begin >= *end || *end > extent) return false;
  plane.box.begin[d] = *begin;
  plane.box.end[d] = *end;
  ranges.push_back(d);
  return true;
}

Result<Plane> with_ranges(Plane plane, const std::vector<unsigned>& ranges, const std::string& object) {
  if (ranges.empty() || ranges.size() > 2)
    return wrong_plane(object, std::to_string(ranges.size()) + " ranges are no plane and no line");
  plane.dimensions = static_cast<unsigned>(ranges.size());
  plane.across = ranges.back();
  plane.down = ranges.front();
  return plane;
}

double value_at(const array::Member& member, base::ConstByteSpan element) {
  const array::Scalar& scalar = member.scalar;
  const auto at = element.subspan(member.offset, scalar.bytes);
  const double real = array::as_number(scalar, at);
  if (scalar.kind != array::ScalarKind::complex) return real;
  const std::uint64_t half = scalar.bytes / 2;
  return std::hypot(real, array::as_number({array::ScalarKind::real, half}, at.subspan(half, half)));
}

/// Sums of the elements that share a number of the picture.
class Sampling {
 public:
  Sampling(const Plane& plane, std::size_t most_width, std::size_t most_height)
      : plane_(plane),
        across_(plane.box.extent(plane.across)),
        down_(plane.dimensions == 2 ? plane.box.extent(plane.down) : 1),
        width_(std::min<std::uint64_t>(across_, most_width)),
        height_(std::min<std::uint64_t>(down_, most_height)),
        sums_(width_ * height_),
        counts_(width_ * height_) {}

  void add(const array::Index& at, double value) {
    if (std::isnan(value)) return;
    const std::size_t x = place(at[plane_.across] - plane_.box.begin[plane_.across], across_, width_);
    const std::size_t y =
        plane_.dimensions == 2 ? place(at[plane_.down] - plane_.box.begin[plane_.down], down_, height_) : 0;
    sums_[y * width_ + x] += value;
    ++counts_[y * width_ + x];
  }
  Sampled result() const {
    Sampled sampled{width_, height_, {}};
    for (std::size_t i = 0; i < sums_.size(); ++i)
      sampled.values.push_back(counts_[i] == 0 ? std::nan("") : sums_[i] / static_cast<double>(counts_[i]));
    return sampled;
  }

 private:
  static std::size_t place(std::uint64_t index, std::uint64_t extent, std::size_t room) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>(static_cast<Wide>(index) * room / extent);
  }
  const Plane& plane_;
  std::uint64_t across_, down_;
  std::size_t width_, height_;
  std::vector<double> sums_;
  std::vector<std::uint64_t> counts_;
};

}  // namespace

std::string Plane::text() const {
  std::string text = "[";
  for (unsigned d = 0; d < box.dimensions; ++d) {
    const bool range = d == across || (dimensions == 2 && d == down);
    text += (d > 0 ? ", " : "") + std::to_string(box.begin[d]) + (range ? ":" + std::to_string(box.end[d]) : "");
  }
  return text + "]";
}

std::pair<std::string, std::string> split_plane(const std::string& text) {
  const auto bracket = std::min(text.find('['), text.size());
  return {text.substr(0, bracket), text.substr(bracket)};
}

Result<Plane> parse_plane(const std::string& text, const array::Box& whole, const std::string& object) {
  Plane plane;
  plane.box = whole;
  std::vector<unsigned> ranges;
  if (whole.dimensions == 0 || whole.empty())
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "there is nothing to see in " + whole.text());
  if (text.empty()) {
    for (unsigned d = 0; d < whole.dimensions; ++d) {
      if (d + 2 >= whole.dimensions) {
        ranges.push_back(d);
        continue;
      }
      plane.box.begin[d] = whole.end[d] / 2;
      plane.box.end[d] = plane.box.begin[d] + 1;
    }
    return with_ranges(plane, ranges, object);
  }
  if (text.size() < 2 || text.front() != '[' || text.back() != ']')
    return wrong_plane(object, "'" + text + "' is no plane");
  const auto parts = parts_of(text.substr(1, text.size() - 2));
  if (parts.size() != whole.dimensions)
    return wrong_plane(object, "'" + text + "' has " + std::to_string(parts.size()) + " dimensions, the array " +
                                   std::to_string(whole.dimensions) + ": " + whole.text());
  for (unsigned d = 0; d < whole.dimensions; ++d)
    if (!read_part(parts[d], d, plane, ranges))
      return wrong_plane(object, "'" + parts[d] + "' is no index and no range in " + whole.text());
  return with_ranges(plane, ranges, object);
}

Result<Sampled> sample(reader::StoredContent& content, const DataSet& set, const array::Member& member,
                       const Plane& plane, std::size_t most_width, std::size_t most_height) {
  const std::uint64_t element = set.type.bytes();
  Sampling sampling(plane, most_width, most_height);
  std::vector<std::byte> buffer;
  PERDURE_CHECK(reader::each_slab(plane.box, kSampleBytes / element, [&](const array::Box& slab) -> base::Status {
    buffer.resize(slab.elements() * element);
    auto outcome = set.array != nullptr ? content.read(*set.array, slab, buffer)
                                        : content.read_local(set.local, slab.begin[0], buffer);
    if (!outcome) return outcome;
    array::Index at = slab.begin;
    for (std::size_t done = 0; done < buffer.size(); done += element) {
      sampling.add(at, value_at(member, base::ConstByteSpan(buffer).subspan(done, element)));
      for (unsigned d = slab.dimensions; d > 0; --d) {
        if (++at[d - 1] < slab.end[d - 1]) break;
        at[d - 1] = slab.begin[d - 1];
      }
    }
    return {};
  }));
  return sampling.result();
}

Result<array::Member> find_member(const array::ElementType& type, const std::string& name, const std::string& object) {
  std::string names;
  bool any = false;
  for (const array::Member& member : type.members()) {
    if (member.scalar.kind == array::ScalarKind::bytes) continue;
    any = true;
    if (name.empty() || member.name == name) return member;
    names += (names.empty() ? "" : ", ") + member.name;
  }
  if (!any) return base::fail(PERDURE_INVALID_ARGUMENT, object, "its elements are bytes of which nothing is known");
  return base::fail(PERDURE_NOT_FOUND, object, "its elements have no member '" + name.substr(0, 64) + "' with numbers",
                    type.compound() ? "its members are " + names : "its elements have no members");
}

}  // namespace perdure::portable
