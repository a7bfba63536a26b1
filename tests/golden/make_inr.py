"""Writes plain.inr out of its text, without rigconv."""

import struct
from pathlib import Path
from zlib import crc32

NODE = '"kind":"node","enabled":true,"zsort":0.0,"lock_to_root":false'
TEXT = (
    '{"asset":{"generator":"rigconv","version":1},"meta":{"name":"plain"},'
    '"physics":{"pixels_per_meter":1000.0,"gravity":9.8},"buffer_views":[],"nodes":['
    f'{{"name":"root","uuid":{crc32(b"root")},{NODE},'
    '"translation":[0.0,0.0,0.0],"rotation":[0.0,0.0,0.0],"scale":[1.0,1.0]},'
    f'{{"name":"arm","uuid":{crc32(b"arm")},"parent":0,{NODE},'
    '"translation":[10.0,-5.0,0.0],"rotation":[0.0,0.0,-1.5707964],"scale":[1.0,1.0]},'
    f'{{"name":"hand","uuid":{crc32(b"hand")},"parent":1,{NODE},'
    '"translation":[2.0,0.0,0.0],"rotation":[0.0,0.0,0.0],"scale":[2.0,-0.5]}'
    '],"params":[],"animations":[],"textures":[]}'
)


def main() -> None:
    """Write the file beside this script."""
    chunk = TEXT.encode()
    chunk += b" " * (-len(chunk) % 4)
    header = struct.pack("<4sIII", b"INR1", 1, len(chunk), 0)
    Path(__file__).with_name("plain.inr").write_bytes(header + chunk)


if __name__ == "__main__":
    main()
