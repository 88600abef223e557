"""Plans that no GPU has run against those that are taken, values checked: attention's waits and copies, products' stores.

    python tests/gpu/compare.py [--seconds 58]

Runs attention_probe.py --compare and bulk_probe.py --compare after one another. Ends with 1 where a plan hung or was wrong.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=58)
    end, bad = time.monotonic() + parser.parse_args().seconds, 0
    for script, share in (("attention_probe.py", 0.6), ("bulk_probe.py", 1.0)):
        seconds = share * (end - time.monotonic())
        print(f"{script}, {seconds:.0f} s", flush=True)
        command = [sys.executable, str(HERE / script), "--compare", "--seconds", f"{seconds:.0f}"]
        bad |= subprocess.run(command, check=False).returncode
    return bad


if __name__ == "__main__":
    sys.exit(main())
