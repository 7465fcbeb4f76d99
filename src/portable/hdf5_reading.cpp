#include "portable/hdf5_reading.hpp"

#include <algorithm>
#include <cstring>

#include "base/field_codec.hpp"
#include "os/file.hpp"
#include "reader/slabs.hpp"

namespace perdure::portable {
namespace {

using base::Result;
using base::Status;
using Output = os::LimitedChild::Output;

constexpr std::uint64_t kSlabBytes = 16 * base::MiB;
constexpr std::uint64_t kMostTextBytes = base::GiB;  // size of the description of all sets

/// A SourceSet between two processes.
struct ToldSet {
  std::string path;
  std::optional<std::uint32_t> rank;
  segment::RegionEntry entry;
  std::string type;
  std::vector<std::uint64_t> extents;
  PERDURE_FIELDS(path, rank, entry, type, extents)
};

/// The child says this before elements. Each slab then begins with its length, or with kFailed and an error.
struct ToldFile {
  std::uint64_t ranks = 1;
  std::vector<ToldSet> sets;
  PERDURE_FIELDS(ranks, sets)
};
struct FirstWord {
  Result<ToldFile> file;
  PERDURE_FIELDS(file)
};
struct LastWord {
  Result<std::uint64_t> end;
  PERDURE_FIELDS(end)
};
constexpr std::uint64_t kFailed = ~std::uint64_t{0};

void say_number(Output& output, std::uint64_t number) { output.say(std::as_bytes(std::span(&number, 1))); }

void say_text(Output& output, const std::vector<std::byte>& text) {
  say_number(output, text.size());
  output.say(text);
}

ToldFile told(const Hdf5Source& source) {
  ToldFile told{source.ranks(), {}};
  for (const SourceSet& set : source.sets())
    told.sets.push_back({set.path,
                         set.rank,
                         set.entry,
                         set.type.text(),
                         {set.whole.end.data(), set.whole.end.data() + set.whole.dimensions}});
  return told;
}

Status say_elements(Output& output, const Hdf5Source& source) {
  std::vector<std::byte> buffer;
  for (const SourceSet& set : source.sets()) {
    output.step();
    PERDURE_TRY(auto opened, source.set(set));
    const std::uint64_t element = set.type.bytes();
    PERDURE_CHECK(reader::each_slab(set.whole, kSlabBytes / element, [&](const array::Box& slab) -> Status {
      output.step();
      buffer.resize(slab.elements() * element);
      PERDURE_CHECK(opened.read(slab, buffer));
      say_number(output, buffer.size());
      output.say(buffer);
      return {};
    }));
  }
  return {};
}

/// Runs in the child.
void say_all(Output& output, const std::string& path) {
  const auto source = Hdf5Source::open(path, [&] { output.step(); });
  FirstWord first{source ? Result<ToldFile>(told(*source)) : Result<ToldFile>(base::fail(source.error()))};
  say_text(output, base::encode_fields(first));
  if (!source) return;
  const Status said = say_elements(output, *source);
  if (said) return;
  say_number(output, kFailed);
  say_text(output, base::encode_fields(LastWord{base::fail(said.error())}));
}

std::string remedy_of(const ReadLimits& limits) {
  return "it is damaged, or a part of it takes more than " + base::format_bytes(limits.memory_bytes) +
         " of memory to read: look at it with h5dump, or have h5repack write it again with other chunks";
}

base::Error with_remedy(base::Error error, const ReadLimits& limits) {
  const bool of_hdf5 = error.code == PERDURE_CORRUPT || error.code == PERDURE_IO || error.code == PERDURE_INTERNAL;
  if (of_hdf5 && error.remedy.empty()) error.remedy = remedy_of(limits);
  return error;
}

}  // namespace

Result<Hdf5Reading> Hdf5Reading::open(const std::string& path, const ReadLimits& limits) {
  PERDURE_TRY(const auto file, os::File::open(path, os::Open::read));  // its errors are clearer
  PERDURE_TRY(const std::uint64_t bytes, file.size());
  ReadLimits widened = limits;
  widened.memory_bytes += 2 * std::min(bytes, std::uint64_t{1} << 60U);
  PERDURE_TRY(auto child, os::LimitedChild::start({widened.memory_bytes, widened.step_cpu_s},
                                                  [&](Output& output) { say_all(output, path); }));
  Hdf5Reading reading(path, widened, std::move(child));
  PERDURE_CHECK(reading.hear_sets());
  return reading;
}

tl::unexpected<base::Error> Hdf5Reading::broken() {
  return base::fail(PERDURE_CORRUPT, path_, "the process that read it with HDF5 failed: " + child_.end(),
                    remedy_of(limits_));
}

Result<std::vector<std::byte>> Hdf5Reading::hear_text() {
  std::uint64_t length = 0;
  if (!child_.hear(std::as_writable_bytes(std::span(&length, 1))) || length > kMostTextBytes) return broken();
  std::vector<std::byte> text(length);
  if (!child_.hear(text)) return broken();
  return text;
}

Status Hdf5Reading::hear_sets() {
  PERDURE_TRY(const auto text, hear_text());
  PERDURE_TRY(const auto first, base::decode_fields<FirstWord>(text, path_));
  if (!first.file) return base::fail(with_remedy(first.file.error(), limits_));
  ranks_ = first.file->ranks;
  for (const ToldSet& told : first.file->sets) {
    const std::string object = path_ + ":/" + told.path;
    PERDURE_TRY(auto type, array::ElementType::parse(told.type, object));
    PERDURE_TRY(const auto whole, array::whole(told.extents, type.bytes(), object));
    const bool fits = told.entry.bytes() == whole.elements() * type.bytes();
    if (told.rank.value_or(0) >= ranks_ || !fits) return broken();
    sets_.push_back({told.path, told.rank, told.entry, std::move(type), whole});
  }
  return {};
}

std::uint64_t Hdf5Reading::bytes() const {
  std::uint64_t sum = 0;
  for (const SourceSet& set : sets_) sum += set.entry.bytes();
  return sum;
}

Status Hdf5Reading::hear_slab(base::ByteSpan elements) {
  std::uint64_t length = 0;
  if (!child_.hear(std::as_writable_bytes(std::span(&length, 1)))) return broken();
  if (length == kFailed) {
    PERDURE_TRY(const auto text, hear_text());
    PERDURE_TRY(const auto last, base::decode_fields<LastWord>(text, path_));
    if (!last.end) return base::fail(with_remedy(last.end.error(), limits_));
  }
  if (length != elements.size() || !child_.hear(elements)) return broken();
  return {};
}

Status Hdf5Reading::read(const Take& take) {
  std::vector<std::byte> buffer;
  for (const SourceSet& set : sets_) {
    const std::uint64_t element = set.type.bytes();
    PERDURE_CHECK(reader::each_slab(set.whole, kSlabBytes / element, [&](const array::Box& slab) -> Status {
      buffer.resize(slab.elements() * element);
      PERDURE_CHECK(hear_slab(buffer));
      return take(set, buffer);
    }));
  }
  return {};
}

}  // namespace perdure::portable
