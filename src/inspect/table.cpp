#include "inspect/table.hpp"

#include <algorithm>
#include <ctime>

#include "base/printable.hpp"

namespace perdure::inspect {
namespace {

constexpr const char* kGap = "  ";

std::string padded(const std::string& text, std::size_t width, Table::Align align) {
  const std::string fill(width - std::min(width, display_width(text)), ' ');
  return align == Table::Align::left ? text + fill : fill + text;
}

}  // namespace

std::string date_text(std::uint64_t since_1970_ns, const char* form) {
  const auto seconds = static_cast<std::time_t>(since_1970_ns / 1'000'000'000U);
  std::tm broken{};
  ::gmtime_r(&seconds, &broken);
  std::string text(32, '\0');
  text.resize(std::strftime(text.data(), text.size(), form, &broken));
  return text;
}

std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

void Table::row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = base::printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  std::vector<std::string> titles;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(display_width(column.title));
  }
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  std::string all;
  auto add = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i)
      line += (i ? kGap : "") + padded(cells[i], widths[i], columns_[i].align);
    line.erase(line.find_last_not_of(' ') + 1);
    all += line + "\n";
  };
  add(titles);
  for (const auto& row : rows_) add(row);
  return all;
}

}  // namespace perdure::inspect
