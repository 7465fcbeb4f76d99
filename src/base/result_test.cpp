#include "base/result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <new>
#include <set>
#include <stdexcept>
#include <system_error>

namespace perdure::base {
namespace {

using testing::HasSubstr;

TEST(ErrorText, NamesObjectCauseCodeAndRemedy) {
  const Error error{PERDURE_NO_SPACE, "/store/a", "pwrite: full", "free space", true};
  EXPECT_EQ(error.text(), "/store/a: pwrite: full (no-space); free space");
}

TEST(ErrorText, LeavesOutWhatIsNotThere) {
  const Error error{PERDURE_INTERNAL, "", "impossible", "", false};
  EXPECT_EQ(error.text(), "impossible (internal)");
}

TEST(ErrnoError, NamesTheCallTheObjectAndTheCause) {
  const Error error = errno_error(ENOSPC, "pwrite at offset 4096", "/store/a");
  EXPECT_EQ(error.object, "/store/a");
  EXPECT_THAT(error.cause, HasSubstr("pwrite at offset 4096: No space left"));
  EXPECT_FALSE(error.remedy.empty());
}

struct Expectation {
  int number;
  ErrorCode code;
  bool retryable;
};

TEST(ErrnoError, KnowsTheCodeAndWhetherTryingAgainCanHelp) {
  const Expectation expectations[] = {
      {ENOSPC, PERDURE_NO_SPACE, true},
      {EDQUOT, PERDURE_NO_SPACE, true},
      {ENOMEM, PERDURE_NO_SPACE, true},
      {EIO, PERDURE_IO, true},
      {ESTALE, PERDURE_IO, true},
      {EINTR, PERDURE_IO, true},
      {EMFILE, PERDURE_IO, true},
      {ENFILE, PERDURE_IO, true},
      {EAGAIN, PERDURE_BUSY, true},
      {EBUSY, PERDURE_BUSY, true},
      {ETIMEDOUT, PERDURE_TIMEOUT, true},
      {ECONNREFUSED, PERDURE_UNAVAILABLE, true},
      {ENOTCONN, PERDURE_UNAVAILABLE, true},
      {ECONNRESET, PERDURE_UNAVAILABLE, true},
      {EPIPE, PERDURE_UNAVAILABLE, true},
      {EACCES, PERDURE_PERMISSION, false},
      {EPERM, PERDURE_PERMISSION, false},
      {EROFS, PERDURE_PERMISSION, false},
      {ELOOP, PERDURE_PERMISSION, false},
      {ENOENT, PERDURE_NOT_FOUND, false},
      {EEXIST, PERDURE_EXISTS, false},
      {EINVAL, PERDURE_IO, false},
      {ENAMETOOLONG, PERDURE_IO, false},
      {ENOTDIR, PERDURE_IO, false},
      {EISDIR, PERDURE_IO, false},
      {EFBIG, PERDURE_IO, false},
      {EOPNOTSUPP, PERDURE_UNSUPPORTED, false},
      {ENOSYS, PERDURE_UNSUPPORTED, false},
  };
  for (const Expectation& expected : expectations) {
    const Error error = errno_error(expected.number, "call", "object");
    EXPECT_EQ(error.code, expected.code) << error.text();
    EXPECT_EQ(error.retryable, expected.retryable) << error.text();
  }
}

TEST(ErrnoError, TakesAnUnknownNumberAsAPermanentFailureOfTheDevice) {
  const Error error = errno_error(99999, "call", "object");
  EXPECT_EQ(error.code, PERDURE_IO);
  EXPECT_FALSE(error.retryable);
}

TEST(CodeName, IsDifferentForEveryCode) {
  std::set<std::string> names;
  for (int code = PERDURE_OK; code <= kLastErrorCode; ++code) names.insert(code_name(static_cast<ErrorCode>(code)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kLastErrorCode) + 1);
  EXPECT_STREQ(code_name(PERDURE_NOT_FOUND), "not-found");
  EXPECT_STREQ(code_name(PERDURE_PEER_FAILED), "peer-failed");
  EXPECT_STREQ(code_name(PERDURE_INTERNAL), "internal");
}

TEST(CodeName, SurvivesANumberThatIsNoCode) {
  EXPECT_STREQ(code_name(static_cast<ErrorCode>(31)), "unknown");  // another version may send it
}

Result<int> half(int value) {
  if (value % 2 != 0) return fail(PERDURE_INVALID_ARGUMENT, "value", "is odd");
  return value / 2;
}
Status check_quarter(int value, int* out) {
  PERDURE_TRY(const int once, half(value));
  PERDURE_TRY(*out, half(once));
  PERDURE_CHECK(half(*out));
  return {};
}

TEST(Result, PassesValuesOnAndStopsAtTheFirstError) {
  int out = -1;
  EXPECT_TRUE(check_quarter(8, &out));
  EXPECT_EQ(out, 2);
  out = -1;
  const Status failed = check_quarter(6, &out);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().cause, "is odd");
  EXPECT_EQ(out, -1);
}

TEST(Result, MovesWhatCannotBeCopied) {
  auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
  auto use = [&]() -> Result<int> {
    PERDURE_TRY(std::unique_ptr<int> held, make());
    return *held;
  };
  EXPECT_EQ(use().value(), 7);
}

TEST(Exceptions, AreMemoryThreadsOrADefect) {
  const auto thrown = [](const auto& exception) {
    return caught("engine", [&]() -> Status { throw exception; }).error();
  };
  EXPECT_EQ(thrown(std::bad_alloc()).code, PERDURE_NO_SPACE);
  const Error threads = thrown(std::system_error(EAGAIN, std::generic_category()));
  EXPECT_EQ(threads.code, PERDURE_NO_SPACE);
  EXPECT_NE(threads.text().find("engine: the system refuses another thread (no-space); raise ulimit -u"),
            std::string::npos)
      << threads.text();
  EXPECT_EQ(thrown(std::system_error(EACCES, std::system_category())).code, PERDURE_PERMISSION);
  const Error other = thrown(std::logic_error("two and two are five"));
  EXPECT_EQ(other.text(), "engine: two and two are five (internal); please report this");
  EXPECT_EQ(caught("engine", [] { return Result<int>(5); }).value(), 5);
}

}  // namespace
}  // namespace perdure::base
