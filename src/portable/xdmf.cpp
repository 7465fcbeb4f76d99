#include "portable/xdmf.hpp"

#include <map>

#include "base/printable.hpp"

namespace perdure::portable {
namespace {

/// Empty for types that XDMF has no number type for.
std::string number_type(const array::ElementType& type) {
  if (type.compound()) return "";
  const auto& scalar = type.members().front().scalar;
  const std::string precision = "\" Precision=\"" + std::to_string(scalar.bytes);
  switch (scalar.kind) {
    case array::ScalarKind::integer:
      return (scalar.bytes == 1 ? "Char" : "Int") + precision;
    case array::ScalarKind::natural:
      return (scalar.bytes == 1 ? "UChar" : "UInt") + precision;
    case array::ScalarKind::real:
      return "Float" + precision;
    default:
      return "";
  }
}

std::string extents_text(const array::Box& whole) {
  std::string text;
  for (unsigned d = 0; d < whole.dimensions; ++d) text += (d > 0 ? " " : "") + std::to_string(whole.end[d]);
  return text;
}

std::string repeated(const char* text, unsigned times) {
  std::string all;
  for (unsigned i = 0; i < times; ++i) all += (i > 0 ? " " : "") + std::string(text);
  return all;
}

std::string grid(const std::string& extents, const std::vector<const DataSet*>& sets, const std::string& file) {
  const unsigned dimensions = sets.front()->whole.dimensions;
  const std::string count = std::to_string(dimensions);
  const auto numbers = [&](const char* text) {
    return "<DataItem Dimensions=\"" + count + "\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">" +
           repeated(text, dimensions) + "</DataItem>";
  };
  std::string text = "    <Grid Name=\"" + extents + "\" GridType=\"Uniform\">\n      <Topology TopologyType=\"" +
                     count + "DCoRectMesh\" Dimensions=\"" + extents + "\"/>\n      <Geometry GeometryType=\"" +
                     (dimensions == 2 ? "ORIGIN_DXDY" : "ORIGIN_DXDYDZ") + "\">\n        " + numbers("0") +
                     "\n        " + numbers("1") + "\n      </Geometry>\n";
  for (const DataSet* set : sets)
    text += "      <Attribute Name=\"" + base::xml_text(set->path) + "\" AttributeType=\"Scalar\" Center=\"Node\">\n" +
            "        <DataItem Dimensions=\"" + extents + "\" NumberType=\"" + number_type(set->type) +
            "\" Format=\"HDF\">" + base::xml_text(file) + ":/" + base::xml_text(set->path) +
            "</DataItem>\n      </Attribute>\n";
  return text + "    </Grid>\n";
}

}  // namespace

std::string xdmf(const std::vector<DataSet>& sets, const std::string& file, const Facts& about) {
  std::map<std::string, std::vector<const DataSet*>> grids;
  for (const DataSet& set : sets)
    if (set.array != nullptr && (set.whole.dimensions == 2 || set.whole.dimensions == 3) && !set.whole.empty() &&
        !number_type(set.type).empty())
      grids[extents_text(set.whole)].push_back(&set);
  if (grids.empty()) return "";
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Xdmf Version=\"3.0\">\n  <Domain Name=\"" +
                     base::xml_text(about.name) + " version " + std::to_string(about.version) + "\">\n";
  for (const auto& [extents, found] : grids) text += grid(extents, found, file);
  return text + "  </Domain>\n</Xdmf>\n";
}

}  // namespace perdure::portable
