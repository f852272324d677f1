// Messages joined from parts, and the types in which they are thrown.
#include "framework/core/error.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(Error, PartsArePrintedInTheirOrder) {
  const char* pointer = "pointer";
  EXPECT_EQ(str("literal ", pointer, ' ', 3, ' ', 2.5, ' ', std::string("string"), ' ', std::string_view("view"), ' ', NameIn{"op.overload(x)"}),
            "literal pointer 3 2.5 string view op");
  EXPECT_EQ(str(), "");
}

struct Counted {
  int* printed;
  friend std::ostream& operator<<(std::ostream& out, const Counted& c) { return out << ++*c.printed; }
};

TEST(Error, AMessageIsPrintedOnlyWhereItIsThrown) {
  int printed = 0;
  check(true, "never ", Counted{&printed});
  EXPECT_EQ(printed, 0);
  EXPECT_THROW(check<ValueError>(false, Counted{&printed}), ValueError);
  EXPECT_EQ(printed, 1);
}

TEST(Error, TheTypeIsTheOneAskedFor) {
  try {
    check<IndexError>(false, "select: index ", 7, " is out of range");
    FAIL() << "nothing was thrown";
  } catch (const IndexError& error) {
    EXPECT_STREQ(error.what(), "select: index 7 is out of range");
  }
  EXPECT_THROW(check(false, "sum"), Error);
}

}  // namespace
}  // namespace weir
