import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { createOutline, createItemsOutline, scannerFile } from '#core/platform/json-outline/outline.ts';
import type { JsonValue } from '#core/platform/json.ts';

const messageOf = (text: string) => `{"role":"user","content":[{"text":${JSON.stringify(text)}}]},`;
const outline = (text: string) => createOutline([Buffer.from(text)])?.text;
/** A string in a message, at the third level. */
const inMessage = (json: string) => `{"messages":[{"content":${json}}]}`;

/** What an outline may say of a value: strings of the third level and below may be cut. */
function isOutlineOf(cut: JsonValue | undefined, value: JsonValue | undefined, depth = 0): boolean {
  if (typeof value === 'string') return cut === value || (depth > 2 && isCut(cut, value));
  if (typeof value !== 'object' || value === null) return Object.is(cut, value);
  if (Array.isArray(value))
    return (
      Array.isArray(cut) &&
      cut.length === value.length &&
      value.every((one, at) => isOutlineOf(cut[at], one, depth + 1))
    );
  if (typeof cut !== 'object' || cut === null || Array.isArray(cut)) return false;
  const [names, kept] = [Object.keys(value), Object.keys(cut)];
  return names.length === kept.length && names.every((name) => isOutlineOf(cut[name], value[name], depth + 1));
}

function isCut(cut: JsonValue | undefined, value: string): boolean {
  if (typeof cut !== 'string' || !cut.endsWith('~cut') || Buffer.byteLength(JSON.stringify(value)) <= 66) return false;
  return value.startsWith(cut.slice(0, -4)) && cut.length <= 36;
}

