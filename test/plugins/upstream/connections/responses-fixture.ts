import fc from 'fast-check';

const ok = 'HTTP/1.1 200 OK\r\n';

const bodies = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 200,
});
const fields = fc
  .array(fc.tuple(fc.constantFrom('x', 'date', 'set-cookie', 'X-Id'), fc.constantFrom('', 'a', 'a b', '\xfc', 'a:b')), {
    maxLength: 4,
  })
  .map((list) => list.map(([name, value]) => `${name}: ${value}\r\n`).join(''));
const interims = fc
  .array(fc.constantFrom('\r\n', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early\r\nlink: x\r\n\r\n'), {
    maxLength: 3,
  })
  .map((list) => list.join(''));

/** A body in chunks of these lengths. */
function inChunks(body: string, lengths: readonly number[], extension: string): string {
  let text = '';
  let at = 0;
  for (const length of [...lengths, body.length]) {
    const part = body.slice(at, at + length);
    if (part !== '') text += `${part.length.toString(16)}${extension}\r\n${part}\r\n`;
    at += part.length;
  }
  return `${text}0\r\n`;
}

/** Well-formed responses with their bodies. */
export const responses = fc.oneof(
  fc.tuple(interims, fields, bodies).map(([interim, extra, body]) => ({
    body,
    text: `${interim}${ok}${extra}content-length: ${body.length}\r\n\r\n${body}`,
  })),
  fc
    .tuple(
      interims,
      fields,
      bodies,
      fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 6 }),
      fc.constantFrom('', ';a', ';a=b'),
      fields,
    )
    .map(([interim, extra, body, lengths, extension, trailers]) => ({
      body,
      text: `${interim}${ok}${extra}Transfer-Encoding: Chunked\r\n\r\n${inChunks(body, lengths, extension)}${trailers}\r\n`,
    })),
  fc
    .tuple(interims, fields, bodies)
    .map(([interim, extra, body]) => ({ body, text: `${interim}${ok}${extra}\r\n${body}` })),
);

/** Changes that make framing ambiguous or wrong. */
export const mutations = fc.array(
  fc.tuple(
    fc.nat(2_000),
    fc.nat(3),
    fc.constantFrom(
      '',
      '\r',
      '\n',
      '\r\n',
      '\0',
      '\xa0',
      '\t',
      '-',
      ',',
      ' ',
      ':',
      ';',
      '0',
      'f',
      'content-length: 3\r\n',
      'transfer-encoding: chunked\r\n',
      '\r\n\r\n',
      'HTTP/1.1 100 x\r\n\r\n',
    ),
  ),
  { minLength: 1, maxLength: 3 },
);
export const mutate = (text: string, changes: readonly (readonly [number, number, string])[]) =>
  changes.reduce((changed, [place, removed, added]) => {
    const at = place % (changed.length + 1);
    return changed.slice(0, at) + added + changed.slice(at + removed);
  }, text);

/** Cuts a text at these places. */
export function cut(text: string, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...at].map((begin, index) => Buffer.from(text.slice(begin, at[index] ?? text.length), 'latin1'));
}
