"""Event files for TensorBoard: `SummaryWriter`, written with the tensorboard package. Source: torch.utils.tensorboard.

ImportError when that package is not installed, as in PyTorch.
"""
import os
import time

try:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"utils.tensorboard needs the tensorboard package: {error}", name=error.name) from None

from weir._lazy import np


def _array(x):
    return np.asarray(x.detach().cpu().numpy() if hasattr(x, "detach") else x)


class FileWriter:
    """Writes events into a file of its own in log_dir."""

    def __init__(self, log_dir, max_queue=10, flush_secs=120, filename_suffix=""):
        self._log_dir = str(log_dir)
        self.event_writer = EventFileWriter(self._log_dir, max_queue, flush_secs, filename_suffix)

    def get_logdir(self):
        return self._log_dir

    def add_event(self, event, step=None, walltime=None):
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary, global_step=None, walltime=None):
        self.add_event(Event(summary=summary), global_step, walltime)

    def flush(self):
        self.event_writer.flush()

    def close(self):
        self.event_writer.close()


class SummaryWriter:
    """Scalars, histograms, pictures and texts over the steps of a training. `log_dir` is runs/<time>_<host> unless told."""

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""):
        if not log_dir:
            import socket
            from datetime import datetime
            log_dir = os.path.join("runs", datetime.now().strftime("%b%d_%H-%M-%S") + "_" + socket.gethostname() + comment)
        self.log_dir = str(log_dir)
        self.file_writer = FileWriter(self.log_dir, max_queue, flush_secs, filename_suffix)

    def get_logdir(self):
        return self.log_dir

    def _add(self, tag, step, walltime, **value):
        self.file_writer.add_summary(Summary(value=[Summary.Value(tag=tag, **value)]), step, walltime)

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False):
        self._add(tag, global_step, walltime, simple_value=float(_array(scalar_value).reshape(-1)[0]))

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        """One scalar per entry, under main_tag/entry."""
        for tag, value in tag_scalar_dict.items():
            self.add_scalar(f"{main_tag}/{tag}", value, global_step, walltime)

    def add_histogram(self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None):
        values = _array(values).astype(np.float64).reshape(-1)
        if not values.size:
            raise ValueError("The input has no element.")
        counts, edges = np.histogram(values, 64 if bins == "tensorflow" else bins)
        histogram = HistogramProto(min=values.min(), max=values.max(), num=values.size, sum=values.sum(),
                                   sum_squares=(values ** 2).sum(), bucket_limit=edges[1:].tolist(), bucket=counts.tolist())
        self._add(tag, global_step, walltime, histo=histogram)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        """A picture: floating numbers in [0, 1], or uint8."""
        import io
        from PIL import Image
        a = _array(img_tensor)
        order = [dataformats.upper().index(c) for c in "HWC" if c in dataformats.upper()]
        a = a.transpose(order)
        a = (a if a.dtype == np.uint8 else (a * 255).clip(0, 255).astype(np.uint8))
        a = np.repeat(a[..., None], 3, 2) if a.ndim == 2 else np.repeat(a, 3, 2) if a.shape[2] == 1 else a
        data = io.BytesIO()
        Image.fromarray(a).save(data, format="PNG")
        self._add(tag, global_step, walltime, image=Summary.Image(height=a.shape[0], width=a.shape[1], colorspace=a.shape[2],
                                                                 encoded_image_string=data.getvalue()))

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        """Pictures side by side."""
        a = _array(img_tensor).transpose([dataformats.upper().index(c) for c in "NCHW"])
        self.add_image(tag, np.concatenate(list(a), 2), global_step, walltime)

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        meta = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
        tensor = TensorProto(dtype="DT_STRING", string_val=[text_string.encode("utf-8")],
                             tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)]))
        self._add(tag + "/text_summary", global_step, walltime, metadata=meta, tensor=tensor)

    def add_hparams(self, hparam_dict, metric_dict, hparam_domain_discrete=None, run_name=None, global_step=None):
        """The metrics as scalars, and the settings as a text."""
        self.add_text("hparams", "\n".join(f"{k}: {v}" for k, v in hparam_dict.items()), global_step)
        for k, v in metric_dict.items():
            self.add_scalar(k, v, global_step)

    def add_figure(self, tag, figure, global_step=None, close=True, walltime=None):
        """A matplotlib figure as a picture."""
        figure.canvas.draw()
        self.add_image(tag, np.asarray(figure.canvas.buffer_rgba())[..., :3], global_step, walltime, "HWC")

    def _absent(self, *args, **kwargs):
        raise NotImplementedError("SummaryWriter: weir writes scalars, histograms, pictures and texts only")

    add_graph = add_embedding = add_audio = add_video = add_pr_curve = add_mesh = add_custom_scalars = _absent

    def flush(self):
        self.file_writer.flush()

    def close(self):
        self.file_writer.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

__path__ = []  # a package in PyTorch, whose further modules _absent_modules has
