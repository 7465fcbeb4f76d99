#include "exchange_models.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"

namespace perdure::micro {
namespace {

// Every operation runs at 1 GB/s (reads at 2), with an overhead of 1 ms.
Series series_of_a_node(ExchangeMode mode) {
  Series series{.benchmark = "cpex", .mode = name_of(mode), .more = Json::object(), .sizes = {}};
  for (const double bytes : {1e6, 4e6, 16e6}) {
    const double operation = bytes / 1e9, read = mode == ExchangeMode::partner ? bytes / 2e9 : 0;
    Measured measured{static_cast<std::uint64_t>(bytes), bytes, {1e-3 + 3 * operation + read}, Json::object()};
    for (const char* name : {"write", "exchange", "copy"}) measured.more[std::string(name) + "_s"] = operation;
    if (read > 0) measured.more["read_s"] = read;
    series.sizes.push_back(measured);
  }
  return series;
}

TEST(ExchangeModels, FindWhatIsBeyondThePartsOfEachMode) {
  ExchangeSeries all;
  for (const ExchangeMode mode : {ExchangeMode::partner, ExchangeMode::sequential})
    all[{mode, 0}] = series_of_a_node(mode);
  Results results("cpex", Json::object());
  compose(all, results);
  const Json json = results.json();
  EXPECT_NEAR(json["fit"]["cpex partner, composed"]["overhead_s"], 1e-3, 1e-9);
  EXPECT_NEAR(json["fit"]["cpex sequential, composed"]["overhead_s"], 1e-3, 1e-9);
  EXPECT_NEAR(json["parts_bytes_per_s_and_rank"]["read"], 2e9, 1e3);
}

TEST(ExchangeModels, TakeThePartsOfPartnerWhereThereIsNoOther) {
  Results results("cpex", Json::object());
  compose({{{ExchangeMode::partner, 0}, series_of_a_node(ExchangeMode::partner)}}, results);
  EXPECT_NEAR(results.json()["fit"]["cpex partner, composed"]["overhead_s"], 1e-3, 1e-9);
}

TEST(ExchangeModels, SayNothingWithoutParts) {
  Results results("cpex", Json::object());
  compose({{{ExchangeMode::interleaved, 4096}, series_of_a_node(ExchangeMode::interleaved)}}, results);
  EXPECT_TRUE(results.json()["fit"].empty());
}

}  // namespace
}  // namespace perdure::micro
