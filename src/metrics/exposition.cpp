#include "metrics/exposition.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "metrics/utf8.hpp"

namespace perdure::metrics {
namespace {

constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
constexpr const char* kLettersAndDigits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

bool is_name(std::string_view name) {
  return !name.empty() && std::string_view(kLetters).find(name.front()) != std::string_view::npos &&
         name.find_first_not_of(kLettersAndDigits) == std::string_view::npos;
}

const char* kind_text(Kind kind) {
  switch (kind) {
    case Kind::counter:
      return "counter";
    case Kind::gauge:
      return "gauge";
    case Kind::histogram:
      return "histogram";
  }
  return "untyped";
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char text[32];
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  const auto end = whole ? std::to_chars(text, text + sizeof text, static_cast<long long>(value))
                         : std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else if (c == '"' && quotes)
      out += "\\\"";
    else
      out += c;
  }
  return out;
}

void append_line(std::string& out, const std::string& name, const Labels& labels, const std::string& value) {
  out += name;
  for (std::size_t i = 0; i < labels.size(); ++i)
    out += (i == 0 ? "{" : ",") + labels[i].first + "=\"" + escaped(labels[i].second, true) + "\"";
  out += (labels.empty() ? " " : "} ") + value + "\n";
}

// Each bucket counts all values up to its bound.
void append_distribution(std::string& out, const std::string& name, const Sample& sample) {
  const Distribution& d = *sample.distribution;
  Labels labels = sample.labels;
  labels.emplace_back("le", "");
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < d.counts.size(); ++i) {
    count += d.counts[i];
    labels.back().second = i < d.bounds.size() ? number_text(d.bounds[i]) : "+Inf";
    append_line(out, name + "_bucket", labels, std::to_string(count));
  }
  append_line(out, name + "_sum", sample.labels, number_text(d.sum));
  append_line(out, name + "_count", sample.labels, std::to_string(count));
}

base::Status wrong(const Family& family, const std::string& why) {
  return base::fail(PERDURE_INVALID_ARGUMENT, "metric '" + family.name + "'", why);
}

base::Status check_labels(const Family& family, const Labels& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::string& name = labels[i].first;
    if (!is_name(name) || name.starts_with("__")) return wrong(family, "'" + name + "' is no name of a label");
    if (name == "le" && family.kind == Kind::histogram) return wrong(family, "a histogram sets the label 'le' itself");
    for (std::size_t j = 0; j < i; ++j)
      if (labels[j].first == name) return wrong(family, "a sample has the label '" + name + "' twice");
  }
  return {};
}

base::Status check_value(const Family& family, const Sample& sample) {
  if (sample.distribution.has_value() != (family.kind == Kind::histogram))
    return wrong(family, "only the samples of a histogram have buckets, and all of them do");
  if (family.kind == Kind::counter && !(sample.value >= 0)) return wrong(family, "a counter is below zero");
  if (family.kind != Kind::histogram) return {};
  const Distribution& d = *sample.distribution;
  if (d.counts.size() != d.bounds.size() + 1) return wrong(family, "there must be one more bucket than bounds");
  for (std::size_t i = 0; i < d.bounds.size(); ++i)
    if (!std::isfinite(d.bounds[i]) || (i > 0 && d.bounds[i] <= d.bounds[i - 1]))
      return wrong(family, "the bounds of its buckets are not finite and ascending");
  return {};
}

Labels sorted(Labels labels) {
  std::sort(labels.begin(), labels.end());
  return labels;
}

base::Status check_unique(const Family& family) {
  std::vector<Labels> all;
  for (const Sample& sample : family.samples) all.push_back(sorted(sample.labels));
  std::sort(all.begin(), all.end());
  if (std::adjacent_find(all.begin(), all.end()) != all.end()) return wrong(family, "two samples have the same labels");
  return {};
}

}  // namespace

base::Status check(const Family& family) {
  if (!is_name(family.name)) return wrong(family, "that is no name of a metric");
  if (family.help.empty()) return wrong(family, "nothing says what it means");
  if (family.name.ends_with("_total") != (family.kind == Kind::counter))
    return wrong(family, "counters, and only they, end in _total");
  for (const Sample& sample : family.samples) {
    PERDURE_CHECK(check_labels(family, sample.labels));
    PERDURE_CHECK(check_value(family, sample));
  }
  return check_unique(family);
}

base::Result<std::string> encode(std::vector<Family> families) {
  std::sort(families.begin(), families.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::string out;
  for (std::size_t i = 0; i < families.size(); ++i) {
    Family& family = families[i];
    PERDURE_CHECK(check(family));
    if (i > 0 && families[i - 1].name == family.name) return base::fail(wrong(family, "it is there twice").error());
    if (family.samples.empty()) continue;
    std::stable_sort(family.samples.begin(), family.samples.end(),
                     [](const Sample& a, const Sample& b) { return a.labels < b.labels; });
    out += "# HELP " + family.name + " " + escaped(family.help, false) + "\n";
    out += "# TYPE " + family.name + " " + kind_text(family.kind) + "\n";
    for (const Sample& sample : family.samples)
      if (sample.distribution)
        append_distribution(out, family.name, sample);
      else
        append_line(out, family.name, sample.labels, number_text(sample.value));
  }
  return out;
}

base::Status merge(std::vector<Family>& all, const std::vector<Family>& more, const Labels& labels) {
  const auto known = [&all](const std::string& name) {
    return std::find_if(all.begin(), all.end(), [&](const Family& family) { return family.name == name; });
  };
  for (const Family& family : more)
    if (const auto mine = known(family.name); mine != all.end() && mine->kind != family.kind)
      return base::fail(PERDURE_MISMATCH, "metric '" + family.name + "'",
                        std::string("it is a ") + kind_text(mine->kind) + " and a " + kind_text(family.kind),
                        "use one release of Perdure for all engines of this machine");
  for (const Family& family : more) {
    auto mine = known(family.name);
    if (mine == all.end()) mine = all.insert(all.end(), {family.name, family.kind, family.help, {}});
    for (Sample sample : family.samples) {
      sample.labels.insert(sample.labels.begin(), labels.begin(), labels.end());
      mine->samples.push_back(std::move(sample));
    }
  }
  return {};
}

}  // namespace perdure::metrics
