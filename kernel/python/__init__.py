"""The xcuda Jupyter kernel. Started as ``python -m xcuda.kernel -f CONNECTION_FILE``; see DESIGN's section 8.

The C++ half (``_kernel``) holds the channels, the streams and the interrupts; the modules here answer the requests.
"""
