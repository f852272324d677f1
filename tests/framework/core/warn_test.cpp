#include "framework/core/warn.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

std::string shown;

TEST(Warn, ShowsWhatItIsGivenWhereItIsTold) {
  set_warner([](const std::string& text) { shown += text + ";"; });
  shown.clear();
  warn("first");
  WarnOnce once;
  once("second");
  once("second");
  EXPECT_EQ(shown, "first;second;");
  WarnOnce::always = true;
  once("second");
  WarnOnce::always = false;
  once("second");
  EXPECT_EQ(shown, "first;second;second;");
}

}  // namespace
}  // namespace weir
