#include "framework/core/warn.h"

#include <cstdio>

namespace weir {
namespace {

void (*warner)(const std::string&) = [](const std::string& text) { std::fprintf(stderr, "weir: %s\n", text.c_str()); };

}  // namespace

void warn(const std::string& text) { warner(text); }
void set_warner(void (*show)(const std::string& text)) { warner = show; }

}  // namespace weir
