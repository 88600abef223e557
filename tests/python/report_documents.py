"""Report documents made by hand, for tests of how a report looks. `valid` checks one against the schema."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SCHEMA = json.loads((Path(__file__).parents[2] / "gpu_runtime/profile/report.schema.json").read_text())


def valid(document: dict) -> dict:
    """The document, checked against the schema; a test where there is nothing to check it with is skipped here."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema, which checks reports, is not here")
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def measured(value, unit="s"):
    return {"value": value, "unit": unit, "source": "measured"}


def modelled(value, unit):
    return {"value": value, "unit": unit, "source": "modelled"}


def computed(value, unit="1"):
    return {"value": value, "unit": unit, "source": "computed"}


def absent(reason):
    return {"absent": reason}


def kernel(name="saxpy", **changes) -> dict:
    row = {
        "name": name,
        "signature": "(float32[::1], float32[::1])",
        "place": {"file": "<ipython-input-3-0123456789ab>", "line": 4},
        "device": "cpu",
        "how": "lanes",
        "calls": 1,
        "running": 0,
        "failed": 0,
        "grid": [40, 1, 1],
        "block": [256, 1, 1],
        "automatic_shape": True,
        "time": {k: measured(7.1e-4) for k in ("total", "mean", "min", "max")},
        "occupancy": {"share": absent("no occupancy on the CPU device")},
        "registers": absent("the CPU device's compiler does not count them"),
        "local_bytes": absent("the CPU device's compiler does not count them"),
        "shared_bytes": computed(0, "B"),
        "bytes_read": modelled(8 << 20, "B"),
        "bytes_written": modelled(4 << 20, "B"),
        "flops": modelled(2e6, "FLOP"),
        "bandwidth": modelled(1.77e10, "B/s"),
        "flop_rate": modelled(2.8e9, "FLOP/s"),
        "roofline": {"share": modelled(0.62, "share"), "bound": "memory"},
        "warnings": [],
    }
    return row | changes


def document(kernels=None, advice=(), **changes) -> dict:
    kernels = [kernel()] if kernels is None else kernels
    made = {
        "schema": "xcuda.report/1",
        "scope": {"kind": "cell", "label": "In [3]", "failed": False, "time": measured(0.031)},
        "totals": {
            "kernels": len({k["name"] for k in kernels}),
            "launches": sum(k["calls"] for k in kernels),
            "running": sum(k["running"] for k in kernels),
            "failed": sum(k["failed"] for k in kernels),
            "device_time": measured(7.1e-4),
            "compiled": 1,
            "compile_time": measured(0.024),
            "from_cache": 0,
            "copy_bytes": measured(0, "B"),
            "copy_time": measured(0),
            "memory_efficiency": modelled(0.62, "share"),
            "compute_efficiency": absent("not measured yet"),
        },
        "devices": [
            {
                "device": "cpu",
                "kind": "cpu",
                "name": "Some CPU, 2 cores, AVX-512",
                "architecture": "x86-64",
                "multiprocessors": 2,
                "memory_change": measured(0, "B"),
                "memory_used": measured(12 << 20, "B"),
                "copy_bandwidth": measured(2.86e10, "B/s"),
                "peak_float32": measured(4.7e11, "FLOP/s"),
                "peak_float64": measured(2.3e11, "FLOP/s"),
            }
        ],
        "kernels": kernels,
        "compiles": [
            {
                "kernel": "saxpy",
                "signature": "(float32[::1], float32[::1])",
                "place": {"file": "<ipython-input-3-0123456789ab>", "line": 4},
                "device": "cpu",
                "from": "compiled",
                "time": measured(0.024),
            }
        ],
        "copies": [],
        "advice": list(advice),
        "lost_events": 0,
    }
    return valid(made | changes)


def advice(text="Use larger blocks.", kernel="saxpy", line=4) -> dict:
    return {
        "rule": "test",
        "text": text,
        "kernel": kernel,
        "place": {"file": "<ipython-input-3-0123456789ab>", "line": line},
    }


def crowded() -> dict:
    """Every part of a report that can be there, with text that must be escaped."""
    unknown = absent("still running when the report was made")
    kernels = [
        kernel("blur", calls=3, warnings=["cell 3, line 5: <t> may be unbound"]),
        kernel("scale", running=1, time={k: unknown for k in ("total", "mean", "min", "max")}),
        kernel(
            "gpu",
            how=None,
            block=[32, 8, 1],
            occupancy={"share": computed(0.75, "share"), "blocks": computed(6), "limit": "registers"},
            registers=computed(40),
            local_bytes=computed(0, "B"),
            roofline={"share": modelled(1.4, "share"), "bound": "memory"},
        ),
    ]
    copies = [
        {
            "device": "cpu",
            "direction": "to device",
            "calls": 2,
            "bytes": measured(8 << 20, "B"),
            "time": measured(1e-3),
            "bandwidth": measured(8.4e9, "B/s"),
        }
    ]
    return document(kernels, [advice("Write a < b & c.")], copies=copies, lost_events=3)
