#include "portable/hdf5_file.hpp"

#include <array>
#include <csignal>

namespace perdure::portable {
namespace {

using base::Result;
using base::Status;

/// Sets one value.
Status set_value(const Hdf5Library& h, hid_t of, const std::string& name, hid_t type, const void* value,
                 const std::string& object) {
  const Hdf5Id space(h.H5Screate(H5S_SCALAR), h.H5Sclose);
  const Hdf5Id attribute(h.H5Acreate2(of, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), h.H5Aclose);
  if (!attribute || h.H5Awrite(attribute.get(), type, value) < 0)
    return base::fail(h.error("writing the attribute " + name, object));
  return {};
}

Hdf5Id text_type(const Hdf5Library& h) {
  Hdf5Id type(h.H5Tcopy(h.H5T_C_S1_g), h.H5Tclose);
  (void)h.H5Tset_size(type.get(), H5T_VARIABLE);
  (void)h.H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

/// Opens a single value of that class.
Hdf5Id open_attribute(const Hdf5Library& h, hid_t of, const std::string& name, H5T_class_t kind) {
  if (h.H5Aexists(of, name.c_str()) <= 0) return {};
  Hdf5Id attribute(h.H5Aopen(of, name.c_str(), H5P_DEFAULT), h.H5Aclose);
  const Hdf5Id type(h.H5Aget_type(attribute.get()), h.H5Tclose);
  const Hdf5Id space(h.H5Aget_space(attribute.get()), h.H5Sclose);
  if (!type || h.H5Tget_class(type.get()) != kind || h.H5Sget_simple_extent_type(space.get()) != H5S_SCALAR) return {};
  return attribute;
}

}  // namespace

SizeLimitError::SizeLimitError() : before_(std::signal(SIGXFSZ, SIG_IGN)) {}
SizeLimitError::~SizeLimitError() { std::signal(SIGXFSZ, before_); }

Result<Hdf5Set::Spaces> Hdf5Set::spaces(const array::Box& box) const {
  std::array<hsize_t, array::kMostDimensions> first{}, extents{};
  for (unsigned d = 0; d < box.dimensions; ++d) {
    first[d] = box.begin[d];
    extents[d] = box.extent(d);
  }
  Spaces spaces;
  spaces.file = Hdf5Id(h_->H5Dget_space(set_.get()), h_->H5Sclose);
  if (!spaces.file) return base::fail(h_->error("H5Dget_space", object_));
  if (box.dimensions == 0) {
    spaces.memory = Hdf5Id(h_->H5Screate(H5S_SCALAR), h_->H5Sclose);
    return spaces;
  }
  spaces.memory = Hdf5Id(h_->H5Screate_simple(static_cast<int>(box.dimensions), extents.data(), nullptr), h_->H5Sclose);
  if (!spaces.memory ||
      h_->H5Sselect_hyperslab(spaces.file.get(), H5S_SELECT_SET, first.data(), nullptr, extents.data(), nullptr) < 0)
    return base::fail(h_->error("H5Sselect_hyperslab", object_));
  return spaces;
}

Status Hdf5Set::write(const array::Box& box, base::ConstByteSpan elements) {
  PERDURE_TRY(const Spaces spaces, this->spaces(box));
  if (h_->H5Dwrite(set_.get(), type_.get(), spaces.memory.get(), spaces.file.get(), H5P_DEFAULT, elements.data()) < 0)
    return base::fail(h_->error("H5Dwrite", object_));
  return {};
}

Status Hdf5Set::read(const array::Box& box, base::ByteSpan elements) {
  PERDURE_TRY(const Spaces spaces, this->spaces(box));
  if (h_->H5Dread(set_.get(), type_.get(), spaces.memory.get(), spaces.file.get(), H5P_DEFAULT, elements.data()) < 0)
    return base::fail(h_->error("H5Dread", object_));
  return {};
}

Status set_attribute(const Hdf5Library& h, hid_t of, const std::string& name, const std::string& text,
                     const std::string& object) {
  const char* value = text.c_str();
  return set_value(h, of, name, text_type(h).get(), static_cast<const void*>(&value), object);
}

Status set_attribute(const Hdf5Library& h, hid_t of, const std::string& name, std::int64_t number,
                     const std::string& object) {
  return set_value(h, of, name, h.H5T_STD_I64LE_g, &number, object);
}

std::optional<std::string> text_attribute(const Hdf5Library& h, hid_t of, const std::string& name) {
  const Hdf5Id attribute = open_attribute(h, of, name, H5T_STRING);
  if (!attribute) return std::nullopt;
  const Hdf5Id type(h.H5Aget_type(attribute.get()), h.H5Tclose);
  if (h.H5Tis_variable_str(type.get()) > 0) {
    char* value = nullptr;
    if (h.H5Aread(attribute.get(), text_type(h).get(), static_cast<void*>(&value)) < 0 || value == nullptr)
      return std::nullopt;
    std::string text = value;
    (void)h.H5free_memory(value);
    return text;
  }
  std::string text(h.H5Tget_size(type.get()), '\0');
  if (h.H5Aread(attribute.get(), type.get(), text.data()) < 0) return std::nullopt;
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

std::optional<std::int64_t> number_attribute(const Hdf5Library& h, hid_t of, const std::string& name) {
  const Hdf5Id attribute = open_attribute(h, of, name, H5T_INTEGER);
  std::int64_t number = 0;
  if (!attribute || h.H5Aread(attribute.get(), h.H5T_STD_I64LE_g, &number) < 0) return std::nullopt;
  return number;
}

}  // namespace perdure::portable
