#include "base/printable.hpp"

#include <gtest/gtest.h>

#include "base/result.hpp"

namespace perdure::base {
namespace {

/// Encodes a code point as UTF-8, well-formed or not.
std::string utf8(std::uint32_t code) {
  const auto tail = [&](unsigned shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
}

TEST(Printable, KeepsTextOfAllLanguages) {
  for (const std::string text : {"", "plain text ~!", "\xc3\xa4\xc3\xb6", "\xe4\xb8\xad\xe6\x96\x87",
                                 "\xf0\x9f\x98\x80", "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d"})
    EXPECT_EQ(printable(text), text);
  for (const std::uint32_t code :
       {0xA0U, 0x061BU, 0x200DU, 0x2010U, 0x2027U, 0x202FU, 0x2065U, 0x206AU, 0xFFFDU, 0x10FFFFU})
    EXPECT_EQ(printable(utf8(code)), utf8(code)) << std::hex << code;
}

TEST(Printable, ShowsWhatDrivesATerminalAsQuestionMarks) {
  for (std::uint32_t code = 0; code <= 0xFF; ++code) {
    const bool control = code < 0x20 || (code >= 0x7F && code <= 0x9F);
    EXPECT_EQ(printable("a" + utf8(code) + "b"), control ? "a?b" : "a" + utf8(code) + "b") << std::hex << code;
  }
  for (const std::uint32_t code : {0x061CU, 0x200EU, 0x200FU, 0x2028U, 0x2029U, 0x202AU, 0x202BU, 0x202CU, 0x202DU,
                                   0x202EU, 0x2066U, 0x2067U, 0x2068U, 0x2069U})
    EXPECT_EQ(printable("a" + utf8(code) + "b"), "a?b") << std::hex << code;
}

// A terminal may take any of these for a control character.
TEST(Printable, ShowsEachByteThatIsNotUtf8AsAQuestionMark) {
  EXPECT_EQ(printable("a\x9b[2J"), "a?[2J") << "CSI as one byte";
  EXPECT_EQ(printable("\xc2"), "?");
  EXPECT_EQ(printable("\xc2z"), "?z");
  EXPECT_EQ(printable("\xe2\x80"), "??");
  EXPECT_EQ(printable("\xe2\x80z"), "??z");
  EXPECT_EQ(printable("\xc0\x9b"), "??") << "longer than needed";
  EXPECT_EQ(printable("\xe0\x82\x9b"), "???");
  EXPECT_EQ(printable("\xf0\x80\x82\x9b"), "????");
  EXPECT_EQ(printable(utf8(0xD800)), "???") << "half of a pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????") << "beyond the last code point";
  EXPECT_EQ(printable("\xff\xfe"), "??");
}

TEST(Printable, KeepsLinesWhereTheyAreMeant) {
  EXPECT_EQ(printable_lines("a\nb\x1b[2J\n\r"), "a\nb?[2J\n?");
  EXPECT_EQ(printable("a\nb"), "a?b");
}

TEST(Printable, IsTheTextOfEveryError) {
  const Error error{PERDURE_IO,
                    "/store/\xe2\x80\xae"
                    "sdp.x",
                    "open: \x1b]0;title\x07",
                    "look at \xc2\x9b"
                    "2J",
                    false};
  EXPECT_EQ(error.text(), "/store/?sdp.x: open: ?]0;title? (io); look at ?2J");
}

TEST(XmlText, IsWhatXmlTakesForTheSame) {
  EXPECT_EQ(xml_text("a < b && \"c\" > d"), "a &lt; b &amp;&amp; &quot;c&quot; &gt; d");
  EXPECT_EQ(xml_text("one\ntwo\x1b[31m"), "one two [31m");
  EXPECT_EQ(xml_text("\xc2\xb0\x43"), "\xc2\xb0\x43");
}

}  // namespace
}  // namespace perdure::base
