#include "track/place_code.hpp"

#include <bit>
#include <cstring>
#include <string>

namespace perdure::track {
namespace {

// "perdure place, form 1". Numbers are of 64 bits, the lowest byte first.
constexpr std::uint64_t kForm = 0x3165'6361'6c70'6470ULL;

// Each is compared with all others.
constexpr std::uint64_t kMostBoxes = 10'000;

class Writer {
 public:
  void number(std::uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<std::byte>(value >> shift));
  }
  void bytes(std::span<const std::byte> some) {
    number(some.size());
    bytes_.insert(bytes_.end(), some.begin(), some.end());
  }
  void text(const std::string& some) { bytes(std::as_bytes(std::span(some))); }
  void box(const Box& box) {
    number(box.dimensions);
    for (unsigned d = 0; d < box.dimensions; ++d) {
      number(static_cast<std::uint64_t>(box.begin[d]));
      number(static_cast<std::uint64_t>(box.end[d]));
    }
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads as far as there is something; what is wrong stays said.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  std::uint64_t number() {
    if (rest_.size() < 8) return fail("it ends too soon"), 0;
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 8; ++i) value |= std::to_integer<std::uint64_t>(rest_[i]) << (8 * i);
    rest_ = rest_.subspan(8);
    return value;
  }
  /// Of things that take at least so many bytes each: no more than are there.
  std::uint64_t count(std::uint64_t least_bytes) {
    const std::uint64_t value = number();
    if (value <= rest_.size() / least_bytes) return value;
    return fail("it says of more than it has"), 0;
  }
  std::span<const std::byte> bytes() {
    const std::uint64_t length = count(1);
    const auto some = rest_.first(length);
    rest_ = rest_.subspan(length);
    return some;
  }
  std::string text() {
    const auto some = bytes();
    return {reinterpret_cast<const char*>(some.data()), some.size()};
  }
  Box box() {
    Box box;
    const std::uint64_t dimensions = number();
    if (dimensions > kMostDimensions) return fail("a box has " + std::to_string(dimensions) + " dimensions"), Box{};
    box.dimensions = static_cast<unsigned>(dimensions);
    for (unsigned d = 0; d < box.dimensions; ++d) {
      box.begin[d] = static_cast<std::int64_t>(number());
      box.end[d] = static_cast<std::int64_t>(number());
    }
    return box;
  }
  void fail(std::string why) {
    if (why_.empty()) why_ = std::move(why);
    rest_ = {};
  }
  bool good() const { return why_.empty(); }
  bool at_end() const { return rest_.empty(); }
  const std::string& why() const { return why_; }

 private:
  std::span<const std::byte> rest_;
  std::string why_;
};

void read_answers(Reader& reader, Answers& answers) {
  std::uint64_t together = 0;
  for (std::uint64_t left = reader.count(8); left > 0 && reader.good(); --left) {
    const std::uint64_t length = reader.number();
    if (length > UINT32_MAX) return reader.fail("an answer has " + std::to_string(length) + " bytes");
    answers.lengths.push_back(static_cast<std::uint32_t>(length));
    together += length;
  }
  const auto bytes = reader.bytes();
  if (reader.good() && bytes.size() != together) return reader.fail("its answers have other lengths");
  answers.bytes.assign(bytes.begin(), bytes.end());
}

void read_set(Reader& reader, Place& place) {
  DataSet set;
  set.name = reader.text();
  set.box = reader.box();
  set.element_bytes = reader.number();
  set.scratch = reader.number() != 0;
  if (const auto why = defect_of(set); reader.good() && !why.empty()) return reader.fail(why);
  BoxSet written;
  std::uint64_t left = reader.count(8);
  if (left > kMostBoxes) return reader.fail("data set '" + set.name + "' was written in too many boxes");
  for (; left > 0 && reader.good(); --left) {
    const Box box = reader.box();
    if (box.dimensions != set.box.dimensions || box.empty() || !set.box.contains(box) || written.meets(box))
      return reader.fail("what was written of data set '" + set.name + "' is not in it, or there twice");
    written.add(box);
  }
  place.sets.push_back(std::move(set));
  place.written.push_back(std::move(written));
}

}  // namespace

std::vector<std::byte> encode_place(const Place& place) {
  Writer writer;
  writer.number(kForm);
  writer.number(place.loop);
  writer.number(place.id);
  writer.number(place.before.size());
  for (const auto& stretch : place.before) {
    writer.number(stretch.back);
    writer.number(stretch.count);
    writer.number(stretch.loop);
  }
  writer.number(place.answers.lengths.size());
  for (const auto length : place.answers.lengths) writer.number(length);
  writer.bytes(place.answers.bytes);
  writer.number(place.sets.size());
  for (std::size_t i = 0; i < place.sets.size(); ++i) {
    writer.text(place.sets[i].name);
    writer.box(place.sets[i].box);
    writer.number(place.sets[i].element_bytes);
    writer.number(place.sets[i].scratch ? 1 : 0);
    writer.number(place.written[i].boxes().size());
    for (const Box& box : place.written[i].boxes()) writer.box(box);
  }
  writer.number(place.payload ? 1 : 0);
  if (place.payload) writer.bytes(*place.payload);
  return writer.take();
}

tl::expected<Place, std::string> decode_place(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  Place place;
  if (reader.number() != kForm) reader.fail("it is no place of this form");
  place.loop = reader.number();
  place.id = reader.number();
  for (std::uint64_t left = reader.count(24); left > 0 && reader.good(); --left) {
    const std::uint64_t back = reader.number(), count = reader.number();
    place.before.push_back({back, count, reader.number()});
  }
  read_answers(reader, place.answers);
  for (std::uint64_t left = reader.count(40); left > 0 && reader.good(); --left) read_set(reader, place);
  if (reader.number() != 0) {
    const auto payload = reader.bytes();
    place.payload.emplace(payload.begin(), payload.end());
  }
  if (reader.good() && !reader.at_end()) reader.fail("something follows it");
  if (!reader.good()) return tl::unexpected(reader.why());
  return place;
}

}  // namespace perdure::track
