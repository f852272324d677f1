// Where a tensor lives. `meta` tensors have a shape and no data.
#pragma once
#include <cstdint>
#include <string_view>

namespace weir {

enum class DeviceType : uint8_t { cpu, cuda, meta };
constexpr int kNumDevices = 3;

struct Device {
  DeviceType type = DeviceType::cpu;
  int8_t index = -1;  // -1: the current one
  bool operator==(const Device&) const = default;
};

inline constexpr std::string_view kDeviceNames[] = {"cpu", "cuda", "meta"};
constexpr std::string_view name_of(DeviceType t) { return kDeviceNames[int(t)]; }

}  // namespace weir
