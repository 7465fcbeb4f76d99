#include "fit_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perdure::bench {
namespace {

using testing::HasSubstr;

const std::vector<Sample> kExact{{1e6, 2e-3}, {2e6, 3e-3}, {4e6, 5e-3}};

TEST(FitReport, HasParametersWithUnitsAndResiduals) {
  const auto time = to_json(Model::time, fit(Model::time, kExact));
  EXPECT_NEAR(time["latency_s"], 1e-3, 1e-9);
  EXPECT_NEAR(time["bandwidth_bytes_per_s"], 1e9, 1);
  EXPECT_EQ(time["samples"], 3);
  EXPECT_EQ(fit_text(time),
            "t(n) = latency + n / bandwidth: latency 1000.000 us, bandwidth 1000.0 MB/s; residuals: mean 0.0 %, worst "
            "0.0 %");
  const auto throughput = to_json(Model::throughput, fit(Model::throughput, kExact));
  EXPECT_NEAR(throughput["overhead_s"], 1e-3, 1e-9);
  EXPECT_THAT(fit_text(throughput), HasSubstr("max_bandwidth 1000.0 MB/s"));
}

TEST(FitReport, SaysWhyThereIsNoFit) {
  const auto none = to_json(Model::throughput, fit(Model::throughput, {{1e6, 1}}));
  EXPECT_THAT(none["error"].get<std::string>(), HasSubstr("measure more sizes"));
  EXPECT_THAT(fit_text(none), HasSubstr("B_max): not fitted: there are 1 different sizes"));
}

TEST(FitReport, KnowsCompositionsToo) {
  const Parts parts{
      .write_bytes_per_s = 1e9, .read_bytes_per_s = 0, .exchange_bytes_per_s = 1e9, .copy_bytes_per_s = 1e9};
  const auto whole = to_json(Composition::buddy, fit_whole(Composition::buddy, parts, {{1e6, 4e-3}}));
  EXPECT_NEAR(whole["overhead_s"], 1e-3, 1e-9);
  EXPECT_THAT(fit_text(whole), HasSubstr("overhead 1000.000 us; residuals"));
}

}  // namespace
}  // namespace perdure::bench
