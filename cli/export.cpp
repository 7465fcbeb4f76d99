// perdure export: a version as a file that other programs read, HDF5 or Zarr.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/open_store.hpp"
#include "cli/progress.hpp"
#include "cli/verb.hpp"
#include "os/file.hpp"
#include "portable/export_version.hpp"
#include "portable/xdmf.hpp"

namespace perdure::cli {
namespace {

struct ExportArguments {
  std::string checkpoint, to, store;
  std::vector<std::string> regions;
  bool force = false, unverified = false, json = false;
};

struct Exported {
  std::string version, xdmf;  ///< xdmf: the path; empty where there is none
  std::vector<portable::DataSet> sets;
  std::uint64_t bytes = 0;
  double seconds = 0;
};

std::string xdmf_beside(const std::string& path) { return path.substr(0, path.rfind('.')) + ".xdmf"; }

base::Result<portable::Facts> about(store::Store& store, const store::VersionListing& listing,
                                    const reader::StoredContent& content) {
  PERDURE_TRY(const auto source, store.open(listing.segments.front()));
  PERDURE_TRY(const auto manifest, segment::read_contents(*source));
  const auto& id = listing.id;
  return portable::Facts{id.name, id.version, id.attempt.hex(), content.ranks(), manifest.writer};
}

/// Beside an HDF5 file, of what has two or three dimensions.
base::Result<std::string> write_xdmf(const ExportArguments& arguments, const std::vector<portable::DataSet>& sets,
                                     const portable::Facts& about) {
  const std::string text = portable::xdmf(sets, arguments.to.substr(arguments.to.rfind('/') + 1), about);
  if (text.empty()) return std::string();
  const std::string path = xdmf_beside(arguments.to);
  PERDURE_CHECK(os::write_file_atomically(path, base::as_bytes(text)));
  return path;
}

base::Result<Exported> export_to(const ExportArguments& arguments, Terminal& terminal) {
  PERDURE_TRY(const auto spec, parse_checkpoint(arguments.checkpoint));
  PERDURE_TRY(const auto format, portable::format_of(arguments.to));
  PERDURE_CHECK(portable::check_free(arguments.to, format, arguments.force));
  if (format == portable::Format::hdf5 && !arguments.force)
    PERDURE_CHECK(portable::check_free(xdmf_beside(arguments.to), format, false));
  PERDURE_TRY(const auto store, open_store(arguments.store, terminal));
  PERDURE_TRY(const auto listing, reader::find_version(*store, spec.name, spec.version));
  PERDURE_TRY(auto content, reader::StoredContent::open(*store, listing));
  Exported exported{listing.id.text(), {}, {}, 0, 0};
  PERDURE_TRY(exported.sets, portable::choose(content, arguments.regions));
  for (const auto& set : exported.sets) exported.bytes += set.bytes();
  PERDURE_TRY(const auto about, cli::about(*store, listing, content));
  const bool hdf5 = format == portable::Format::hdf5;
  PERDURE_TRY(const auto target,
              hdf5 ? portable::make_hdf5(arguments.to, about) : portable::make_zarr(arguments.to, about));
  {
    Progress progress(terminal, "exporting", exported.bytes * (arguments.unverified ? 1 : 2));
    PERDURE_CHECK(portable::export_sets(content, exported.sets, *target, !arguments.unverified,
                                        [&](std::uint64_t bytes) { progress.add(bytes); }));
    // First, so that a file system that is full by now leaves neither of them.
    if (hdf5) {
      PERDURE_TRY(exported.xdmf, write_xdmf(arguments, exported.sets, about));
    }
    if (auto published = target->publish(arguments.force); !published) {
      if (!exported.xdmf.empty()) (void)os::remove_file(exported.xdmf);
      return base::fail(published.error());
    }
    exported.seconds = progress.elapsed_s();
  }
  return exported;
}

base::Json to_json(const Exported& exported, const ExportArguments& arguments) {
  base::Json sets = base::Json::array();
  for (const auto& set : exported.sets) {
    base::Json extents = base::Json::array();
    for (unsigned d = 0; d < set.whole.dimensions; ++d) extents.push_back(set.whole.end[d]);
    sets.push_back({{"path", set.path}, {"id", set.id}, {"type", set.type.text()}, {"extents", extents}});
  }
  return {{"version", exported.version}, {"to", arguments.to},          {"xdmf", exported.xdmf},
          {"bytes", exported.bytes},     {"seconds", exported.seconds}, {"verified", !arguments.unverified},
          {"data_sets", std::move(sets)}};
}

std::string counted(std::size_t count, const char* one, const char* more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

std::string to_text(const Exported& exported, const ExportArguments& arguments) {
  const auto arrays = static_cast<std::size_t>(
      std::count_if(exported.sets.begin(), exported.sets.end(), [](const auto& set) { return set.array != nullptr; }));
  const std::size_t locals = exported.sets.size() - arrays;
  const auto rate = static_cast<std::uint64_t>(static_cast<double>(exported.bytes) / std::max(exported.seconds, 1e-9));
  return fmt::format("{}: {}{}, {} of {}, in {:.1f} s ({}/s), {}\n", arguments.to, counted(arrays, "array", "arrays"),
                     locals == 0 ? "" : " and " + counted(locals, "region of a rank", "regions of ranks"),
                     base::format_bytes(exported.bytes), exported.version, exported.seconds, base::format_bytes(rate),
                     arguments.unverified ? "not read back" : "read back and compared") +
         (exported.xdmf.empty() ? "" : exported.xdmf + ": describes it for ParaView and VisIt\n");
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
