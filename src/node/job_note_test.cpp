#include "node/job_note.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "os/file.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::node {
namespace {

const JobNote kNote{"wave \"2\"", "/scratch/me/store", "n1#0"};

TEST(JobNote, IsReadAsItWasWritten) {
  const test_support::TemporaryDirectory directory;
  EXPECT_EQ(read_job_note(directory.path()).error().code, PERDURE_NOT_FOUND);
  ASSERT_TRUE(write_job_note(directory.path(), kNote));
  EXPECT_EQ(read_job_note(directory.path()).value(), kNote);
  const JobNote other{"other", kNote.store, kNote.node};
  ASSERT_TRUE(write_job_note(directory.path(), other));
  EXPECT_EQ(read_job_note(directory.path()).value(), other);
}

TEST(JobNote, ThatIsThereAlreadyIsNotWrittenAgain) {
  const test_support::TemporaryDirectory directory;
  ASSERT_TRUE(write_job_note(directory.path(), kNote));
  const auto inode = [&] { return os::File::open(directory.path() + kJobNote, os::Open::read)->identity()->inode; };
  const auto before = inode();
  ASSERT_TRUE(write_job_note(directory.path(), kNote));
  EXPECT_EQ(inode(), before);
}

TEST(JobNote, HasTheStoresAbsolutePlace) {
  config::Config config;
  ASSERT_TRUE(config.set_all("store.path=there;job=a", config::Origin::program));
  const JobNote note = note_of(config, "here");
  EXPECT_EQ(note.job, "a");
  EXPECT_EQ(note.store, os::absolute_path("there").value());
  EXPECT_EQ(note.node, "here");
  EXPECT_TRUE(note.same_job({"a", note.store, "elsewhere"}));
  EXPECT_FALSE(note.same_job({"b", note.store, "here"}));
  EXPECT_FALSE(note.same_job({"a", "/other", "here"}));
}

TEST(CorruptJobNote, SaysWhatIsWrong) {
  const auto cause_of = [](const std::string& content) {
    const auto note = decode_job_note(content, "engine.job");
    return note ? "nothing" : note.error().cause;
  };
  EXPECT_EQ(cause_of("{}{"), "it is no record of Perdure");
  EXPECT_EQ(cause_of("[]"), "it is no record of Perdure");
  EXPECT_EQ(cause_of("{}"), "field 'format' is missing");
  for (const char* field : {"job", "store", "node"}) {
    base::Json json = base::Json::parse(encode(kNote));
    json.erase("check");
    json.erase(field);
    EXPECT_EQ(cause_of(json.dump()), std::string("field '") + field + "' is missing");
    json[field] = 7;
    EXPECT_EQ(cause_of(json.dump()), std::string("field '") + field + "' is missing");
    json[field] = std::string(5000, 'x');
    EXPECT_EQ(cause_of(json.dump()), std::string("field '") + field + "' is too long");
  }
  base::Json newer = base::Json::parse(encode(kNote));
  newer.erase("check");
  newer["format"] = 2;
  EXPECT_EQ(decode_job_note(newer.dump(), "engine.job").error().code, PERDURE_UNSUPPORTED);
}

}  // namespace
}  // namespace perdure::node
