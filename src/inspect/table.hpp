#pragma once
// Makes tables for people: columns are as wide as their widest cell.
#include <cstdint>
#include <string>
#include <vector>

namespace perdure::inspect {

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Missing cells are empty; the others are made printable (base/printable.hpp).
  void row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  std::string text() const;  ///< with titles; ends with a new line

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Writes a date in UTC, in the form that strftime knows.
std::string date_text(std::uint64_t since_1970_ns, const char* form);
/// Gives the number of columns that `text` (UTF-8) takes.
std::size_t display_width(const std::string& text);

}  // namespace perdure::inspect
