// perdure export writes a version as a file that other programs read, HDF5 or Zarr.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/open_store.hpp"
#include "cli/progress.hpp"
#include "cli/verb.hpp"
#include "portable/export_version.hpp"

namespace perdure::cli {
namespace {

struct ExportArguments {
  std::string checkpoint, to, store;
  std::vector<std::string> regions;
  bool force = false, unverified = false, json = false;
};

struct Exported {
  std::string version;
  portable::Exported file;
  double seconds = 0;
};

base::Result<Exported> export_to(const ExportArguments& arguments, Terminal& terminal) {
  PERDURE_TRY(const auto spec, parse_checkpoint(arguments.checkpoint));
  PERDURE_TRY(const auto store, open_store(arguments.store, terminal));
  PERDURE_TRY(auto opened, reader::open_version(*store, spec.name, spec.version, spec.branch));
  reader::StoredContent& content = opened.content;
  std::optional<Progress> progress;
  portable::ExportOptions options{arguments.regions, arguments.force, !arguments.unverified};
  options.begins = [&](std::uint64_t bytes) {
    progress.emplace(terminal, "exporting", bytes);
    return [&progress](std::uint64_t some) { progress->add(some); };
  };
  Exported exported{content.id().text(), {}, 0};
  PERDURE_TRY(exported.file, portable::export_version(content, arguments.to, options));
  exported.seconds = progress->elapsed_s();
  return exported;
}

base::Json to_json(const Exported& exported, const ExportArguments& arguments) {
  base::Json sets = base::Json::array();
  for (const auto& set : exported.file.sets) {
    base::Json extents = base::Json::array();
    for (unsigned d = 0; d < set.whole.dimensions; ++d) extents.push_back(set.whole.end[d]);
    sets.push_back({{"path", set.path}, {"id", set.id}, {"type", set.type.text()}, {"extents", extents}});
  }
  return {{"version", exported.version},  {"to", arguments.to},          {"xdmf", exported.file.xdmf},
          {"bytes", exported.file.bytes}, {"seconds", exported.seconds}, {"verified", !arguments.unverified},
          {"data_sets", std::move(sets)}};
}

std::string counted(std::size_t count, const char* one, const char* more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

std::string to_text(const Exported& exported, const ExportArguments& arguments) {
  const auto& [sets, bytes, xdmf] = exported.file;
  const auto arrays = static_cast<std::size_t>(
      std::count_if(sets.begin(), sets.end(), [](const auto& set) { return set.array != nullptr; }));
  const std::size_t locals = sets.size() - arrays;
  const auto rate = static_cast<std::uint64_t>(static_cast<double>(bytes) / std::max(exported.seconds, 1e-9));
  return fmt::format("{}: {}{}, {} of {}, in {:.1f} s ({}/s), {}\n", arguments.to, counted(arrays, "array", "arrays"),
                     locals == 0 ? "" : " and " + counted(locals, "region of a rank", "regions of ranks"),
                     base::format_bytes(bytes), exported.version, exported.seconds, base::format_bytes(rate),
                     arguments.unverified ? "not read back" : "read back and compared") +
         (xdmf.empty() ? "" : xdmf + ": describes it for ParaView and VisIt\n");
}

}  // namespace

Action enrol_export(CLI::App& app) {
  auto arguments = std::make_shared<ExportArguments>();
  app.add_option("NAME[@VERSION]", arguments->checkpoint, "the checkpoint; without a version its newest complete one")
      ->required();
  app.add_option("--to", arguments->to, "FILE.h5 (HDF5, with FILE.xdmf beside it) or DIRECTORY.zarr (Zarr 3)")
      ->required();
  app.add_option("--region", arguments->regions, "only this region, by name or number; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--store", arguments->store, "the store; by default the configured one (store.path)");
  app.add_flag("--force", arguments->force, "replaces what is there");
  app.add_flag("--no-verify", arguments->unverified, "does not read back what was written");
  app.add_flag("--json", arguments->json, "for programs: what was written");
  return [arguments](Terminal& terminal) -> int {
    std::string& to = arguments->to;
    while (to.size() > 1 && to.back() == '/') to.pop_back();
    const auto exported = export_to(*arguments, terminal);
    if (!exported) return report(terminal, exported.error());
    if (arguments->json)
      print_json(terminal, to_json(*exported, *arguments));
    else
      print(terminal.out, to_text(*exported, *arguments));
    return kGood;
  };
}

}  // namespace perdure::cli
