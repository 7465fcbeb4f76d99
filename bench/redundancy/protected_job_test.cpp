#include "protected_job.hpp"

#include <gtest/gtest.h>

namespace perdure::redundancy_bench {
namespace {

TEST(ProtectedJob, NamesEveryOptionThatAMeasurementDependsOn) {
  JobOptions options;
  options.name = "one";
  options.directory = "/d";
  options.scheme = "xor";
  options.ranks_per_node = 2;
  options.flush_bytes_per_s = 7;
  const std::string text = options.text();
  for (const char* part : {"job=one;", "store.path=/d/store-one;", "node.path=/d;", "tier.order=memory;",
                           "redundancy.scheme=xor;", "node.ranks_per_node=2;", "flush.max_bandwidth=7"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
}

TEST(ProtectedJob, FurtherOptionsComeLastSoThatTheyAreTheOnesInForce) {
  JobOptions options;
  options.more = "chunk_bytes=4MiB";
  EXPECT_TRUE(options.text().ends_with(";chunk_bytes=4MiB"));
}

}  // namespace
}  // namespace perdure::redundancy_bench
