"""PNG files for checks."""
import struct
import zlib


def png(image):
    """Returns a PNG file of an array height x width x 3 (R, G, B) or height x width."""
    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack(
            '>I', zlib.crc32(kind + data))
    height, width = image.shape[:2]
    rows = b''.join(b'\0' + row.tobytes() for row in image)
    header = struct.pack('>IIBBBBB', width, height, 8, 2 if image.ndim == 3 else 0, 0, 0, 0)
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(
        b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b'')
