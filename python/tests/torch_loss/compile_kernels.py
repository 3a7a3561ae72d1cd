"""Compiles all kinds of kernels for two generations of GPUs, which need not be there."""

import os

os.environ.pop("TRITON_INTERPRET", None)

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from unjitter.torch._gpu.free import free_kernel
from unjitter.torch._gpu.ordered import ordered_kernel

TYPES = {
    "*fp64": "numbers times stamps values d_params totals heads running",
    "*i32": "status firsts ends",
    "*i64": "lengths event_lengths offsets event_offsets",
    "*fp32": "log_odds d_log_odds logs weights emitted damped",
    "i32": "instances time_stride most_stamps steps_of_search room limit rounds",
}


# Names that Triton's own code for a launch uses: an argument of that name is lost on a GPU.
TAKEN = {"params", "options", "signature", "constexprs", "attrs", "specialization"}


def compile_for(capability, kernel, components, lanes, is_poisson, is_listed):
    constants = {
        "UNIT": 0.3,
        "LOG_UNIT": -1.2,
        "TOLERANCE": 1e-7,
        "C": components,
        "CHUNK": 256,
        "S": 4,
    }
    constants |= {"CP": triton.next_power_of_2(components), "K": lanes, "POISSON": is_poisson}
    constants |= {"LISTED": is_listed, "RAGGED": not is_listed}
    constants |= {"EVENTS_LISTED": is_listed, "EVENTS_RAGGED": not is_listed}
    constants = {name: constants[name] for name in kernel.arg_names if name in constants}
    assert not TAKEN & set(kernel.arg_names), TAKEN & set(kernel.arg_names)
    types = {name: kind for kind, names in TYPES.items() for name in names.split()}
    types["cells"] = "*fp64" if kernel is ordered_kernel and is_poisson else "*fp32"
    signature = {name: types.get(name, "constexpr") for name in kernel.arg_names}
    source = ASTSource(kernel, signature, constants)
    triton.compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": 1})


if __name__ == "__main__":
    for kernel in (free_kernel, ordered_kernel):
        for is_poisson in (False, True):
            compile_for(90, kernel, 1, 64, is_poisson, False)
        compile_for(80, kernel, 3, 32, False, True)