describe('the outline of a JSON text', () => {
  it('is the text where no string is long', () => {
    const text = ' { "a": [1.50, -2e3, true, null, "b\\u00e9\\n"], "ü": { "": [[], {}] } } ';
    expect(outline(text)).toBe(text);
  });

  it('has the beginning of long strings, up to an escape or a character beyond ASCII', () => {
    expect(outline(inMessage(`"${'x'.repeat(65)}"`))).toBe(inMessage(`"${'x'.repeat(32)}~cut"`));
    expect(outline(inMessage(`"say \\"${'x'.repeat(65)}"`))).toBe(inMessage('"say ~cut"'));
    expect(outline(inMessage(`"ü${'x'.repeat(65)}"`))).toBe(inMessage('"~cut"'));
    expect(outline(inMessage(`"${'x'.repeat(64)}"`))).toBe(inMessage(`"${'x'.repeat(64)}"`));
  });

  it('has all of a string in the two outermost levels', () => {
    const text = JSON.stringify({ model: 'm'.repeat(500), metadata: { user_id: '{"a":"b"}'.repeat(90) } });
    expect(outline(text)).toBe(text);
  });

  it('does not exist when it would be as long as a large text, since it would take as long as parsing', () => {
    const item = '{"type":"text","text":"short"}';
    const textOf = (bytes: number) =>
      `{"input":[${Array(Math.floor(bytes / item.length))
        .fill(item)
        .join()}]}`;
    expect(outline(textOf(bounds.jsonOutline / 2))).toHaveLength(textOf(bounds.jsonOutline / 2).length);
    expect(outline(textOf(2 * bounds.jsonOutline))).toBeUndefined();
  });

  it('does not exist for strings that are no JSON', () => {
    const long = 'x'.repeat(100);
    for (const wrong of ['\n', '\t', '\\x', '\\u12g4', '\\u12', '\\'])
      expect(outline(inMessage(`"${long}${wrong}"`)), wrong).toBeUndefined();
    expect(outline(`{"a":"${long}`)).toBeUndefined();
    expect(createOutline([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')])).toBeUndefined();
    // Too long to be kept in one block.
    expect(outline(JSON.stringify({ input: 'x'.repeat(70_000) }))).toBeUndefined();
  });

  it('says where the text ends as its original does', () => {
    const end = '}],"temperature":1,"model":"m"}';
    const text = `{"messages":[{"content":"${'x'.repeat(200_000)}"${end}`;
    expect(createOutline([Buffer.from(text)])?.uncutBytes).toBe(end.length);
    expect(createOutline([Buffer.from('{"model":"m"}')])?.uncutBytes).toBe(13);
  });

  it('counts all escapes, and a few twice', () => {
    const text = inMessage(JSON.stringify('\\ "quoted"\n é\u0007'.repeat(7_000)));
    const { escapes = 0 } = createOutline([Buffer.from(text)]) ?? {};
    expect(escapes - 35_000).toBeGreaterThanOrEqual(0);
    expect(escapes - 35_000).toBeLessThan(32);
  });

  it('is the same wherever a string, an escape or a character meets the end of a block', () => {
    const parts = ['"short"', `"${'long ü '.repeat(30)}"`, `"${'\\u00e9\\n\\"\\\\'.repeat(20)}"`];
    for (const part of parts)
      for (let shift = 0; shift < 500; shift++) {
        const pad = 'y'.repeat(65_536 - 400 + shift);
        const text = inMessage(`["${pad}",${part},${part}]`);
        const expected = outline(inMessage(`[${part},${part}]`))?.replace(
          '[{"content":[',
          `[{"content":["${'y'.repeat(32)}~cut",`,
        );
        expect(outline(text)).toBe(expected);
      }
  });

  it('is the same wherever the text is cut into pieces', () => {
    const bytes = Buffer.from(inMessage(JSON.stringify('é€😀"\\A'.repeat(9))));
    const whole = createOutline([bytes]);
    expect(whole).toBeDefined();
    for (let first = 0; first <= bytes.length; first++)
      for (const second of [first, first + 1, first + 2, first + 3, bytes.length]) {
        const pieces = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        expect(createOutline(pieces)).toEqual(whole);
      }
  });

  it('is the same where items of it have theirs already', () => {
    const parts = ['short', 'é€😀"\\\n'.repeat(30), 'x'.repeat(70_000), ''];
    const head = '{"model":"m","input":[';
    const tail = `${messageOf('the end').slice(0, -1)}],"stream":true}`;
    for (const first of parts)
      for (const second of parts) {
        const pieces = [head, messageOf(first) + messageOf(first), messageOf(second), messageOf('new'), tail].map(
          (one) => Buffer.from(one),
        );
        const known = new Map(
          pieces.slice(1, 3).map((items) => [items, { outline: createItemsOutline(items) }] as const),
        );
        expect([...known.values()].every(({ outline: own }) => own !== undefined)).toBe(true);
        const [found, whole] = [createOutline(pieces, known), createOutline(pieces)];
        expect([found?.text, found?.uncutBytes]).toEqual([whole?.text, whole?.uncutBytes]);
        expect(Math.abs((found?.escapes ?? 0) - (whole?.escapes ?? 0))).toBeLessThan(8);
        expect(JSON.parse(found?.text ?? '')).toMatchObject({ model: 'm', stream: true });
      }
  });

  it('is looked for in all of the text where items have none', () => {
    const pieces = ['{"input":[', '{"a":"b"},', '1]}'].map((one) => Buffer.from(one));
    const known = new Map([[pieces[1] as Buffer, { outline: undefined }]]);
    expect(createOutline(pieces, known)).toEqual(createOutline(pieces));
    expect(createItemsOutline(Buffer.from([0x22, 0xff, 0x22, 0x2c]))).toBeUndefined();
  });

  it('does not exist where the pieces are UTF-8 and all of it is not, or the reverse of it', () => {
    const [begin, end] = [Buffer.from('{"a":"'), Buffer.from('"}')];
    const invalid = [[0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xa9], [0xc3, 0xa9, 0xa9], [0xed, 0xa0, 0x80]];
    for (const wrong of invalid) {
      expect(createOutline([begin, Buffer.from(wrong), end])).toBeUndefined();
      expect(createOutline([begin, ...wrong.map((byte) => Buffer.from([byte])), end])).toBeUndefined();
      expect(createOutline([Buffer.concat([begin, Buffer.from(wrong)])])).toBeUndefined();
    }
  });

  it('says of any value what parsing all of it says', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.constantFrom('"', '\\', '\n\t', 'é').map((one) => one.repeat(90)),
    );
    const value = fc.jsonValue({ stringUnit: 'binary' });
    const body = fc.record({
      messages: fc.array(fc.record({ content: text, more: value }), { maxLength: 20 }),
      more: value,
    });
    fc.assert(
      fc.property(body, fc.constantFrom(undefined, 2), (given, indent) => {
        const json = JSON.stringify(given, null, indent);
        const cut = outline(json);
        expect(cut).toBeDefined();
        expect(isOutlineOf(JSON.parse(cut ?? ''), JSON.parse(json) as JsonValue)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('can be parsed only where the text can', () => {
    const piece = fc.constantFrom(
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '1',
      'e',
      '-',
      'null',
      ' ',
      '\n',
      'x'.repeat(70),
      '\\u00',
      '"a"',
      'é',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = inMessage(pieces.join(''));
        const cut = outline(text);
        if (cut !== undefined && isJson(cut)) expect(isJson(text), text).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

it('the scanner is made by what its source says: `npm run build:scanner` compiles it', () => {
  const source = readFileSync(join(scannerFile, '../scanner.as'));
  expect(readFileSync(scannerFile).subarray(-32)).toEqual(createHash('sha256').update(source).digest());
});
