import type { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ReplyReader } from '#core/gateway/model-call/adapter.ts';
import { ProcessMemory, type MemoryShare, unlimitedMemory } from '#core/platform/memory/budget.ts';
import { nextTurn } from '#core/platform/timing/turn.ts';
import type { ReplyObserver } from '../../../../plugins/format/formats/contract/pass-through.ts';
import { PassThrough } from '../../../../plugins/format/routes/pass-through/pass-through.ts';
import { PassThroughReader } from '../../../../plugins/format/routes/pass-through/reader.ts';
import { Attempt } from '../../../../plugins/upstream/attempt/attempt.ts';
import type { AttemptRequest } from '../../../../plugins/upstream/attempt/contract.ts';
import { Fault, createRouteFault } from '../../../../plugins/upstream/attempt/fault.ts';
import { Connections } from '../../../../plugins/upstream/connections/connections.ts';
import { createUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import { conversational } from '../../../support/formats.ts';
import { exchange, requestOf } from '../../format/invariants/fixture.ts';
import { answer, content, finish, routeTo, textOf, upstreamAt } from '../fixture.ts';

const { chat, gemini } = conversational;
const client = { id: 'req_test', dialect: 'openai' } as const;
let connections: Connections;
let events: string[];
beforeEach(() => {
  connections = new Connections({ quarantineMs: 0 });
  events = [];
});
afterEach(() => connections[Symbol.asyncDispose]());

/** One try, which writes down what it reports. */
function attemptAt(
  url: string,
  isStream: boolean,
  {
    agent = connections.getPool(url, 1),
    firstByteTimeout = 10,
    deadline = 60,
    observer = chat.client.createObserver({}),
    memory = unlimitedMemory.createShare(''),
    reader = new PassThroughReader(observer, client),
  }: {
    agent?: AttemptRequest['agent'];
    firstByteTimeout?: number;
    deadline?: number;
    observer?: ReplyObserver;
    memory?: MemoryShare;
    reader?: ReplyReader;
  } = {},
): Attempt {
  return new Attempt(
    {
      agent,
      origin: url,
      path: '/chat/completions',
      headers: {},
      body: '{}',
      isStream,
      limits: { firstByteTimeout, idleTimeout: 10, progressTimeout: 30, deadline },
      memory,
      now: () => 0,
      onContent: () => events.push('content'),
      onEnd: (fault) => events.push(`end ${fault?.error.code ?? 'well'}`),
      onFailure: (error) => events.push(String(error)),
    },
    reader,
  );
}

async function faultOf(handler: Handler, isStream = false): Promise<Fault> {
  await using upstream = await createUpstream(handler);
  const thrown: unknown = await attemptAt(upstream.url, isStream)
    .run()
    .catch((error: unknown) => error);
  if (thrown instanceof Fault) return thrown;
  throw new Error('it served');
}

describe('a whole answer', () => {
  it('keeps its bytes and its content type', async () => {
    const text = `{ "choices": [ { "message": { "content": "hi" } } ],\n "big": 12345678901234567890 }`;
    await using upstream = await createUpstream((_request, response) =>
      response.send(200, { 'content-type': 'application/json; charset=utf-8' }, text),
    );
    const reply = await attemptAt(upstream.url, false).run();
    expect([reply.headers, await textOf(reply)]).toEqual([{ 'content-type': 'application/json; charset=utf-8' }, text]);
  });

  it('reports its content and its end, once each', async () => {
    await using upstream = await createUpstream((_request, response) => response.json(200, answer));
    await attemptAt(upstream.url, false).run();
    expect(events).toEqual(['content', 'end well']);
  });

  it('comes after 1xx answers, which are ignored', async () => {
    const body = JSON.stringify(answer);
    await using upstream = await createUpstream((_request, response) => {
      response.raw('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n');
      response.raw(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    });
    expect((await attemptAt(upstream.url, false).run()).status).toBe(200);
  });

  it('passes no other header of the upstream', async () => {
    await using upstream = await createUpstream((_request, response) =>
      response.json(200, answer, { 'set-cookie': 'a=b', 'x-vendor': 'secret' }),
    );
    expect(Object.keys((await attemptAt(upstream.url, false).run()).headers)).toEqual(['content-type']);
  });
});

describe('memory', () => {
  const long = { choices: [{ message: { content: 'x'.repeat(500_000) }, finish_reason: 'stop' }] };

  it('that a whole answer does not fit into ends the attempt, without blame for the route', async () => {
    const budget = new ProcessMemory(1_000_000);
    const memory = budget.createShare('a');
    await using upstream = await createUpstream((_request, response) => response.json(200, long));
    const fault: unknown = await attemptAt(upstream.url, false, { memory })
      .run()
      .catch((error: unknown) => error);
    expect(fault).toMatchObject({ kind: 'memory', error: { code: 'unavailable', details: { retryAfter: 1 } } });
    expect([budget.reserved, budget.refusals.reply]).toEqual([0, 1]);
  });

  it('that an event does not fit into ends the attempt', async () => {
    const memory = new ProcessMemory(1_000_000).createShare('a');
    await using upstream = await createUpstream(async (_request, response) => {
      response.sse();
      await response.write(`data: {"choices":[{"delta":{"content":"${'x'.repeat(150_000)}`);
      await response.closed;
    });
    const fault: unknown = await attemptAt(upstream.url, true, { memory })
      .run()
      .catch((error: unknown) => error);
    expect(fault).toMatchObject({ kind: 'memory' });
    expect(memory.bytes).toBe(0);
  });

  it('that cannot hold what a reader keeps of a stream ends the stream', async () => {
    const budget = new ProcessMemory(2_000_000);
    const reader = new PassThroughReader(chat.client.createObserver({}), client);
    const push = reader.push.bind(reader);
    const begun = Promise.withResolvers<void>();
    let held = 0;
    Object.defineProperty(reader, 'held', { get: () => held });
    reader.push = (chunk) => {
      held += chunk.length;
      return push(chunk);
    };
    await using upstream = await createUpstream(async (_request, response) => {
      response.sse();
      const event = `data: ${JSON.stringify(content('a'))}\n\n`;
      await response.write(event);
      await begun.promise;
      for (let sent = 0; sent < 1_000; sent++) await response.write(event.repeat(100));
      await response.closed;
    });
    const { body } = await attemptAt(upstream.url, true, { memory: budget.createShare('a'), reader }).run();
    begun.resolve();
    const most: number[] = [];
    (body as Readable).on('data', () => most.push(budget.reserved));
    await new Promise((resolve) => (body as Readable).on('error', resolve).on('close', resolve));
    expect(events).toEqual(['content', 'end unavailable']);
    expect(budget.refusals.reply).toBe(1);
    // Reserved as it grew, and no more than there was.
    expect(Math.max(...most)).toBeGreaterThan(1_000_000);
    expect(held).toBeLessThan(1_000_000);
  });

  it.each(['identity', 'gzip'])('that others hold does not end a stream of usual length in %s', async (coding) => {
    const budget = new ProcessMemory(1_000_000);
    budget.createShare('other').add(2_000_000);
    const reader = new PassThroughReader(chat.client.createObserver({}), client);
    Object.defineProperty(reader, 'held', { value: 200_000 });
    await using upstream = await createUpstream((_request, response) => {
      const data = [JSON.stringify(content('a')), JSON.stringify(finish), '[DONE]'];
      const body = data.map((value) => `data: ${value}\n\n`).join('');
      const headers = { 'content-type': 'text/event-stream', 'content-encoding': coding };
      response.send(200, headers, coding === 'gzip' ? gzipSync(body) : body);
    });
    const memory = budget.createShare('a');
    const { body } = await attemptAt(upstream.url, true, { memory, reader }).run();
    for await (const _chunk of body as Readable);
    expect(events).toEqual(['content', 'end well']);
    expect(memory.bytes).toBe(400_000);
  });

  it('is held for the bytes of an answer until its exchange is over', async () => {
    const memory = new ProcessMemory(10_000_000).createShare('a');
    await using upstream = await createUpstream((_request, response) => response.json(200, long));
    const reply = await attemptAt(upstream.url, false, { memory }).run();
    expect(memory.bytes).toBe((await textOf(reply)).length);
  });
});

describe('a stream', () => {
  it('is held back until all of its packet has been read, if reading pauses behind the first content', async () => {
    await using upstream = await createUpstream((_request, response) => {
      const event = `data: ${JSON.stringify(content('a'))}\n\n`;
      const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
      response.raw(`${head}${event.length.toString(16)}\r\n${event}\r\nzz\r\n`);
    });
    const reader = new PassThroughReader(chat.client.createObserver({}), client);
    const push = reader.push.bind(reader);
    // Longer than a turn may be, on a busy machine, while others wait for their turn too.
    reader.push = (chunk) => {
      for (let others = 0; others < 5; others++) void nextTurn();
      for (const began = performance.now(); performance.now() - began < 15;);
      return push(chunk);
    };
    await expect(attemptAt(upstream.url, true, { reader }).run()).rejects.toBeInstanceOf(Fault);
    expect(events).toEqual([]);
  });

  it('is held back until its first content', async () => {
    const gate = Promise.withResolvers<void>();
    await using upstream = await createUpstream(async (_request, response) => {
      response.sse({ choices: [{ delta: { role: 'assistant' } }] });
      await gate.promise;
      await response.event(content('a'));
    });
    const running = attemptAt(upstream.url, true).run();
    await upstream.waitForRequest(1);
    expect(events).toEqual([]);
    gate.resolve();
    const { body } = await running;
    expect(events).toEqual(['content']);
    (body as Readable).destroy();
  });

  it('begins with what was held back', async () => {
    const role = { choices: [{ delta: { role: 'assistant' } }] };
    await using upstream = await createUpstream((_request, response) => {
      response.sse(role, content('a'), finish, '[DONE]');
      response.end();
    });
    expect(await textOf(await attemptAt(upstream.url, true).run())).toContain(`data: ${JSON.stringify(role)}\n\n`);
  });

  it('that breaks off before it is read fails when it is read, after the content that came before', async () => {
    await using upstream = await createUpstream((_request, response) => response.sse(content('a')));
    const attempt = attemptAt(upstream.url, true);
    const { body } = await attempt.run();
    attempt.end(createRouteFault('upstream_failed', 'cut'));
    const read: string[] = [];
    const failed = new Promise((resolve) => (body as Readable).once('error', resolve));
    (body as Readable).on('data', (chunk: Buffer) => read.push(chunk.toString()));
    expect(await failed).toMatchObject({ code: 'upstream_failed' });
    expect(read.join('')).toContain('"a"');
  });

  it('reports its end once, however often it is ended', async () => {
    await using upstream = await createUpstream((_request, response) => response.sse(content('a')));
    const attempt = attemptAt(upstream.url, true);
    const { body } = await attempt.run();
    (body as Readable).destroy();
    attempt.end(createRouteFault('upstream_failed', 'late'));
    await upstream.waitForClose(1);
    expect(events).toEqual(['content', 'end well']);
  });

  it('renders its failure as its format does', async () => {
    await using upstream = await createUpstream((_request, response) => response.sse(content('a')));
    const { renderFailure, body } = await attemptAt(upstream.url, true).run();
    expect(renderFailure?.(createRouteFault('upstream_failed', 'cut').error)).toMatch(/^data: \{"error":.* cut"/);
    (body as Readable).destroy();
  });
});

describe('an answer whose type is wrong', () => {
  const plain = { 'content-type': 'text/plain; charset=utf-8' };
  const untyped = {};
  const stream = `data: ${JSON.stringify(content('a'))}\n\ndata: ${JSON.stringify(finish)}\n\ndata: [DONE]\n\n`;

  it.each([
    ['in another case', { 'content-type': 'Text/Event-Stream' }],
    ['that says plain text', plain],
    ['that says bytes', { 'content-type': 'application/octet-stream' }],
    ['that says JSON', { 'content-type': 'application/json; charset=utf-8' }],
    ['that is missing', untyped],
  ])('is a stream all the same with one %s', async (_name, headers) => {
    await using upstream = await createUpstream((_request, response) => response.send(200, headers, stream));
    const reply = await attemptAt(upstream.url, true).run();
    expect(reply.headers['content-type']).toContain('text/event-stream');
    expect(await textOf(reply)).toBe(stream);
  });

  it('is a stream although its first bytes come one by one', async () => {
    await using upstream = await createUpstream(async (_request, response) => {
      response.head(200, plain);
      for (const byte of stream.slice(0, 8)) await response.write(byte);
      response.end(stream.slice(8));
    });
    expect(await textOf(await attemptAt(upstream.url, true).run())).toBe(stream);
  });

  it.each([
    ['JSON', { 'content-type': 'application/json' }],
    ['plain text', plain],
  ])(
    'is a stream that becomes a whole answer where one is asked for, with one that says %s',
    async (_name, headers) => {
      await using upstream = await createUpstream((_request, response) => response.send(200, headers, stream));
      const way = new PassThrough(exchange, requestOf('chat', { messages: [] }), routeTo(upstreamAt(upstream.url)));
      const reply = await attemptAt(upstream.url, false, { reader: way.createReader() }).run();
      expect(reply.headers['content-type']).toContain('application/json');
      expect(JSON.parse(await textOf(reply))).toMatchObject({ choices: [{ message: { content: 'a' } }] });
    },
  );

  it.each([
    ['plain text', plain],
    ['nothing', untyped],
  ])('is read as JSON despite the type %s, and the client gets the type of JSON', async (_name, headers) => {
    const text = JSON.stringify(answer);
    await using upstream = await createUpstream((_request, response) => response.send(200, headers, text));
    const reply = await attemptAt(upstream.url, false).run();
    expect([reply.headers, await textOf(reply)]).toEqual([{ 'content-type': 'application/json' }, text]);
  });

  it.each([
    ['HTML', '<!doctype html><title>data: 1</title>', { 'content-type': 'text/html' }],
    ['HTML that says plain text', '<!doctype html>', plain],
    ['nothing', '', untyped],
    ['words', 'data', plain],
  ])('is a fault of the route when it is %s', async (_name, body, headers) => {
    for (const isStream of [true, false]) {
      const fault = await faultOf((_request, response) => response.send(200, headers, body), isStream);
      expect([fault.kind, fault.error.code]).toEqual(['route', 'upstream_failed']);
    }
  });
});

describe('too much', () => {
  const megabyte = 'x'.repeat(1024 * 1024);

  it.each([
    ['events', `data: {"padding":"${megabyte}"}\n\n`],
    ['comments', `: ${megabyte}\n\n`],
    ['an event without an end', megabyte],
  ])('of a stream without content, %s, is given up', async (_name, event) => {
    const fault = await faultOf(async (_request, response) => {
      response.sse();
      for (let written = 0; written < 64; written++) await response.write(event);
    }, true);
    expect([fault.kind, fault.error.code]).toEqual(['route', 'upstream_failed']);
  });

  it('of an error body is not waited for', async () => {
    const fault = await faultOf((_request, response) => {
      response.head(400, { 'content-type': 'application/json' });
      void response.write(megabyte);
    });
    expect([fault.kind, fault.status]).toEqual(['client', 400]);
  });
});

describe('an attempt that is given up', () => {
  it('before it ran sends nothing', async () => {
    await using upstream = await createUpstream((_request, response) => response.json(200, answer));
    const attempt = attemptAt(upstream.url, false);
    const fault = createRouteFault('upstream_failed', 'given up');
    attempt.end(fault);
    await expect(attempt.run()).rejects.toBe(fault);
    // Ends after everything that was sent has been answered.
    await connections.getPool(upstream.url, 1).close();
    expect(upstream.requests).toHaveLength(0);
  });

  it('has no status when none came', async () => {
    await using upstream = await createUpstream(() => undefined);
    const attempt = attemptAt(upstream.url, false, { firstByteTimeout: 0.05 });
    await attempt.run().catch(() => undefined);
    expect(attempt.status).toBe(0);
  });

  it('reports no end, which its caller knows', async () => {
    await faultOf((_request, response) => response.json(500, {}));
    expect(events).toEqual([]);
  });
});

/** What a connection would do is done by the test, on a clock of its own. */
describe('a timeout', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const controller = { paused: false, abort: () => {}, pause: () => {}, resume: () => {} } as never;
  const agent = { dispatch: () => true } as unknown as AttemptRequest['agent'];
  const streamHead = { 'content-type': 'text/event-stream' };
  const jsonHead = { 'content-type': 'application/json' };

  interface Running {
    readonly attempt: Attempt;
    /** Seconds after which the attempt ended, and with what. */
    readonly ended: Promise<{ after: number; thrown: unknown }>;
  }

  /** An attempt whose request is sent at once. */
  function start(isStream: boolean, deadline?: number): Running {
    const began = performance.now();
    const attempt = attemptAt('http://127.0.0.1', isStream, { agent, ...(deadline !== undefined && { deadline }) });
    const ended = attempt.run().then(
      () => ({ after: (performance.now() - began) / 1000, thrown: undefined }),
      (thrown: unknown) => ({ after: (performance.now() - began) / 1000, thrown }),
    );
    attempt.onRequestStart(controller);
    return { attempt, ended };
  }

  /** Lets these bytes come five times a second for some seconds. */
  async function drip(attempt: Attempt, bytes: string, seconds: number): Promise<void> {
    for (let times = 0; times < seconds * 5; times++) {
      await vi.advanceTimersByTimeAsync(200);
      attempt.onResponseData(controller, Buffer.from(bytes));
    }
  }

  describe('for the body of a refusal', () => {
    it.each([
      ['drips', ' '],
      ['stops', ''],
    ])('is two seconds when it %s', async (_name, bytes) => {
      const { attempt, ended } = start(false);
      attempt.onResponseStart(controller, 503, jsonHead);
      attempt.onResponseData(controller, Buffer.from('{'));
      await drip(attempt, bytes, 3);
      expect(await ended).toMatchObject({ after: 2, thrown: { kind: 'route', status: 503 } });
    });

    it('classifies a refusal by the part that has come', async () => {
      const { attempt, ended } = start(false);
      attempt.onResponseStart(controller, 400, jsonHead);
      attempt.onResponseData(controller, Buffer.from('{"error":{"message":"Incorrect API key provided"}}'));
      await vi.advanceTimersByTimeAsync(2_000);
      expect(await ended).toMatchObject({ thrown: { kind: 'key', status: 400 } });
    });

    it('is no longer than the deadline', async () => {
      const { attempt, ended } = start(false, 1);
      attempt.onResponseStart(controller, 503, jsonHead);
      await drip(attempt, ' ', 3);
      expect(await ended).toMatchObject({ after: 1 });
    });
  });

  describe('until the deadline', () => {
    it('is what a whole answer has, whatever comes of it', async () => {
      const { attempt, ended } = start(false, 4);
      attempt.onResponseStart(controller, 200, jsonHead);
      await drip(attempt, ' ', 5);
      expect(await ended).toMatchObject({ after: 4, thrown: { kind: 'route', error: { code: 'upstream_timeout' } } });
    });

    it('outlasts that of silence while bytes of a whole answer come', async () => {
      const { attempt, ended } = start(false);
      attempt.onResponseStart(controller, 200, jsonHead);
      await drip(attempt, ' ', 15);
      attempt.onResponseData(controller, Buffer.from(JSON.stringify(answer)));
      attempt.onResponseEnd();
      expect(await ended).toMatchObject({ after: 15, thrown: undefined });
    });

    it('is what a stream has for its first content, also when its head comes late', async () => {
      const { attempt, ended } = start(true, 4);
      await vi.advanceTimersByTimeAsync(3_000);
      attempt.onResponseStart(controller, 200, streamHead);
      await drip(attempt, ': ping\n\n', 5);
      expect(await ended).toMatchObject({ after: 4, thrown: { kind: 'route', error: { code: 'upstream_timeout' } } });
    });

    it('does not end a stream that has begun', async () => {
      const { attempt, ended } = start(true, 4);
      attempt.onResponseStart(controller, 200, streamHead);
      await drip(attempt, `data: ${JSON.stringify(content('a'))}\n\n`, 30);
      expect(await ended).toMatchObject({ thrown: undefined });
      expect(events).toEqual(['content']);
    });
  });

  /** Whether an answer counts as held back that is read after these ms, when there is more than may wait. */
  async function isHeldBack(readAfter: number): Promise<boolean> {
    const attempt = attemptAt('http://127.0.0.1', true, { agent });
    const running = attempt.run();
    attempt.onRequestStart(controller);
    attempt.onResponseStart(controller, 200, streamHead);
    const long = content('x'.repeat(512 * 1024));
    attempt.onResponseData(controller, Buffer.from(`data: ${JSON.stringify(long)}\n\n`));
    const { body } = await running;
    vi.advanceTimersByTime(readAfter);
    const stream = body as Readable;
    stream.read();
    stream.read(0);
    vi.advanceTimersByTime(5_000);
    const { wasDelayedByClient } = attempt.clock;
    stream.on('error', () => undefined).destroy();
    return wasDelayedByClient;
  }

  describe('that an answer waits for its client', () => {
    it('is noticed', async () => {
      expect(await isHeldBack(300)).toBe(true);
    });

    it('is not counted where it is short', async () => {
      expect(await isHeldBack(50)).toBe(false);
    });
  });

  /** A stream whose first content comes after some ms, and nothing after it. */
  async function silentStream(contentAfter: number): Promise<void> {
    const attempt = attemptAt('http://127.0.0.1', true, { agent });
    const running = attempt.run();
    attempt.onRequestStart(controller);
    attempt.onResponseStart(controller, 200, streamHead);
    vi.advanceTimersByTime(contentAfter);
    attempt.onResponseData(controller, Buffer.from(`data: ${JSON.stringify(content('a'))}\n\n`));
    const { body } = await running;
    (body as Readable).on('error', () => undefined);
  }

  it.each([0, 3_000, 9_000])(
    'of silence is counted from the first content on, also when that came after %i ms',
    async (ms) => {
      await silentStream(ms);
      vi.advanceTimersByTime(9_900);
      expect(events).toEqual(['content']);
      vi.advanceTimersByTime(200);
      expect(events).toEqual(['content', 'end upstream_timeout']);
    },
  );

  /** A stream that has its first content; the rest is sent with `say`. */
  async function openStream(first: object, observer = chat.client.createObserver({})) {
    const attempt = attemptAt('http://127.0.0.1', true, { agent, observer });
    const running = attempt.run();
    attempt.onRequestStart(controller);
    attempt.onResponseStart(controller, 200, streamHead);
    const say = (value: object) =>
      attempt.onResponseData(controller, Buffer.from(`data: ${JSON.stringify(value)}\n\n`));
    say(first);
    const stream = (await running).body as Readable;
    stream.on('error', () => undefined);
    return { attempt, say, stream };
  }

  describe('without progress', () => {
    it.each([
      ['comments', ': ping\n\n'],
      ['named pings', 'event: ping\ndata: {"type":"ping"}\n\n'],
      ['pings by their type', 'data: {"type":"keepalive"}\n\n'],
      ['bytes', 'x'],
    ])('ends a stream that sends only %s after its first content', async (_name, bytes) => {
      const { attempt } = await openStream(content('a'));
      await drip(attempt, bytes, 29.5);
      expect(events).toEqual(['content']);
      await drip(attempt, bytes, 1);
      expect(events).toEqual(['content', 'end upstream_timeout']);
    });

    it('is counted from the last content on', async () => {
      const { attempt, say } = await openStream(content('a'));
      for (const text of ['b', 'c', 'd']) {
        await drip(attempt, ': ping\n\n', 25);
        say(content(text));
      }
      expect(events).toEqual(['content']);
    });

    it('ends a stream that pings and has no content, later than one that is silent', async () => {
      const { attempt, ended } = start(true);
      attempt.onResponseStart(controller, 200, streamHead);
      await drip(attempt, ': ping\n\n', 31);
      expect(await ended).toMatchObject({ after: 30, thrown: { kind: 'route', error: { code: 'upstream_timeout' } } });
    });
  });

  it('of silence begins again when a slow client has read on', async () => {
    const { stream } = await openStream(content('x'.repeat(512 * 1024)));
    vi.advanceTimersByTime(55_000);
    while (stream.read() !== null);
    vi.advanceTimersByTime(9_900);
    expect(events).toEqual(['content']);
    vi.advanceTimersByTime(200);
    expect(events).toEqual(['content', 'end upstream_timeout']);
  });

  describe('after the finish of a stream', () => {
    it('is half a second', async () => {
      const { say } = await openStream(content('a'));
      say(finish);
      vi.advanceTimersByTime(490);
      expect(events).toEqual(['content']);
      vi.advanceTimersByTime(20);
      expect(events).toEqual(['content', 'end well']);
    });

    it('is not prolonged by what follows', async () => {
      const { say, attempt } = await openStream(content('a'));
      say(finish);
      await drip(attempt, ': ping\n\n', 0.6);
      expect(events).toEqual(['content', 'end well']);
    });

    it('begins with the finish of the last choice', async () => {
      const { say } = await openStream(content('a'), chat.client.createObserver({ n: 2 }));
      say(finish);
      vi.advanceTimersByTime(9_000);
      expect(events).toEqual(['content']);
      say({ choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] });
      vi.advanceTimersByTime(510);
      expect(events).toEqual(['content', 'end well']);
    });

    it('does not end an answer of an upstream that finishes every chunk', async () => {
      const piece = { candidates: [{ index: 0, content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }] };
      const { say } = await openStream(piece, gemini.client.createObserver({}));
      say(piece);
      vi.advanceTimersByTime(9_000);
      expect(events).toEqual(['content']);
      vi.advanceTimersByTime(1_100);
      expect(events).toEqual(['content', 'end well']);
    });

    it('is not counted while the client does not read', async () => {
      const { say, stream } = await openStream(content('x'.repeat(512 * 1024)));
      say(finish);
      vi.advanceTimersByTime(60_000);
      expect(events).toEqual(['content']);
      while (stream.read() !== null);
      vi.advanceTimersByTime(510);
      expect(events).toEqual(['content', 'end well']);
    });
  });
});

const thrower = (member: 'push' | 'end') =>
  Object.assign(new PassThroughReader(chat.client.createObserver({}), client), {
    [member]() {
      throw new TypeError('on purpose');
    },
  });

describe('a reader that throws', () => {
  it.each<[string, 'push' | 'end', Handler]>([
    [
      'at a chunk',
      'push',
      async (_request, response) => {
        response.sse();
        await response.event(content('hi'));
      },
    ],
    [
      'at the end of the connection',
      'end',
      async (_request, response) => {
        response.raw('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n: ping\n\n');
        response.end();
      },
    ],
    [
      'at a broken connection',
      'end',
      async (_request, response) => {
        response.sse();
        await response.event(content(''));
        response.reset();
      },
    ],
    [
      'at a timeout',
      'end',
      async (_request, response) => {
        response.sse();
        await response.event(content(''));
      },
    ],
  ])('%s fails the attempt, and is reported', async (_, member, handler) => {
    await using upstream = await createUpstream(handler);
    const attempt = attemptAt(upstream.url, true, { reader: thrower(member), firstByteTimeout: 1, deadline: 1 });
    await expect(attempt.run()).rejects.toBeInstanceOf(Fault);
    expect(events).toEqual(['TypeError: on purpose']);
  });
});
