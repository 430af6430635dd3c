"""Limits of fields, by resource and field, such as `limits.http_monitor.name.max`."""

from .gen.limits import *  # noqa: F403
