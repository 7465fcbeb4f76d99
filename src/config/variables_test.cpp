#include "config/variables.hpp"

#include <gmock/gmock.h>

#include "config/config.hpp"

namespace perdure::config {
namespace {

using testing::ElementsAre;

TEST(Variables, ThatSitesSetAreLeftAlone) {
  for (const char* name : {"PERDURE_ROOT", "PERDURE_DIR", "PERDURE_HOME", "PERDURE_PREFIX", "PERDURE_VERSION",
                           "PERDURE_BIN", "PERDURE_LIB", "PERDURE_INC", "PERDURE_INCLUDE", "PERDURE_INCLUDE_DIR",
                           "PERDURE_LIB_DIR", "PERDURE_INSTALL_DIR", "PERDURE_INSTALLDIR", "PERDURE_MODULE",
                           "PERDURE_MODULE_VERSION", "PERDURE_LICENSE", "PERDURE_POST_LINK_OPTS", "PERDURE_"})
    EXPECT_EQ(kind_of_variable(name), VariableKind::unrelated) << name << " ~ " << nearest_variable(name);
}

TEST(Variables, ThatAreAFewLettersFromAnOptionAreMisspelt) {
  for (const char* name : {"PERDURE_FLUSH_THREAD", "PERDURE_FLSUH_THREADS", "PERDURE_JOBS", "PERDURE_CASES",
                           "PERDURE_MESSAGE", "PERDURE_AFINITY", "PERDURE_CHUNK_BYTE", "PERDURE_CHUNKBYTES",
                           "PERDURE_STORE_PTAH", "PERDURE_STORPATH", "PERDURE_RETENTON_KEEP_LAST"})
    EXPECT_EQ(kind_of_variable(name), VariableKind::misspelt) << name;
}

TEST(Variables, ThatNameAGroupOfOptionsAreMisspelt) {
  for (const char* name : {"PERDURE_STORE", "PERDURE_STORE_DIRECTORY", "PERDURE_TIER_SSD_PATH", "PERDURE_FLUSH_ALWAYS",
                           "PERDURE_ENGINE_LOG_LEVEL"})
    EXPECT_EQ(kind_of_variable(name), VariableKind::misspelt) << name;
  EXPECT_EQ(kind_of_variable("PERDURE_STORE_" + std::string(500, 'X')), VariableKind::misspelt) << "however long";
}

TEST(Variables, OfTheTableAreOptionsAndNoLetterMoreOrLessIsLeftAlone) {
  for (const Option& option : options()) {
    const std::string name = option.environment;
    EXPECT_EQ(kind_of_variable(name), VariableKind::option) << name;
    EXPECT_NE(kind_of_variable(name + "S"), VariableKind::unrelated) << name;
    for (std::size_t i = std::string("PERDURE_").size(); i < name.size(); ++i) {
      const std::string missing = name.substr(0, i) + name.substr(i + 1);
      EXPECT_NE(kind_of_variable(missing), VariableKind::unrelated) << missing;
    }
  }
}

TEST(Variables, ThatPerdureReadsElsewhereAreReserved) {
  for (const char* name : {"PERDURE_CONFIG", "PERDURE_LIBRARY", "PERDURE_TEST_FAULTS", "PERDURE_DEMO_KILL"})
    EXPECT_EQ(kind_of_variable(name), VariableKind::reserved) << name;
}

TEST(Variables, OfHostileLengthCostNothing) {
  EXPECT_EQ(kind_of_variable("PERDURE_" + std::string(std::size_t{1} << 20, 'X')), VariableKind::unrelated);
}

TEST(Variables, ThatAreLeftAloneAreListed) {
  EXPECT_THAT(unrelated_variables({{"PERDURE_ROOT", "/opt"},
                                   {"PERDURE_DIR", "/opt"},
                                   {"PERDURE_JOB", "7"},
                                   {"PERDURE_CONFIG", "f"},
                                   {"PERDURE", "x"},
                                   {"HOME", "/"}}),
              ElementsAre("PERDURE_DIR", "PERDURE_ROOT"));
}

}  // namespace
}  // namespace perdure::config
