#include "fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace perdure::bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr double kLatency = 1.5e-6, kBandwidth = 4.5e9;

// Returns the times of a link or device of that model, each with an error of up to `noise`.
std::vector<Sample> synthetic(double constant_s, double bytes_per_s, double noise, double smallest = 1) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> off(1 - noise, 1 + noise);
  std::vector<Sample> samples;
  for (double bytes = smallest; bytes <= 64e6; bytes *= 4)
    samples.push_back({bytes, (constant_s + bytes / bytes_per_s) * off(random)});
  return samples;
}

using Fitter = Fitted<Fit> (*)(const std::vector<Sample>&);
Fitted<Fit> fit_time_without_mtu(const std::vector<Sample>& samples) { return fit_time(samples); }
class BothFits : public testing::TestWithParam<Fitter> {};
INSTANTIATE_TEST_SUITE_P(Fit, BothFits, testing::Values(&fit_time_without_mtu, &fit_throughput));

TEST_P(BothFits, FindsTheParametersOfExactDataWithoutResiduals) {
  const auto fit = GetParam()(synthetic(kLatency, kBandwidth, 0));
  ASSERT_TRUE(fit) << fit.error();
  EXPECT_NEAR(fit->constant_s, kLatency, 1e-6 * kLatency);
  EXPECT_NEAR(fit->bytes_per_s, kBandwidth, 1e-6 * kBandwidth);
  EXPECT_LT(fit->residuals.worst, 1e-6);
  EXPECT_EQ(fit->samples, 13U);
  EXPECT_NEAR(fit->seconds(4.5e6), kLatency + 1e-3, 1e-9);
}

TEST_P(BothFits, StaysCloseUnderNoiseAtBothEndsOfTheSizes) {
  const auto fit = GetParam()(synthetic(kLatency, kBandwidth, 0.1));
  ASSERT_TRUE(fit) << fit.error();
  EXPECT_NEAR(fit->constant_s, kLatency, 0.1 * kLatency);  // an unweighted fit is off by orders of magnitude here
  EXPECT_NEAR(fit->bytes_per_s, kBandwidth, 0.1 * kBandwidth);
  EXPECT_LT(fit->residuals.mean, 0.1);
  EXPECT_GT(fit->residuals.worst, fit->residuals.mean);
  EXPECT_LT(fit->residuals.worst, 0.25);
}

TEST_P(BothFits, AnOutlierShowsInTheWorstResidual) {
  auto samples = synthetic(0.0125, 1.4e9, 0, 1e6);
  samples[1].seconds *= 2;
  const auto fit = GetParam()(samples);
  ASSERT_TRUE(fit) << fit.error();
  EXPECT_GT(fit->residuals.worst, 0.2);
}

TEST_P(BothFits, NeverGiveANegativeConstant) {
  const auto fit = GetParam()({{1e6, 0.9e-3}, {2e6, 2e-3}, {4e6, 4.2e-3}});
  ASSERT_TRUE(fit) << fit.error();
  EXPECT_EQ(fit->constant_s, 0);
  EXPECT_NEAR(fit->bytes_per_s, 1e9, 0.1e9);
}

TEST_P(BothFits, RefuseTooFewSizes) {
  for (const std::vector<Sample>& few : {std::vector<Sample>{}, {{4, 1}}, {{4, 1}, {4, 2}}}) {
    const auto fit = GetParam()(few);
    ASSERT_FALSE(fit);
    EXPECT_THAT(fit.error(), AllOf(HasSubstr("different sizes"), HasSubstr("measure more sizes")));
  }
}

TEST_P(BothFits, RefuseTimesThatAreNone) {
  for (const double seconds : {0.0, -1.0, std::nan(""), static_cast<double>(INFINITY)}) {
    const auto fit = GetParam()({{4, 1}, {8, seconds}});
    ASSERT_FALSE(fit);
    EXPECT_THAT(fit.error(), HasSubstr("the measurement of 8 bytes took"));
  }
}

TEST_P(BothFits, RefuseTimesThatDoNotGrow) {
  const auto fit = GetParam()({{4, 1}, {8, 1}, {16, 0.5}});
  ASSERT_FALSE(fit);
  EXPECT_THAT(fit.error(), HasSubstr("do not grow with the size"));
}

TEST(Fit, OfTimesKnowsEmptyMessagesAndOfThroughputsRefusesThem) {
  const std::vector<Sample> with_empty{{0, 2e-6}, {1e6, 1.002e-3}};
  const auto fit = fit_time(with_empty);
  ASSERT_TRUE(fit) << fit.error();
  EXPECT_NEAR(fit->constant_s, 2e-6, 1e-9);
  ASSERT_FALSE(fit_throughput(with_empty));
  EXPECT_THAT(fit_throughput(with_empty).error(), HasSubstr("0 bytes has no throughput"));
}

TEST(Fit, TheFirstPacketIsPartOfTheLatency) {
  std::vector<Sample> samples;
  for (double bytes = 1; bytes < 1e7; bytes *= 4) samples.push_back({bytes, 1e-6 + std::fmax(bytes - 4096, 0) / 1e9});
  const auto fit = fit_time(samples, 4096);
  ASSERT_TRUE(fit) << fit.error();
  EXPECT_NEAR(fit->constant_s, 1e-6, 1e-10);
  EXPECT_NEAR(fit->bytes_per_s, 1e9, 1e4);
  EXPECT_LT(fit->residuals.worst, 1e-6);
  ASSERT_FALSE(fit_time({{1, 1e-6}, {2, 2e-6}}, 4096));
}

TEST(Fit, OfThroughputsMakesTheirErrorsLeast) {
  const auto samples = synthetic(0.1, 1e9, 0.2, 1e6);
  const auto squares = [&](const Fit& fit) {
    double sum = 0;
    for (const auto& [bytes, seconds] : samples) sum += std::pow(seconds / fit.seconds(bytes) - 1, 2);
    return sum;
  };
  const auto best = fit_throughput(samples), of_times = fit_time(samples);
  ASSERT_TRUE(best && of_times);
  EXPECT_LE(squares(*best), squares(*of_times));
  for (const double factor : {0.99, 1.01}) {
    Fit other = *best;
    other.constant_s *= factor;
    EXPECT_LE(squares(*best), squares(other));
    other = *best;
    other.bytes_per_s *= factor;
    EXPECT_LE(squares(*best), squares(other));
  }
}

}  // namespace
}  // namespace perdure::bench
