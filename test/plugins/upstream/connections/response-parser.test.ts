import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResponseParser } from '../../../../plugins/upstream/connections/response-parser.ts';
import { runs } from '../../../support/runs.ts';
import { cut, mutate, mutations, responses } from './responses-fixture.ts';

/** What a parser has found; `rest` are the bytes behind the response. */
interface Outcome {
  readonly status?: number;
  readonly body: string;
  readonly isComplete: boolean;
  readonly error?: string;
  readonly rest: number;
}

/** Parses these packets, behind which the upstream closes the connection. */
function parse(packets: readonly Buffer[], hasBody = true): Outcome {
  const parser = new ResponseParser();
  let status: number | undefined;
  let isComplete = false;
  const body: string[] = [];
  parser.start(
    {
      onHead: (given) => (status = given),
      onData: (bytes, start, end) => body.push(bytes.toString('latin1', start, end)),
      onEnd: () => (isComplete = true),
    },
    hasBody,
  );
  let rest = 0;
  let error: string | undefined;
  try {
    for (const packet of packets) rest += packet.length - parser.execute(packet);
    parser.close();
  } catch (thrown) {
    error = (thrown as Error).message;
  }
  return { ...(status !== undefined && { status }), body: body.join(''), isComplete, ...(error && { error }), rest };
}

const bytesOf = (text: string) => Buffer.from(text, 'latin1');
const parseText = (text: string, hasBody?: boolean) => parse([bytesOf(text)], hasBody);
const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;

