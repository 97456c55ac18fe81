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

/** A field whose value is a list is repeated. */
export type MessageFields = ReadonlyMap<string, MessageField>;

const maxVarintBytes = 10; // of a 64-bit integer
const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** `value` is in the JSON form of Protocol Buffers, but bytes are hexadecimal. Throws an Error for an unknown field. */
export function toProtobuf(fields: MessageFields, value: object): Buffer {
  const writer = new Writer();
  writer.write(fields, value);
  return writer.bytes();
}

/** Maps field numbers to values. If a field is repeated, the last one counts. Stops at the first malformed field. */
export function readProtobuf(bytes: Buffer): ReadonlyMap<number, number | Buffer> {
  const fieldValues = new Map<number, number | Buffer>();
  let offset = 0;
  const readVarint = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[offset++];
      if (byte === undefined) return Number.NaN;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  while (offset < bytes.length) {
    const tag = readVarint();
    const [number, type] = [Math.floor(tag / 8), tag % 8];
    if (type === wireTypes.varint) fieldValues.set(number, readVarint());
    else if (type === wireTypes.bytes) {
      const length = readVarint();
      fieldValues.set(number, bytes.subarray(offset, (offset += length)));
    } else if (type === wireTypes.fixed64) offset += 8;
    else if (type === wireTypes.fixed32) offset += 4;
    else break;
  }
  return fieldValues;
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
      this.#writeField(field, member);
    }
  }

  #writeField({ number, type }: MessageField, member: unknown): void {
    if (typeof type !== 'string') {
      const messages = (Array.isArray(member) ? member : [member]) as object[];
      for (const message of messages) this.#writeNested(number, () => this.write(type, message));
      return;
    }
    switch (type) {
      case 'string':
        return this.#writeText(number, member as string);
      case 'hex':
        return this.#writeBytes(number, Buffer.from(member as string, 'hex'));
      case 'bool':
      case 'varint':
        this.#writeTag(number, wireTypes.varint);
        return this.#writeVarint(Number(member));
      case 'fixed64':
        this.#writeTag(number, wireTypes.fixed64);
        return this.#writeFixed64(member as string);
      case 'double':
        this.#writeTag(number, wireTypes.fixed64);
        return this.#writeDouble(member as number);
      case 'packed fixed64':
        return this.#writeNested(number, () => (member as string[]).forEach((decimal) => this.#writeFixed64(decimal)));
      case 'packed double':
        return this.#writeNested(number, () => (member as number[]).forEach((double) => this.#writeDouble(double)));
    }
  }

  #writeText(number: number, text: string): void {
    const length = Buffer.byteLength(text);
    this.#writeTag(number, wireTypes.bytes);
    this.#writeVarint(length);
    this.#reserve(length);
    this.#length += this.#buffer.write(text, this.#length);
  }

  #writeBytes(number: number, bytes: Buffer): void {
    this.#writeTag(number, wireTypes.bytes);
    this.#writeVarint(bytes.length);
    this.#reserve(bytes.length);
    this.#length += bytes.copy(this.#buffer, this.#length);
  }

  /** Reserves one byte for the length, and moves the content if the length needs more. */
  #writeNested(number: number, writeContent: () => void): void {
    this.#writeTag(number, wireTypes.bytes);
    this.#reserve(1);
    const start = ++this.#length;
    writeContent();
    const end = this.#length;
    const shift = countVarintBytes(end - start) - 1;
    this.#reserve(shift);
    if (shift > 0) this.#buffer.copyWithin(start + shift, start, end);
    this.#length = start - 1;
    this.#writeVarint(end - start);
    this.#length = end + shift;
  }

  #writeTag(number: number, type: number): void {
    this.#writeVarint(number * 8 + type);
  }

  #writeVarint(value: number): void {
    this.#reserve(maxVarintBytes);
    if (value < 0) return this.#writeNegative(BigInt.asUintN(64, BigInt(value)));
    let remaining = value;
    for (; remaining > 0x7f; remaining = Math.floor(remaining / 128))
      this.#buffer[this.#length++] = (remaining % 128) + 0x80;
    this.#buffer[this.#length++] = remaining;
  }

  #writeNegative(value: bigint): void {
    let remaining = value;
    for (; remaining > 0x7fn; remaining >>= 7n) this.#buffer[this.#length++] = Number(remaining & 0x7fn) + 0x80;
    this.#buffer[this.#length++] = Number(remaining);
  }

  #writeFixed64(decimal: string): void {
    this.#reserve(8);
    this.#length = this.#buffer.writeBigUInt64LE(BigInt(decimal), this.#length);
  }

  #writeDouble(value: number): void {
    this.#reserve(8);
    this.#length = this.#buffer.writeDoubleLE(value, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return;
    const grownBuffer = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + count));
    this.#buffer.copy(grownBuffer, 0, 0, this.#length);
    this.#buffer = grownBuffer;
  }
}

function countVarintBytes(value: number): number {
  let length = 1;
  for (let remaining = value; remaining > 0x7f; remaining = Math.floor(remaining / 128)) length++;
  return length;
}
