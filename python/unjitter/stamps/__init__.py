"""Stamps in the files that the field keeps: read them, move them, write them back.

    stamps = read("100.atr").only("V")
    stamps.moved(better_times).write("100.fixed")

writes all of `100.atr` with the chosen stamps moved. `FORMATS` lists the formats; none needs a
further package.
"""

from .formats import FORMATS, read, write
from .stamps import Stamps

__all__ = ["FORMATS", "Stamps", "read", "write"]