describe('a response', () => {
  it.each([
    ['with a length', `${ok}content-length: 2\r\n\r\nok`, 'ok'],
    ['without a body', `${ok}content-length: 0\r\n\r\n`, ''],
    ['with spaces around its length', `${ok}content-length: \t 2 \t\r\n\r\nok`, 'ok'],
    ['with a long header', `${ok}set-cookie: ${'a'.repeat(60_000)}\r\ncontent-length: 2\r\n\r\nok`, 'ok'],
    ['in chunks', `${chunked}2\r\nok\r\n0\r\n\r\n`, 'ok'],
    [
      'in chunks with leading zeros, extensions and trailers',
      `${chunked}002;a="b";c\r\nok\r\n00\r\nx: y\r\n\r\n`,
      'ok',
    ],
    ['until the connection closes', `${ok}\r\nok`, 'ok'],
    ['with the coding identity, until the connection closes', `${ok}transfer-encoding: identity\r\n\r\nok`, 'ok'],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nok', 'ok'],
    ['without a reason', 'HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok', 'ok'],
    [
      'behind empty lines and interim responses',
      `\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\na: b\r\n\r\n${chunked}2\r\nok\r\n0\r\n\r\n`,
      'ok',
    ],
    ['that cannot have a body', 'HTTP/1.1 204 No Content\r\n\r\n', ''],
    ['with a length in a 304', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n', ''],
  ])('a response is read: %s', (_name, text, body) => {
    expect(parseText(text)).toMatchObject({ isComplete: true, body, rest: 0 });
  });

  it('a response to HEAD has no body, whatever its length', () => {
    expect(parseText(`${ok}content-length: 2\r\n\r\n`, false)).toMatchObject({ isComplete: true, body: '' });
  });

  it('a response is followed by a surplus, which is not read', () => {
    expect(parseText(`${ok}content-length: 2\r\n\r\nokHTTP/1.1`)).toMatchObject({ body: 'ok', rest: 8 });
    expect(parseText(`${chunked}0\r\n\r\nHTTP/1.1`)).toMatchObject({ isComplete: true, rest: 8 });
  });
});

describe('a response that two readers could end at different places', () => {
  const cases: [name: string, text: string][] = [
    ['a length and chunks', `${ok}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`],
    ['chunks and a length', `${ok}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n`],
    ['two lengths', `${ok}content-length: 2\r\ncontent-length: 3\r\n\r\nok!`],
    ['two equal lengths', `${ok}content-length: 2\r\nContent-Length: 2\r\n\r\nok`],
    ['a list of lengths', `${ok}content-length: 2, 2\r\n\r\nok`],
    ['a negative length', `${ok}content-length: -2\r\n\r\nok`],
    ['a length with a sign', `${ok}content-length: +2\r\n\r\nok`],
    ['a hexadecimal length', `${ok}content-length: 0x2\r\n\r\nok`],
    ['an empty length', `${ok}content-length:\r\n\r\nok`],
    ['a length with a fraction', `${ok}content-length: 2.0\r\n\r\nok`],
    ['a length that no number holds', `${ok}content-length: 9007199254740993\r\n\r\nok`],
    ['two codings', `${ok}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['identity and a length', `${ok}transfer-encoding: identity\r\ncontent-length: 2\r\n\r\nok`],
    ['identity behind chunked', `${ok}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['gzip', `${ok}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['chunked twice', `${ok}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a coding with a vertical tab', `${ok}transfer-encoding: \x0bchunked\r\n\r\n0\r\n\r\n`],
    ['a coding behind a space of Latin-1', `${ok}transfer-encoding: \xa0chunked\r\n\r\n0\r\n\r\n`],
    ['a length behind a space of Latin-1', `${ok}content-length: \xa02\r\n\r\nok`],
    ['a space before the colon', `${ok}content-length : 2\r\n\r\nok`],
    ['a name without a colon', `${ok}content-length\r\n\r\nok`],
    ['a name that is empty', `${ok}: 2\r\n\r\nok`],
    ['a folded line', `${ok}x: a\r\n content-length: 2\r\n\r\nok`],
    ['a space before the first header', `${ok} x: a\r\n\r\nok`],
    ['a line feed alone', 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok'],
    ['a line feed alone inside a head', `${ok}x: a\ncontent-length: 2\r\n\r\nok`],
    ['a carriage return alone', `${ok}x: a\rcontent-length: 2\r\n\r\nok`],
    ['a NUL in a header', `${ok}x: a\0b\r\ncontent-length: 2\r\n\r\nok`],
    ['a head that is too long', `${ok}x: ${'a'.repeat(70_000)}\r\n\r\nok`],
    ['a status line of another protocol', 'HTTP/2.0 200 OK\r\n\r\nok'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\nok'],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
    ['a chunk without a size', `${chunked};a\r\nok\r\n0\r\n\r\n`],
    ['a negative size', `${chunked}-2\r\nok\r\n0\r\n\r\n`],
    ['a size with 0x', `${chunked}0x2\r\nok\r\n0\r\n\r\n`],
    ['a size with a space', `${chunked}2 \r\nok\r\n0\r\n\r\n`],
    ['a size behind a space', `${chunked} 2\r\nok\r\n0\r\n\r\n`],
    ['a size that no number holds', `${chunked}fffffffffffff0\r\nok\r\n0\r\n\r\n`],
    ['a size that ends with a line feed', `${chunked}2\nok\r\n0\r\n\r\n`],
    ['a line feed in an extension', `${chunked}2;a\nok\r\n0\r\n\r\n`],
    ['a carriage return in an extension', `${chunked}2;a\rb\r\nok\r\n0\r\n\r\n`],
    ['a chunk longer than its size', `${chunked}1\r\nok\r\n0\r\n\r\n`],
    ['a chunk that ends with a line feed', `${chunked}2\r\nok\n0\r\n\r\n`],
    ['malformed trailers', `${chunked}0\r\nx y\r\n\r\n`],
    ['trailers with a line feed', `${chunked}0\r\nx: y\n\r\n\r\n`],
    ['trailers without end', `${chunked}0\r\n${'x: y\r\n'.repeat(20_000)}`],
  ];

  it.each(cases)('a response that two readers could end at different places is refused: %s', (_name, text) => {
    expect(parseText(text)).toMatchObject({ isComplete: false, error: expect.stringContaining('HTTP/1.1') });
  });

  it.each(cases)(
    'a response that two readers could end at different places is refused byte by byte: %s',
    (_name, text) => {
      const bytes = bytesOf(text);
      expect(parse([...bytes.keys()].map((at) => bytes.subarray(at, at + 1))).error).toBeDefined();
    },
  );

  it('a response that two readers could end at different places is refused before its head is complete, where it can be', () => {
    for (const text of ['220 mail', 'HTTP/1.1 200 OK\n', `${ok}a: b\nc`, 'SSH-2.0', 'HTTP/2'])
      expect(parseText(text).error).toBeDefined();
  });
});

const places = fc.array(fc.nat(2_000), { maxLength: 12 });

describe('any response', () => {
  it('any response is read alike, however it is divided into packets', () => {
    fc.assert(
      fc.property(responses, places, ({ text, body }, at) => {
        expect(parse(cut(text, at))).toMatchObject({ isComplete: true, body, rest: 0, status: 200 });
      }),
      runs(300),
    );
  });

  it('any response, also a damaged one, has one meaning, however it is divided into packets', () => {
    fc.assert(
      fc.property(responses, mutations, places, ({ text }, changes, at) => {
        const changed = mutate(text, changes);
        const [whole, parts] = [parseText(changed), parse(cut(changed, at))];
        expect(parts.isComplete).toBe(whole.isComplete);
        expect(parts.error === undefined).toBe(whole.error === undefined);
        expect(parts.rest === 0 || whole.isComplete).toBe(true);
        expect(parts.body).toBe(whole.body);
      }),
      runs(300),
    );
  });

  it('any response, also a damaged one, gives only bytes that it has, and no byte twice', () => {
    fc.assert(
      fc.property(responses, mutations, ({ text }, changes) => {
        const changed = mutate(text, changes);
        const { body, rest } = parseText(changed);
        expect(body.length + rest).toBeLessThanOrEqual(changed.length);
      }),
      runs(300),
    );
  });
});
