"""Makes shipped vector files smaller: `python docs/development/make_packed.py`.

To be run after vectors were made; files that are listed in the manifest were made smaller before.
libdeflate takes ten times as long as zlib, which `conformance generate` uses, for seven per cent
fewer bytes of the same content.
"""

from __future__ import annotations

import zlib
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import deflate
import h5py

from conformance.files import writing
from conformance.vectorfile import shipped_suite
from conformance.vectorfile.suite import MANIFEST

_LEVEL = 12  # the highest


def packed(path: Path) -> bytes:
    """Return a vector file with the same columns, whose chunks take as few bytes as can be."""
    image = BytesIO()
    with h5py.File(path) as old, h5py.File(image, "w", libver=("v110", "v110")) as new:

        def copy(name: str, item: h5py.Group | h5py.Dataset) -> None:
            if isinstance(item, h5py.Group):
                new.create_group(name)
                return
            column, like = name.encode(), item.id
            made = h5py.h5d.create(
                new.id, column, like.get_type(), like.get_space(), like.get_create_plist()
            )
            for number in range(like.get_num_chunks() if item.chunks else 0):
                place = like.get_chunk_info(number).chunk_offset
                mask, chunk = like.read_direct_chunk(place)
                smaller = bytes(deflate.zlib_compress(zlib.decompress(chunk), _LEVEL))
                made.write_direct_chunk(place, min(smaller, chunk, key=len), mask)

        old.visititems(copy)
        for name, value in old.attrs.items():
            new.attrs.create(name, value, dtype=old.attrs.get_id(name).dtype)
    return image.getvalue()


if __name__ == "__main__":
    listed = {*(shipped_suite() / MANIFEST).read_text(encoding="ascii").split()}
    for file in sorted(shipped_suite().glob("*.h5")):
        if sha256(file.read_bytes()).hexdigest() not in listed:
            smaller = packed(file)
            with writing(file) as stream:
                stream.write(smaller)
