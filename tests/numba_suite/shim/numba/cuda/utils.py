import sys

PYVERSION = sys.version_info[:2]
