#pragma once
// Writing and reading of HDF5 files share this. Use it inside this module only.
#include <optional>

#include "array/box.hpp"
#include "base/bytes.hpp"
#include "portable/hdf5_library.hpp"

namespace perdure::portable {

/// The names of attributes that only Perdure gives a meaning.
inline constexpr const char* kIdAttribute = "perdure_id";
inline constexpr const char* kKindAttribute = "perdure_kind";
inline constexpr const char* kTypeAttribute = "perdure_type";
inline constexpr const char* kElementBytesAttribute = "perdure_element_bytes";

/// The library notices the limit of file sizes (RLIMIT_FSIZE) only by a signal that would end this process. While one
/// of these lives it is an error of the call.
class SizeLimitError {
 public:
  SizeLimitError();
  ~SizeLimitError();
  SizeLimitError(const SizeLimitError&) = delete;
  SizeLimitError& operator=(const SizeLimitError&) = delete;

 private:
  void (*before_)(int);
};

/// An open data set, of which boxes are written and read packed, in the order of Perdure.
class Hdf5Set {
 public:
  Hdf5Set() = default;
  Hdf5Set(const Hdf5Library& library, Hdf5Id set, Hdf5Id type, const array::Box& whole, std::string object)
      : h_(&library), set_(std::move(set)), type_(std::move(type)), whole_(whole), object_(std::move(object)) {}
  explicit operator bool() const { return static_cast<bool>(set_); }
  hid_t id() const { return set_.get(); }
  const std::string& object() const { return object_; }
  base::Status write(const array::Box& box, base::ConstByteSpan elements);
  base::Status read(const array::Box& box, base::ByteSpan elements);

 private:
  struct Spaces {
    Hdf5Id memory, file;
  };
  base::Result<Spaces> spaces(const array::Box& box) const;
  const Hdf5Library* h_ = nullptr;
  Hdf5Id set_, type_;
  array::Box whole_;
  std::string object_;
};

base::Status set_attribute(const Hdf5Library& library, hid_t of, const std::string& name, const std::string& text,
                           const std::string& object);
base::Status set_attribute(const Hdf5Library& library, hid_t of, const std::string& name, std::int64_t number,
                           const std::string& object);
/// Gives a text attribute; empty if there is none, or none of that type.
std::optional<std::string> text_attribute(const Hdf5Library& library, hid_t of, const std::string& name);
std::optional<std::int64_t> number_attribute(const Hdf5Library& library, hid_t of, const std::string& name);

}  // namespace perdure::portable
