// Writes docs/configuration.md from the table.
#include "config/config.hpp"

namespace perdure::config {
namespace {

const char* type_name(Type type) {
  switch (type) {
    case Type::text:
      return "text";
    case Type::list:
      return "list";
    case Type::boolean:
      return "true or false";
    case Type::integer:
      return "whole number";
    case Type::real:
      return "number";
    case Type::bytes:
      return "size";
    case Type::choice:
      return "choice";
  }
  return "";
}

// Formats "embedded|daemon" as "`embedded` or `daemon`"; a bar would end the cell of the table.
std::string choices_text(const std::string& choices) {
  std::string text = "`";
  for (const char c : choices) text += c == '|' ? std::string("` or `") : std::string(1, c);
  return text + "`";
}

std::string row(const Option& option) {
  const std::string kind = option.type == Type::choice ? choices_text(choices_of(option)) : type_name(option.type);
  const std::string value = *option.default_value == '\0' ? "(empty)" : "`" + std::string(option.default_value) + "`";
  return "| `" + std::string(option.key) + "` | " + kind + " | " + value + " | " + option.unit + " | " +
         (option.engine ? "yes" : "") + " | " + option.documentation + " |\n";
}

constexpr const char* kHead = R"(# Configuration

*Generated from the options table (`src/config/options.hpp`) by `tools/generate_configuration`; do not edit.*

An option is set in any of these places; a later one wins over an earlier one:

1. its default;
2. the program: the `options` text of `perdure_open()`, `"key=value"` separated by newlines or semicolons (a value that
   contains a semicolon stands in double quotes);
3. a TOML file: the one that `PERDURE_CONFIG` names, else `perdure.toml` in the working directory if it is there;
4. the environment: `PERDURE_` and the key in capitals, with `_` for each dot (`tier.memory.max_bytes` is
   `PERDURE_TIER_MEMORY_MAX_BYTES`);
5. the command line of the tools: `--set key=value`.

An unknown key is an error that names the nearest known one. The same holds for a variable that begins with
`PERDURE_` and resembles an option. It does if a few letters differ, or if it begins with the word of a group
(`PERDURE_STORE_DIR`). Perdure ignores other such variables, because sites set them (`PERDURE_ROOT`, `PERDURE_DIR`,
`PERDURE_HOME`); `perdure doctor` lists them. `PERDURE_LIBRARY` is no option either: it tells the Python package where
`libperdure.so` is. `perdure config` shows the values in force and where each came from.

Sizes are bytes, or a number with a unit: `64k`, `1.5GiB`, `2GB` (`K KiB M MiB G GiB T TiB` are powers of 1024,
`KB MB GB TB` powers of 1000). Times are seconds. Commas separate the items of a list.

A file that sets some of them:

```toml
[store]
path = "/scratch/me/perdure-store"

[tier]
order = ["memory", "file"]
memory.max_bytes = "8GiB"

[retention]
keep_last = 3
```

A `perdured` that a program starts has the program's configuration, and these variables of its environment only:

- `PATH`, `HOME`, `USER`, `LOGNAME`, `TMPDIR`, `XDG_CONFIG_HOME`, `LANG`, `LC_*`, `TZ`, `PERDURE_*`, `LD_LIBRARY_PATH`
- the options of sanitizers and of `malloc` (`MALLOC_*`, `GLIBC_TUNABLES`)
- those of libfabric and its providers: `FI_*`, `UCX_*`, `PSM2_*`, `PSM3_*`, `HFI_*`, `MLX5_*`, `IBV_*`, `RDMAV_*`,
  `SLINGSHOT_*`

So no secret of the job lives on in it. Start a `perdured` that needs other variables by hand, with `engine.spawn` off.

**Engine**: jobs that differ in an option marked *yes* never share an engine, even on one node and with one store.

| option | type | default | unit | engine | meaning |
| --- | --- | --- | --- | --- | --- |
)";

}  // namespace

std::string markdown() {
  std::string page = kHead;
  for (const Option& option : options()) page += row(option);
  return page;
}

}  // namespace perdure::config
