#include "portable/hdf5_types.hpp"

#include <algorithm>
#include <vector>

namespace perdure::portable {
namespace {

using array::Member;
using array::ScalarKind;
using base::Result;

hid_t integer(const Hdf5Library& h, std::uint64_t bytes) {
  return bytes == 1   ? h.H5T_STD_I8LE_g
         : bytes == 2 ? h.H5T_STD_I16LE_g
         : bytes == 4 ? h.H5T_STD_I32LE_g
                      : h.H5T_STD_I64LE_g;
}
hid_t natural(const Hdf5Library& h, std::uint64_t bytes) {
  return bytes == 1   ? h.H5T_STD_U8LE_g
         : bytes == 2 ? h.H5T_STD_U16LE_g
         : bytes == 4 ? h.H5T_STD_U32LE_g
                      : h.H5T_STD_U64LE_g;
}
hid_t real(const Hdf5Library& h, std::uint64_t bytes) { return bytes == 4 ? h.H5T_IEEE_F32LE_g : h.H5T_IEEE_F64LE_g; }

hid_t complex(const Hdf5Library& h, std::uint64_t bytes) {
  const hid_t type = h.H5Tcreate(H5T_COMPOUND, bytes);
  if (type < 0) return type;
  (void)h.H5Tinsert(type, "r", 0, real(h, bytes / 2));
  (void)h.H5Tinsert(type, "i", bytes / 2, real(h, bytes / 2));
  return type;
}

hid_t truth(const Hdf5Library& h) {
  const hid_t type = h.H5Tenum_create(h.H5T_STD_I8LE_g);
  const signed char no = 0, yes = 1;
  if (type < 0) return type;
  (void)h.H5Tenum_insert(type, "FALSE", &no);
  (void)h.H5Tenum_insert(type, "TRUE", &yes);
  return type;
}

hid_t opaque(const Hdf5Library& h, std::uint64_t bytes) {
  if (bytes == 1) return h.H5Tcopy(h.H5T_STD_U8LE_g);
  const hid_t type = h.H5Tcreate(H5T_OPAQUE, bytes);
  if (type >= 0) (void)h.H5Tset_tag(type, "");
  return type;
}

hid_t scalar_type(const Hdf5Library& h, const array::Scalar& scalar) {
  switch (scalar.kind) {
    case ScalarKind::integer:
      return h.H5Tcopy(integer(h, scalar.bytes));
    case ScalarKind::natural:
      return h.H5Tcopy(natural(h, scalar.bytes));
    case ScalarKind::real:
      return h.H5Tcopy(real(h, scalar.bytes));
    case ScalarKind::complex:
      return complex(h, scalar.bytes);
    case ScalarKind::truth:
      return truth(h);
    case ScalarKind::bytes:
      return opaque(h, scalar.bytes);
  }
  return -1;
}

Hdf5Id member_type(const Hdf5Library& h, const Member& member) {
  Hdf5Id one(scalar_type(h, member.scalar), h.H5Tclose);
  if (!one || member.count == 1) return one;
  const hsize_t count = member.count;
  return {h.H5Tarray_create2(one.get(), 1, &count), h.H5Tclose};
}

bool named(const Member& member) { return !member.name.empty(); }

/// Reads texts as parse() takes them, from those in a file.
class Reading {
 public:
  Reading(const Hdf5Library& library, const std::string& object) : h_(library), object_(object) {}

  Result<std::string> text(hid_t type) {
    const auto bytes = h_.H5Tget_size(type);
    switch (h_.H5Tget_class(type)) {
      case H5T_INTEGER:
        return sized(h_.H5Tget_sign(type) == H5T_SGN_NONE ? 'u' : 'i', bytes, {1, 2, 4, 8});
      case H5T_FLOAT:
        return sized('f', bytes, {4, 8});
      case H5T_BITFIELD:
      case H5T_OPAQUE:
        return "v" + std::to_string(bytes);
      case H5T_ENUM:
        return enumeration(type);
      case H5T_COMPOUND:
        return compound(type, bytes);
      case H5T_ARRAY:
        return repeated(type);
      default:
        return refused("strings, times, references and sequences of any length are none");
    }
  }

 private:
  tl::unexpected<base::Error> refused(const std::string& why) const {
    return base::fail(PERDURE_UNSUPPORTED, object_, "its elements are of no type that an array can have: " + why);
  }
  Result<std::string> sized(char kind, std::size_t bytes, std::initializer_list<std::size_t> known) const {
    if (std::find(known.begin(), known.end(), bytes) != known.end()) return kind + std::to_string(bytes);
    return refused("numbers of " + std::to_string(bytes) + " bytes are none");
  }

