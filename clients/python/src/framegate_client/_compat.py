"""What older versions of Python lack."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired

__all__ = ["NotRequired"]
