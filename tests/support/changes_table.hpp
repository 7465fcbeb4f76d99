#pragma once
// Reads the rows of tests/data/changes.table, which programs in four languages carry out.
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace perdure::test_support {

struct RegionOfRow {
  int id = 0;
  std::string name;  ///< empty: it has none
  int count = 0;
  std::string type;  ///< "f8" or "i8"
};

struct ChangeRow {
  std::string what;
  std::vector<RegionOfRow> now;
  std::vector<int> optional;
  std::vector<std::string> passed_over;
  std::vector<std::pair<std::string, std::string>> renamed;
  std::string status;                 ///< as perdure_status_name() returns it
  std::vector<std::string> words;     ///< words in the error text
  std::map<int, std::string> filled;  ///< by region, which old content it gets; the others stay unchanged
};

inline std::vector<std::string> parts_of(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == at)
      parts.emplace_back();
    else
      parts.back() += letter;
  }
  for (std::string& part : parts) {
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
  }
  return parts;
}

inline void declare(const std::string& text, ChangeRow& row) {
  const auto middle = text.find(':');
  const std::string kind = text.substr(0, middle), what = text.substr(middle + 1);
  if (kind == "optional") row.optional.push_back(std::stoi(what));
  if (kind == "passed_over") row.passed_over.push_back(what);
  if (kind == "renamed") row.renamed.emplace_back(what.substr(0, what.find('>')), what.substr(what.find('>') + 1));
}

inline std::vector<std::string> items_of(const std::string& field, char between) {
  return field == "-" ? std::vector<std::string>() : parts_of(field, between);
}

inline std::vector<ChangeRow> change_rows(const std::string& path) {
  std::vector<ChangeRow> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto fields = parts_of(line, '|');
    ChangeRow& row = rows.emplace_back();
    row.what = fields.at(0);
    for (const auto& region : items_of(fields.at(1), ' ')) {
      const auto parts = parts_of(region, ':');
      row.now.push_back({std::stoi(parts.at(0)), parts.at(1), std::stoi(parts.at(2)), parts.at(3)});
    }
    for (const auto& declared : items_of(fields.at(2), ' ')) declare(declared, row);
    row.status = fields.at(3);
    row.words = items_of(fields.at(4), ';');
    for (const auto& filled : items_of(fields.at(5), ' ')) {
      const auto parts = parts_of(filled, '=');
      row.filled[std::stoi(parts.at(0))] = parts.at(1);
    }
  }
  return rows;
}

}  // namespace perdure::test_support
