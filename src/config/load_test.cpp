#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "config/config.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::config {
namespace {

class Load : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { std::ofstream(directory_ + "/" + name) << text; }
  std::string failure(const std::map<std::string, std::string>& environment, std::string_view program = {},
                      const std::vector<std::string>& command_line = {}) const {
    const auto config = load_from(program, environment, directory_, command_line);
    return config ? "" : config.error().text();
  }

  const test_support::TemporaryDirectory temporary_;
  const std::string& directory_ = temporary_.path();
};

TEST_F(Load, TakesEachSourceOverTheOneBefore) {
  write("perdure.toml", "[flush]\nthreads = 4\n");
  const std::map<std::string, std::string> environment = {{"PERDURE_FLUSH_THREADS", "5"}, {"HOME", "/"}};
  const auto threads = [&](std::string_view program, const std::map<std::string, std::string>& env,
                           const std::vector<std::string>& command_line, const std::string& where) {
    const auto config = load_from(program, env, where, command_line);
    return config ? config->integer("flush.threads") : -1;
  };
  EXPECT_EQ(threads("", {}, {}, "/"), 2);
  EXPECT_EQ(threads("flush.threads=3", {}, {}, "/"), 3);
  EXPECT_EQ(threads("flush.threads=3", {}, {}, directory_), 4);
  EXPECT_EQ(threads("flush.threads=3", environment, {}, directory_), 5);
  EXPECT_EQ(threads("flush.threads=3", environment, {"flush.threads=6"}, directory_), 6);
}

TEST_F(Load, SaysWhereEachValueCameFrom) {
  write("perdure.toml", "job = 'mine'\n");
  const auto config = load_from("flush.threads=3", {{"PERDURE_CHUNK_BYTES", "1MiB"}}, directory_, {"segment.per=rank"});
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->values().at("flush.threads").origin, Origin::program);
  EXPECT_EQ(config->values().at("job").source, directory_ + "/perdure.toml");
  EXPECT_EQ(config->values().at("chunk_bytes").source, "PERDURE_CHUNK_BYTES");
  EXPECT_EQ(config->values().at("segment.per").origin, Origin::command_line);
}

TEST_F(Load, TakesTheFileThatTheEnvironmentNames) {
  write("perdure.toml", "job = 'wrong'\n");
  write("other.toml", "job = 'right'\n");
  for (const std::string& path : {directory_ + "/other.toml", std::string("other.toml")}) {
    const auto config = load_from("", {{"PERDURE_CONFIG", path}}, directory_);
    ASSERT_TRUE(config) << config.error().text();
    EXPECT_EQ(config->text("job"), "right");
  }
  EXPECT_NE(failure({{"PERDURE_CONFIG", "missing.toml"}}).find("missing.toml"), std::string::npos);
}

TEST_F(Load, RefusesUnknownNamesInEverySourceWithTheNearest) {
  EXPECT_NE(failure({{"PERDURE_FLUSH_THREAD", "1"}}).find("PERDURE_FLUSH_THREADS"), std::string::npos);
  EXPECT_NE(failure({}, "flush.thread=1").find("'flush.threads'"), std::string::npos);
  EXPECT_NE(failure({}, "", {"flush.thread=1"}).find("'flush.threads'"), std::string::npos);
  write("perdure.toml", "[flush]\nthread = 1\n");
  const std::string text = failure({});
  EXPECT_NE(text.find("'flush.threads'"), std::string::npos);
  EXPECT_NE(text.find("perdure.toml"), std::string::npos);
}

TEST_F(Load, LeavesReservedAndForeignVariablesAlone) {
  EXPECT_EQ(failure({{"PERDURE_TEST_FAULTS", "x"}, {"PERDURE_DEMO_KILL", "x"}, {"PERDURE", "x"}, {"PERDUREX", "x"}}),
            "");
  EXPECT_EQ(failure({{"PERDURE_LIBRARY", "/opt/lib/libperdure.so"}}), "") << "it is the Python package's";
  EXPECT_EQ(failure({{"PERDURE_ROOT", "/opt"}, {"PERDURE_DIR", "/opt"}, {"PERDURE_HOME", "/opt"}}), "")
      << "a site's module file sets them";
}

TEST_F(Load, RefusesAWrongValueWithTheVariablesName) {
  const std::string text = failure({{"PERDURE_CHUNK_BYTES", "1"}});
  EXPECT_EQ(text.rfind("PERDURE_CHUNK_BYTES: '1' ", 0), 0U) << text;
}

TEST_F(Load, RefusesAnUnreadableFileInsteadOfIgnoringIt) {
  std::filesystem::create_directory(directory_ + "/perdure.toml");
  EXPECT_NE(failure({}), "");
}

TEST_F(Load, RefusesAGiantFile) {
  write("perdure.toml", "# " + std::string(1 << 20, 'x') + "\n");
  EXPECT_NE(failure({}), "");
}

}  // namespace
}  // namespace perdure::config
