#include "config/config.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "placement/registry.hpp"
#include "redundancy/registry.hpp"

namespace perdure::config {
namespace {

TEST(Config, StartsWithTheDefaults) {
  const Config config;
  EXPECT_EQ(config.text("store.path"), "./perdure-store");
  EXPECT_EQ(config.bytes("chunk_bytes"), 64U << 20U);
  EXPECT_EQ(config.integer("flush.threads"), 2);
  EXPECT_EQ(config.real("flush.retry_initial"), 0.1);
  EXPECT_TRUE(config.boolean("engine.spawn"));
  EXPECT_EQ(config.values().size(), options().size());
  EXPECT_EQ(config.values().at("job").origin, Origin::default_value);
}

TEST(Config, NamesTheNearestKeyOfAnUnknownOne) {
  Config config;
  const auto status = config.set("tier.memroy.max_bytes", "1GiB", Origin::program);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_NE(status.error().text().find("'tier.memory.max_bytes'"), std::string::npos) << status.error().text();
}

TEST(Config, KeepsTheOldValueWhenTheNewOneIsRefused) {
  Config config;
  const auto status = config.set("flush.threads", "many", Origin::file, "/etc/p.toml");
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().text().find("/etc/p.toml: flush.threads"), std::string::npos) << status.error().text();
  EXPECT_EQ(config.integer("flush.threads"), 2);
}

TEST(Config, LetsLaterOriginsWinInWhateverOrderTheyCome) {
  Config config;
  ASSERT_TRUE(config.set("flush.threads", "5", Origin::environment, "PERDURE_FLUSH_THREADS"));
  ASSERT_TRUE(config.set("flush.threads", "3", Origin::file, "f"));
  EXPECT_EQ(config.integer("flush.threads"), 5);
  EXPECT_EQ(config.values().at("flush.threads").source, "PERDURE_FLUSH_THREADS");
  ASSERT_TRUE(config.set("flush.threads", "6", Origin::environment, "PERDURE_FLUSH_THREADS"));
  EXPECT_EQ(config.integer("flush.threads"), 6);
  EXPECT_FALSE(config.set("flush.threads", "0", Origin::program)) << "a loser is checked too";
}

TEST(Config, ReadsWhatItSerialised) {
  Config config;
  ASSERT_TRUE(config.set("store.path", "/s;tore/\"x\"", Origin::program));
  ASSERT_TRUE(config.set("chunk_bytes", "1MiB", Origin::program));
  Config copy;
  const auto status = copy.set_all(config.serialise(), Origin::command_line);
  ASSERT_TRUE(status) << status.error().text();
  for (const auto& [key, value] : config.values()) EXPECT_EQ(copy.values().at(key).text, value.text) << key;
  EXPECT_EQ(copy.fingerprint(), config.fingerprint());
}

TEST(Config, HasAFingerprintOfTheEnginesOptionsOnly) {
  for (const Option& option : options()) {
    Config config;
    std::string other = "8";
    if (option.type == Type::choice) {  // takes the first that is not the default
      std::istringstream choices(choices_of(option));
      while (std::getline(choices, other, '|') && other == option.default_value) {
      }
    }
    if (option.type == Type::boolean) other = std::string_view(option.default_value) == "true" ? "false" : "true";
    if (option.type == Type::bytes) other = "128KiB";
    if (std::string_view(option.key) == "tier.order") other = "file";
    if (option.maximum <= 1) other = "0.5";
    ASSERT_TRUE(config.set(option.key, other, Origin::program)) << option.key;
    EXPECT_EQ(config.fingerprint() != Config().fingerprint(), option.engine) << option.key;
  }
}

TEST(Config, HasOneFingerprintHoweverAValueIsWritten) {
  Config one;
  Config other;
  ASSERT_TRUE(one.set("chunk_bytes", "1MiB", Origin::program));
  ASSERT_TRUE(other.set("chunk_bytes", "1048576", Origin::environment));
  EXPECT_EQ(one.fingerprint(), other.fingerprint());
  EXPECT_EQ(one.fingerprint().size(), 16U);
  EXPECT_EQ(one.fingerprint().find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(Config, AListIsTheSameHoweverItIsWritten) {
  Config plain, blanks;
  ASSERT_FALSE(plain.set("pipeline", "flush,,retire", Origin::program));
  ASSERT_FALSE(plain.set("pipeline", "flush,retire,flush", Origin::program));
  ASSERT_TRUE(plain.set("pipeline", "flush,retire", Origin::program));
  ASSERT_TRUE(blanks.set("pipeline", " flush ,  retire", Origin::program));
  ASSERT_TRUE(plain.set("tier.order", "file,memory", Origin::program));
  ASSERT_TRUE(blanks.set("tier.order", "  file ,  memory ", Origin::program));
  EXPECT_EQ(plain.list("tier.order"), (std::vector<std::string>{"file", "memory"}));
  EXPECT_EQ(blanks.list("tier.order"), plain.list("tier.order"));
  EXPECT_EQ(blanks.fingerprint(), plain.fingerprint());
  EXPECT_TRUE(Config().list("redundancy.parity_servers").empty());
  ASSERT_TRUE(plain.set("redundancy.parity_servers", "/a b/1,, /2", Origin::program));
  EXPECT_EQ(plain.list("redundancy.parity_servers"), (std::vector<std::string>{"/a b/1", "/2"}));
}

TEST(Config, AnOptionOfAnyTypeIsReadAsItWasWritten) {
  Config config;
  ASSERT_TRUE(config.set("chunk_bytes", "1MiB", Origin::environment, "PERDURE_CHUNK_BYTES"));
  EXPECT_EQ(config.value("chunk_bytes").text, "1MiB");
  EXPECT_EQ(config.value("chunk_bytes").origin, Origin::environment);
}

TEST(Config, OptionsOfAFamilyAreHandedOverWithoutItsName) {
  Config config;
  ASSERT_TRUE(config.set("tier.file.path", "/disk", Origin::program));
  const auto below = config.below("tier.file.");
  EXPECT_EQ(below.at("path"), "/disk");
  EXPECT_EQ(below.at("max_bytes"), "0");
  EXPECT_EQ(below.size(), 2U);
}

TEST(Options, OfAChoiceAmongAFamilyNameItsMembers) {
  for (const char* key : {"redundancy.scheme", "placement.policy"}) {
    const Option* option = find_option(key);
    ASSERT_NE(option, nullptr);
    ASSERT_NE(option->registered, nullptr) << key;
    EXPECT_EQ(choices_of(*option).find(' '), std::string::npos);
    Config config;
    EXPECT_FALSE(config.set(key, "none", Origin::program));
  }
  Config config;
  for (const auto& scheme : redundancy::schemes())
    EXPECT_TRUE(config.set("redundancy.scheme", scheme.name, Origin::program)) << scheme.name;
  for (const auto& policy : placement::policies())
    EXPECT_TRUE(config.set("placement.policy", policy.name, Origin::program)) << policy.name;
}

}  // namespace
}  // namespace perdure::config