  Result<std::string> enumeration(hid_t type) {
    const Hdf5Id base(h_.H5Tget_super(type), h_.H5Tclose);
    if (!base) return base::fail(h_.error("H5Tget_super", object_));
    if (h_.H5Tget_size(type) == 1 && h_.H5Tget_nmembers(type) == 2 && name_of(type, 0) == "FALSE" &&
        name_of(type, 1) == "TRUE")
      return std::string("b1");
    return text(base.get());
  }

  Result<std::string> repeated(hid_t type) {
    const Hdf5Id base(h_.H5Tget_super(type), h_.H5Tclose);
    if (!base) return base::fail(h_.error("H5Tget_super", object_));
    const int dimensions = h_.H5Tget_array_ndims(type);
    std::vector<hsize_t> extents(dimensions > 0 ? static_cast<std::size_t>(dimensions) : 0);
    if (extents.empty() || h_.H5Tget_array_dims2(type, extents.data()) < 0)
      return base::fail(h_.error("H5Tget_array_dims2", object_));
    std::uint64_t count = 1;
    for (const hsize_t extent : extents) count *= extent;
    PERDURE_TRY(const std::string one, text(base.get()));
    if (one.find_first_of("0123456789{") == 0 || one[0] == '{' || one[0] == 'v')
      return refused("arrays of compounds or of opaque bytes are none");
    return std::to_string(count) + one;
  }

  struct Part {
    std::size_t offset = 0, bytes = 0;
    std::string name, text;
  };

  Result<std::string> compound(hid_t type, std::size_t bytes) {
    std::vector<Part> parts;
    const int members = h_.H5Tget_nmembers(type);
    for (int i = 0; i < members; ++i) {
      const auto number = static_cast<unsigned>(i);
      const Hdf5Id member(h_.H5Tget_member_type(type, number), h_.H5Tclose);
      if (!member) return base::fail(h_.error("H5Tget_member_type", object_));
      const std::string name = name_of(type, number);
      PERDURE_TRY(std::string said, text(member.get()));
      if (said[0] == '{') return refused("a compound within a compound is none (" + name.substr(0, 64) + ")");
      parts.push_back({h_.H5Tget_member_offset(type, number), h_.H5Tget_size(member.get()), name, std::move(said)});
    }
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.offset < b.offset; });
    if (parts.size() == 2 && parts[0].name == "r" && parts[1].name == "i" && parts[0].text == parts[1].text &&
        parts[0].text[0] == 'f' && bytes == 2 * parts[0].bytes)
      return "c" + std::to_string(bytes);
    return joined(parts, bytes);
  }

  static std::string joined(const std::vector<Part>& parts, std::size_t bytes) {
    std::string text;
    std::size_t at = 0;
    const auto room = [&](std::size_t until) {
      if (until > at) text += (text.empty() ? "v" : ",v") + std::to_string(until - at);
    };
    for (const Part& part : parts) {
      room(part.offset);
      text += (text.empty() ? "" : ",") + part.name + ":" + part.text;
      at = part.offset + part.bytes;
    }
    room(bytes);
    return "{" + text + "}";
  }

  std::string name_of(hid_t type, unsigned number) const {
    char* name = h_.H5Tget_member_name(type, number);
    std::string text = name == nullptr ? "" : name;
    (void)h_.H5free_memory(name);
    return text;
  }

  const Hdf5Library& h_;
  const std::string& object_;
};

}  // namespace

Result<Hdf5Id> to_hdf5(const Hdf5Library& h, const array::ElementType& type, const std::string& object) {
  Hdf5Id made;
  if (!type.compound()) {
    made = member_type(h, type.members().front());
  } else if (std::none_of(type.members().begin(), type.members().end(), named)) {
    made = Hdf5Id(opaque(h, type.bytes()), h.H5Tclose);
  } else {
    made = Hdf5Id(h.H5Tcreate(H5T_COMPOUND, type.bytes()), h.H5Tclose);
    for (const Member& member : type.members()) {
      if (!made || !named(member)) continue;
      const Hdf5Id part = member_type(h, member);
      if (!part || h.H5Tinsert(made.get(), member.name.c_str(), member.offset, part.get()) < 0)
        return base::fail(h.error("H5Tinsert " + member.name, object));
    }
  }
  if (!made) return base::fail(h.error("H5Tcreate " + type.text(), object));
  return made;
}

Result<array::ElementType> from_hdf5(const Hdf5Library& h, hid_t type, const std::string& object) {
  PERDURE_TRY(const std::string text, Reading(h, object).text(type));
  auto parsed = array::ElementType::parse(text, object);
  if (!parsed)
    return base::fail(PERDURE_UNSUPPORTED, object,
                      "its elements are of no type that an array can have: " + parsed.error().cause);
  if (parsed->bytes() != h.H5Tget_size(type))
    return base::fail(PERDURE_UNSUPPORTED, object, "the members of its elements overlap");
  return parsed;
}

}  // namespace perdure::portable
