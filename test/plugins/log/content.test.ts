import { describe, expect, it } from 'vitest';
import { generateApiKey, maskApiKey } from '#core/business/accounts/api-key.ts';
import { bounds } from '#core/platform/bounds.ts';
import { ContentLines, Excerpt } from '../../../plugins/log/content.ts';
import { arrive, identify, MemoryStore, openLog, outcome, TemporaryFolder } from './fixture.ts';

interface Content {
  readonly part: string;
  readonly is_cut: boolean;
  readonly body: string;
}

/** The content lines of a request with these bodies. */
function contentOf(body: Buffer | string, reply: readonly (Buffer | string)[], maxBytes = 100): Content[] {
  const excerpt = new Excerpt(maxBytes);
  for (const chunk of reply) excerpt.add(chunk);
  const received = Buffer.from(body as string);
  const exchange = arrive({ body: { ...arrive().body, received } });
  return new ContentLines(maxBytes, 'dp').createLines(exchange, excerpt).map((line) => {
    expect(line).toMatch(/^[ -~]*$/);
    const { part, is_cut, body: encoded } = JSON.parse(line) as Content;
    return { part, is_cut, body: Buffer.from(encoded, 'base64').toString() };
  });
}

const replyOf = (chunks: readonly (Buffer | string)[], maxBytes?: number) => contentOf('', chunks, maxBytes)[0];

describe('content of a request', () => {
  it('is the body of the request and the concatenated body of the reply', () => {
    expect(contentOf('{"a":1}', ['data: 1\n\n', Buffer.from('data: [DONE]\n\n')])).toEqual([
      { part: 'request', is_cut: false, body: '{"a":1}' },
      { part: 'reply', is_cut: false, body: 'data: 1\n\ndata: [DONE]\n\n' },
    ]);
  });

  it('is empty for empty bodies', () => {
    expect(contentOf('', [])).toEqual([]);
  });

  it.each([
    ['as large as the bound', 'a'.repeat(100), 'a'.repeat(100), false],
    ['a byte larger', 'a'.repeat(101), 'a'.repeat(100), true],
    ['a thousand times as large', 'a'.repeat(100_000), 'a'.repeat(100), true],
    ['larger by a character of four bytes', `${'a'.repeat(98)}😀`, 'a'.repeat(98), true],
    ['all of characters of three bytes', '語'.repeat(200), '語'.repeat(33), true],
  ])('is truncated between two characters and marked: %s', (_, text, body, is_cut) => {
    expect(contentOf(text, [])).toEqual([{ part: 'request', is_cut, body }]);
    expect(replyOf([text])).toEqual({ part: 'reply', is_cut, body });
    expect(replyOf(text.match(/.{1,7}/gu) ?? [])).toEqual({ part: 'reply', is_cut, body });
    const bytes = [...Buffer.from(text).subarray(0, 400)].map((byte) => Buffer.of(byte));
    expect(replyOf(bytes)).toEqual({ part: 'reply', is_cut, body });
  });

  it('has replacement characters for invalid text', () => {
    expect(replyOf([Buffer.from([0x61, 0x00, 0xff, 0x62])])?.body).toBe('a\ufffd\ufffdb');
    expect(replyOf(['\ud800 \u0000 \udc00'])?.body).toBe('\ufffd \ufffd \ufffd');
  });

  it('takes little more memory than the limit', () => {
    const excerpt = new Excerpt(100);
    for (let round = 0; round < 10_000; round++) excerpt.add(Buffer.alloc(1_000));
    expect(excerpt.read().bytes.length).toBeLessThan(300);
  });

  it('is a copy of the chunks', () => {
    const excerpt = new Excerpt(100);
    const bytes = Buffer.from('first');
    excerpt.add(bytes);
    bytes.fill('x');
    expect(excerpt.read().bytes.toString()).toBe('first');
  });
});

describe('a key of the gateway', () => {
  const key = generateApiKey('dp');
  const hint = maskApiKey(key, 'dp');
  const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;

  it.each([
    ['alone', key, hint],
    ['in JSON', `{"key":"${key}\\n"}`, `{"key":"${hint}\\n"}`],
    ['twice without anything between', key + key, hint + hint],
    ['behind a letter', `x${key}`, `x${hint}`],
    ['behind something like it', `dp-aaaaaaaaaaaaaaaaaaaa${key}`, `[key]${hint}`],
    ['with a typing error', wrong, '[key]'],
    ['one with an underscore', `dp_${'a'.repeat(49)} `, '[key] '],
    ['half of it', `${key.slice(0, 30)} `, '[key] '],
  ])('is redacted: %s', (_, text, body) => {
    expect(contentOf(text, [], 200)[0]?.body).toBe(body);
  });

  it('is redacted wherever truncation splits it', () => {
    for (let before = 0; before < 60; before++) {
      const body = contentOf(`${' '.repeat(before)}${key}`.repeat(9), [], 60)[0]?.body ?? '';
      expect(body).not.toMatch(/dp-[0-9A-Za-z]{5}/);
    }
  });

  it('is redacted across chunks', () => {
    expect(replyOf([key.slice(0, 10), key.slice(10, 30), key.slice(30)])?.body).toBe(hint);
  });

  it.each([
    'dp-short',
    'schema-dp-name',
    'schema_dp_name',
    'xdp-aaaaaaaaaaaaaaaaaaaaaa',
    'sk-aaaaaaaaaaaaaaaaaaaaaaaaaaa',
  ])('is not mistaken for %s', (text) => {
    expect(contentOf(text, [])[0]?.body).toBe(text);
  });
});

it('content of the largest size fits into the journal, both bodies of several requests', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  // A thread that gets no processor for 200 ms would count as a silent disk, which is not what this is about.
  const requestLog = openLog({ folder, store, stopDeadlineMs: 60_000 });
  const text = '\u0000語😀'.repeat(bounds.loggedContent);
  for (let round = 0; round < 9; round++) {
    const exchange = identify(arrive({ body: { ...arrive().body, received: Buffer.from(text) } }));
    const excerpt = new Excerpt(bounds.loggedContent);
    excerpt.add(text);
    requestLog.journal.begin(exchange);
    const content = new ContentLines(bounds.loggedContent, 'dp').createLines(exchange, excerpt);
    expect(content.map(({ length }) => length > 170_000)).toEqual([true, true]);
    requestLog.journal.end(exchange, outcome(), content);
  }
  await requestLog[Symbol.asyncDispose]();
  expect(requestLog.out).toEqual([]);
  expect(store.records.size).toBe(9);
  expect(store.contents.size).toBe(18);
  for (const body of store.contents.values()) expect(Buffer.byteLength(body)).toBeGreaterThan(bounds.loggedContent - 4);
});
