const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** The bytes without the byte order mark that some servers put before them: JSON has none (RFC 8259 §8.1). */
export function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes;
}
