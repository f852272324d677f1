// Ops have kernels only once the CPU library is open, so the tests open it before anything else.
#include <gtest/gtest.h>

#include "framework/kernels/load.h"

int main(int argc, char** argv) {
  weir::load_cpu_kernels();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
