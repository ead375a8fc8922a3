"""Devices: the one that is asked for, or the CPU in the place of an accelerator that is not here.

``leaf.cuda()`` makes a copy with a node in the graph, and is no leaf; a stand-in that gave the leaf itself
would hide and make faults. So a tensor that is moved to the accelerator is copied the first time (an alias
of ``Tensor.clone``), and a tensor that was made there or moved there counts as being there.

It is used only where a script has shown that it needs it, since it slows every operation. It is a
``TorchFunctionMode``, through which every function of torch goes that takes a device, and patches for what
does not go through one: ``torch.cuda``, ``nn.Module.to``, ``torch.load``, generators, autocast,
``GradScaler``, ``pin_memory`` and ``init_process_group``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .job import Job

_KINDS = ("cuda", "mps", "xpu")


def prepare(job: Job, told: Callable[[], None]) -> tuple[str | None, str]:
    """Makes the device ready. Gives a problem or None, and the device that the run is on."""
    has_cuda = torch.cuda.is_available()
    has_mps = bool(getattr(torch.backends, "mps", None) and torch.backends.mps.is_available())
    wanted = job.device
    if wanted.startswith("cuda"):
        index = int(wanted.partition(":")[2] or 0)
        if not has_cuda or index >= torch.cuda.device_count():
            return f"there is no {wanted}", wanted
        torch.cuda.set_device(index)
        return None, f"cuda:{index}"
    if wanted == "mps":
        return (None, "mps") if has_mps else ("there is no mps", wanted)
    if wanted == "auto" and has_cuda:
        return None, "cuda"
    if wanted == "auto" and has_mps:
        return None, "mps"
    if job.redirect:
        Redirection(told, pretend=job.redirect > 1).install()
    return None, "cpu"


class Redirection:
    def __init__(self, told: Callable[[], None], *, pretend: bool) -> None:
        self._told = told
        self._was_told = False
        self._pretend = pretend
        self._mode = _Mode(self)

    def used(self) -> None:
        if not self._was_told:
            self._was_told = True
            self._told()

    def is_accelerator(self, device: Any) -> bool:
        """Whether an argument names an accelerator: ``"cuda:0"``, ``torch.device("cuda")``."""
        if isinstance(device, str):
            return device.partition(":")[0] in _KINDS
        return isinstance(device, torch.device) and device.type in _KINDS

    def on_cpu(self, value: Any) -> Any:
        if self.is_accelerator(value):
            self.used()
            return torch.device("cpu") if isinstance(value, torch.device) else "cpu"
        return value

    def install(self) -> None:
        self._mode.__enter__()
        self._modules()
        self._cuda()
        self._amp()
        self._rest()

    # What does not go through the mode ---------------------------------------------------------------

    def _modules(self) -> None:
        original = torch.nn.Module.to

        def to(module: Any, *args: Any, **options: Any) -> Any:
            args = tuple(self.on_cpu(value) for value in args)
            if args and isinstance(args[0], int) and not isinstance(args[0], bool):
                self.used()
                args = ("cpu", *args[1:])
            options = {name: self.on_cpu(value) for name, value in options.items()}
            return original(module, *args, **options)

        def cuda(module: Any, device: Any = None) -> Any:
            self.used()
            return module

        torch.nn.Module.to = to
        for name in ("cuda", "mps", "xpu"):
            if hasattr(torch.nn.Module, name):
                setattr(torch.nn.Module, name, cuda)

    def _cuda(self) -> None:
        cuda: Any = torch.cuda
        original = cuda.is_available

        def is_available() -> bool:
            if self._pretend and not sys._getframe(1).f_globals.get("__name__", "").startswith("torch"):
                self.used()
                return True
            return bool(original())

        def nothing() -> Callable[..., None]:  # a new one each time: torch.compile tells functions apart
            return lambda *args, **options: None

        cuda.is_available = is_available
        if self._pretend:
            cuda.device_count = lambda: 1
            cuda.get_device_name = lambda device=None: "CPU"
            cuda.get_device_capability = lambda device=None: (8, 0)
            cuda.is_bf16_supported = lambda *args, **options: True
        quiet = (
            "synchronize set_device empty_cache manual_seed manual_seed_all init reset_peak_memory_stats "
            "reset_max_memory_allocated ipc_collect set_per_process_memory_fraction"
        )
        for name in quiet.split():
            setattr(cuda, name, nothing())
        for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
            setattr(cuda, name, lambda device=None: 0)
        cuda.current_device = lambda: 0
        cuda.Stream, cuda.Event = _Stream, _Stream
        cuda.stream = lambda stream: _Stream()
        cuda.current_stream = lambda device=None: _Stream()

    def _amp(self) -> None:
        autocast = torch.amp.autocast_mode.autocast
        original = autocast.__init__

        def init(this: Any, device_type: str, *args: Any, **options: Any) -> None:
            if device_type in _KINDS:
                self.used()
                device_type = "cpu"
                args = tuple(torch.bfloat16 if value is torch.float16 else value for value in args)
                if options.get("dtype") is torch.float16:
                    options["dtype"] = torch.bfloat16
            original(this, device_type, *args, **options)

        autocast.__init__ = init
        old = torch.cuda.amp.autocast
        if getattr(old, "__init__", None) is not None:

            def old_init(
                this: Any, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True
            ) -> None:
                self.used()
                original(this, "cpu", dtype=torch.bfloat16, enabled=enabled, cache_enabled=cache_enabled)

            old.__init__ = old_init

    def _rest(self) -> None:
        original_load = torch.load
        original_generator: Any = torch.Generator

        def load(file: Any, map_location: Any = None, *args: Any, **options: Any) -> Any:
            return original_load(file, map_location or "cpu" if map_location is None else self.on_cpu(map_location),
                                 *args, **options)  # fmt: skip

        class Generator(original_generator):
            def __new__(cls, device: Any = "cpu") -> Any:
                return original_generator(self.on_cpu(device))

        torch.load = load
        torch.Generator = Generator
        loader: Any = torch.utils.data.DataLoader
        original_init = loader.__init__

        def init(this: Any, *args: Any, **options: Any) -> None:
            if options.get("pin_memory"):
                self.used()
                options["pin_memory"] = False
            original_init(this, *args, **options)

        loader.__init__ = init
        distributed: Any = getattr(torch, "distributed", None)
        if distributed is not None and distributed.is_available():
            original_group = distributed.init_process_group

            def init_process_group(backend: Any = None, *args: Any, **options: Any) -> Any:
                if backend is None or "nccl" in str(backend):
                    self.used()
                    backend = "gloo"
                options.pop("device_id", None)
                return original_group(backend, *args, **options)

            distributed.init_process_group = init_process_group
        parallel: Any = torch.nn.parallel.DistributedDataParallel
        original_ddp = parallel.__init__

        def ddp(
            this: Any, module: Any, device_ids: Any = None, output_device: Any = None, **options: Any
        ) -> None:
            original_ddp(this, module, **options)

        parallel.__init__ = ddp


class _Stream:
    """A stream or an event of a device that does everything at once."""

    def __init__(self, *args: Any, **options: Any) -> None:
        pass

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *args: Any) -> None:
        return None

    def query(self) -> bool:
        return True

    def elapsed_time(self, other: Any) -> float:
        return 1.0

    def synchronize(self, *args: Any) -> None:
        return None

    record = wait_stream = wait_event = record_event = record_stream = wait = synchronize


class _Mode(TorchFunctionMode):
    """Exchanges device arguments, and copies what is moved to the accelerator for the first time."""

    def __init__(self, redirection: Redirection) -> None:
        super().__init__()
        self._redirection = redirection
        self._moving = {torch.Tensor.to, torch.Tensor.cuda}
        self._quiet = {torch.Tensor.pin_memory, torch.Tensor.record_stream}

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        redirection = self._redirection
        if function in self._moving:
            tensor, *rest = args
            moved = function is torch.Tensor.cuda or any(
                redirection.is_accelerator(value) or _is_index(value)
                for value in [*rest[:1], kwargs.get("device")]
            )
            if moved:
                redirection.used()
                return self._move(tensor, rest, kwargs)
        elif function in self._quiet:
            redirection.used()
            return args[0]
        elif function == torch.Tensor.is_cuda.__get__:
            return bool(getattr(args[0], "_loopgrad_moved", False))
        if any(redirection.is_accelerator(value) for value in args):
            args = tuple(redirection.on_cpu(value) for value in args)
        if "device" in kwargs:
            there = redirection.is_accelerator(kwargs["device"])
            result = function(*args, **{**kwargs, "device": redirection.on_cpu(kwargs["device"])})
            return _marked(result) if there else result
        if kwargs.get("pin_memory"):
            kwargs = {**kwargs, "pin_memory": False}
        return function(*args, **kwargs)

    @staticmethod
    def _move(tensor: Any, rest: list[Any], options: dict[str, Any]) -> Any:
        dtype = options.get("dtype") or next(
            (value for value in rest if isinstance(value, torch.dtype)), None
        )
        if dtype is not None and dtype != tensor.dtype:
            return _marked(tensor.to(dtype))
        is_there = getattr(tensor, "_loopgrad_moved", False) or (
            tensor.grad_fn is not None or isinstance(tensor, torch.nn.Parameter)
        )
        return tensor if is_there else _marked(tensor.clone())


def _marked(value: Any) -> Any:
    """Notes on a tensor that it is there. What is computed from it is seen to be by its graph, or copied."""
    if isinstance(value, torch.Tensor):
        value._loopgrad_moved = True
    return value


def _is_index(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
