/** Encoding of a field that is not a nested message. */
export type FieldType =
  | 'string'
  | 'hex'
  | 'bool'
  | 'varint'
  | 'fixed64'
  | 'double'
  | 'packed fixed64'
  | 'packed double';

export interface MessageField {
  readonly number: number;
  readonly type: FieldType | MessageFields;
}

/** Fields by name. A field whose value is a list is repeated. */
export type MessageFields = ReadonlyMap<string, MessageField>;

/** Maximum bytes of a 64-bit integer. */
const longestVarint = 10;
const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/**
 * Encodes a value in the wire format of Protocol Buffers.
 *
 * @param value as in the JSON form of Protocol Buffers, but bytes are hexadecimal
 * @throws Error if the message has no such field
 */
export function toProtobuf(fields: MessageFields, value: object): Buffer {
  const writer = new Writer();
  writer.write(fields, value);
  return writer.bytes();
}

/** Reads the integers and texts of a message by field number, the last one of each. Stops at the first malformed field. */
export function readProtobuf(bytes: Buffer): ReadonlyMap<number, number | Buffer> {
  const found = new Map<number, number | Buffer>();
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++];
      if (byte === undefined) return Number.NaN;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const [number, type] = [Math.floor(tag / 8), tag % 8];
    if (type === wire.varint) found.set(number, varint());
    else if (type === wire.bytes) {
      const length = varint();
      found.set(number, bytes.subarray(at, (at += length)));
    } else if (type === wire.fixed64) at += 8;
    else if (type === wire.fixed32) at += 4;
    else break;
  }
  return found;
}

class Writer {
  #buffer = Buffer.allocUnsafe(16_384);
  #length = 0;

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  write(fields: MessageFields, value: object): void {
    for (const name in value) {
      const member: unknown = value[name as keyof typeof value];
      if (member === undefined) continue;
      const field = fields.get(name);
      if (field === undefined) throw new Error(`the message has no field ${name}`);
      this.#field(field, member);
    }
  }

  #field({ number, type }: MessageField, member: unknown): void {
    if (typeof type !== 'string') {
      const all = (Array.isArray(member) ? member : [member]) as object[];
      for (const one of all) this.#nested(number, () => this.write(type, one));
      return;
    }
    switch (type) {
      case 'string':
        return this.#text(number, member as string);
      case 'hex':
        return this.#bytes(number, Buffer.from(member as string, 'hex'));
      case 'bool':
      case 'varint':
        this.#tag(number, wire.varint);
        return this.#varint(Number(member));
      case 'fixed64':
        this.#tag(number, wire.fixed64);
        return this.#fixed64(member as string);
      case 'double':
        this.#tag(number, wire.fixed64);
        return this.#double(member as number);
      case 'packed fixed64':
        return this.#nested(number, () => (member as string[]).forEach((one) => this.#fixed64(one)));
      case 'packed double':
        return this.#nested(number, () => (member as number[]).forEach((one) => this.#double(one)));
    }
  }

  #text(number: number, text: string): void {
    const length = Buffer.byteLength(text);
    this.#tag(number, wire.bytes);
    this.#varint(length);
    this.#reserve(length);
    this.#length += this.#buffer.write(text, this.#length);
  }

  #bytes(number: number, bytes: Buffer): void {
    this.#tag(number, wire.bytes);
    this.#varint(bytes.length);
    this.#reserve(bytes.length);
    this.#length += bytes.copy(this.#buffer, this.#length);
  }

  /** Writes a nested message. Reserves one byte for its length, and moves the content if the length needs more. */
  #nested(number: number, writeContent: () => void): void {
    this.#tag(number, wire.bytes);
    this.#reserve(1);
    const start = ++this.#length;
    writeContent();
    const end = this.#length;
    const shift = lengthOfVarint(end - start) - 1;
    this.#reserve(shift);
    if (shift > 0) this.#buffer.copyWithin(start + shift, start, end);
    this.#length = start - 1;
    this.#varint(end - start);
    this.#length = end + shift;
  }

  #tag(number: number, type: number): void {
    this.#varint(number * 8 + type);
  }

  /** @param value an integer; negative values are written as 64-bit two's complement */
  #varint(value: number): void {
    this.#reserve(longestVarint);
    if (value < 0) return this.#negative(BigInt.asUintN(64, BigInt(value)));
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.#buffer[this.#length++] = (rest % 128) + 0x80;
    this.#buffer[this.#length++] = rest;
  }

  #negative(value: bigint): void {
    let rest = value;
    for (; rest > 0x7fn; rest >>= 7n) this.#buffer[this.#length++] = Number(rest & 0x7fn) + 0x80;
    this.#buffer[this.#length++] = Number(rest);
  }

  #fixed64(decimal: string): void {
    this.#reserve(8);
    this.#length = this.#buffer.writeBigUInt64LE(BigInt(decimal), this.#length);
  }

  #double(value: number): void {
    this.#reserve(8);
    this.#length = this.#buffer.writeDoubleLE(value, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + count));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

function lengthOfVarint(value: number): number {
  let length = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) length++;
  return length;
}
