// Where a tensor lives. `meta` tensors have a shape and no data.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "framework/core/error.h"

namespace weir {

// Those from ipu on are names that programs compare with; no tensor is ever there.
enum class DeviceType : uint8_t {
  cpu, cuda, meta, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, hpu, mtia, privateuseone
};
constexpr int kNumDevices = 3;  // that tensors may be on

struct Device {
  DeviceType type = DeviceType::cpu;
  int8_t index = -1;  // -1: the current one
  bool operator==(const Device&) const = default;
};

inline constexpr std::string_view kDeviceNames[] = {"cpu", "cuda", "meta", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla",
                                                    "lazy", "vulkan", "mps", "hpu", "mtia", "privateuseone"};
constexpr std::string_view name_of(DeviceType t) { return kDeviceNames[int(t)]; }

/// Raises for a device that no tensor can be made on: as PyTorch does where it was built without it.
inline void check_available(const Device& d) {
  check<AssertionError>(d.type != DeviceType::cuda, "Torch not compiled with CUDA enabled");
  check<AssertionError>(d.type != DeviceType::xpu, "Torch not compiled with XPU enabled");
  check(int(d.type) < kNumDevices, "PyTorch is not linked with support for ", name_of(d.type), " devices");
}

}  // namespace weir
