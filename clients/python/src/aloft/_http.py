"""The HTTP library: httpx2, or httpx on Python 3.10, which httpx2 does not support. Both have the same interface
(docs/decisions/0072-python-client.md)."""

import sys

if sys.version_info >= (3, 11):
    import httpx2 as httpx
else:
    import httpx

__all__ = ["httpx"]
