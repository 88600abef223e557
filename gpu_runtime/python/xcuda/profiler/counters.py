"""Hardware counters of a GPU: what each says, and NVIDIA's names for it, the first that a chip has."""

from __future__ import annotations

from typing import NamedTuple


class Counter(NamedTuple):
    key: str  # the figure's name in the report
    label: str
    unit: str
    scale: float  # from NVIDIA's unit
    names: tuple[str, ...]


def _percent(key, label, *names):
    return Counter(key, label, "share", 0.01, names)


def _bytes(key, label, *names):
    return Counter(key, label, "B", 1.0, names)


def _number(key, label, *names):
    return Counter(key, label, "1", 1.0, names)


def _stall(reason, label):
    return _number(
        f"stall_{reason}",
        f"warps waiting {label}",
        f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio",
    )


def _executed(kind, label):
    return _number(
        f"executed_{kind}",
        f"{label} operations",
        f"smsp__sass_thread_inst_executed_op_{kind}_pred_on.sum",
    )


_GLOBAL = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op"

# Metric, as `metrics=` names it: what is read for it.
COUNTERS: dict[str, tuple[Counter, ...]] = {
    "dram_bytes": (
        _bytes("dram_read", "read from DRAM", "dram__bytes_read.sum", "dram__bytes_op_read.sum"),
        _bytes("dram_written", "written to DRAM", "dram__bytes_write.sum", "dram__bytes_op_write.sum"),
    ),
    "l2_bytes": (
        _bytes("l2_bytes", "through the L2 cache", "lts__t_bytes.sum"),
        _percent("l2_hits", "found in the L2 cache", "lts__t_sector_hit_rate.pct"),
    ),
    "l1_bytes": (
        _bytes("l1_bytes", "through the L1 cache", "l1tex__t_bytes.sum"),
        _percent("l1_hits", "found in the L1 cache", "l1tex__t_sector_hit_rate.pct"),
    ),
    "shared_memory_bytes": (
        _bytes("shared_memory_bytes", "to and from shared memory", "smsp__sass_data_bytes_mem_shared.sum"),
    ),
    "bank_conflicts": (
        _number(
            "bank_conflicts",
            "bank conflicts of shared memory",
            "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
        ),
    ),
    "sectors_per_request": (
        _number("sectors_per_load", "32-byte sectors a warp's load takes", f"{_GLOBAL}_ld.ratio"),
        _number("sectors_per_store", "32-byte sectors a warp's store takes", f"{_GLOBAL}_st.ratio"),
    ),
    "instruction_mix": (
        _number("executed_instructions", "instructions of warps", "smsp__inst_executed.sum"),
        _executed("fp32", "float32"),
        _executed("fp64", "float64"),
        _executed("fp16", "float16"),
        _executed("integer", "integer"),
        _executed("memory", "memory"),
        _executed("control", "control"),
        _executed("conversion", "conversion"),
    ),
    "ipc": (
        _number(
            "issued_per_cycle",
            "instructions issued a cycle and multiprocessor",
            "sm__inst_issued.avg.per_cycle_active",
        ),
    ),
    "warp_stalls": (
        _stall("long_scoreboard", "for global or local memory"),
        _stall("short_scoreboard", "for shared memory or special functions"),
        _stall("barrier", "at a barrier"),
        _stall("math_pipe_throttle", "for a busy arithmetic pipe"),
        _stall("lg_throttle", "for a full queue of global memory"),
        _stall("mio_throttle", "for a full queue of shared memory"),
        _stall("wait", "for a fixed latency"),
        _stall("branch_resolving", "for a branch"),
        _stall("no_instruction", "for their next instruction"),
        _stall("not_selected", "though ready: another was chosen"),
    ),
    "achieved_occupancy": (
        _percent(
            "achieved_occupancy",
            "occupancy achieved",
            "sm__warps_active.avg.pct_of_peak_sustained_active",
        ),
    ),
    "branch_efficiency": (
        _percent(
            "branch_efficiency",
            "branches that whole warps take alike",
            "smsp__sass_average_branch_targets_threads_uniform.pct",
        ),
    ),
    "tensor_pipe": (
        _percent(
            "tensor_pipe",
            "tensor cores at work",
            "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
        ),
    ),
}

LABELS = {counter.key: counter.label for group in COUNTERS.values() for counter in group}


def rows(metrics: tuple[str, ...]) -> list[tuple]:
    """What the runtime reads for these metrics; those that are no counters add nothing."""
    chosen = [counter for name in metrics for counter in COUNTERS.get(name, ())]
    return [(c.key, c.unit, c.scale, list(c.names)) for c in dict.fromkeys(chosen)]
