"""Quantisation, which weir does not do."""
from weir._absent import absent_names as _absent_names

__getattr__ = _absent_names("weir.ao.quantization", """QuantStub DeQuantStub QuantWrapper quantize quantize_dynamic quantize_qat
    prepare prepare_qat convert fuse_modules fuse_modules_qat get_default_qconfig get_default_qat_qconfig QConfig QConfigMapping
    get_default_qconfig_mapping get_default_qat_qconfig_mapping default_qconfig default_dynamic_qconfig float16_dynamic_qconfig
    per_channel_dynamic_qconfig default_observer MinMaxObserver MovingAverageMinMaxObserver PerChannelMinMaxObserver
    HistogramObserver ObserverBase PlaceholderObserver NoopObserver FakeQuantize FakeQuantizeBase default_fake_quant
    enable_observer disable_observer enable_fake_quant disable_fake_quant default_weight_observer swap_module propagate_qconfig_
    add_quant_dequant qconfig observer fake_quantize quantize_fx utils""", "weir has no quantised tensors")
