import { expect, test } from 'vitest';
import { delivery } from '#core/gateway/facts.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { arrive, identify, MemoryStore, openLog, outcome, TemporaryFolder, until } from './fixture.ts';

test('an end line is the whole record', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const exchange = arrive({ receivedAt: 1_763_700_000_123 });
  {
    await using log = openLog({ folder, store });
    log.journal.begin(exchange);
    identify(exchange).set(delivery, {
      attempts: [
        {
          route: 'openai/gpt-6-sol',
          startedAt: 1.2,
          duration: 30.6,
          outcome: 'failed',
          status: 500,
          fault: 'route',
          error: 'answered 500',
        },
        { route: 'other/gpt-6-sol', format: 'messages', startedAt: 32, duration: 90, outcome: 'served', status: 200 },
      ],
      servedBy: 'other/gpt-6-sol',
      usage: { input: 100, output: 20, cacheRead: 50, reasoning: 7 },
      notes: ['dropped logit_bias', 'approximated "x"'],
      firstContentAfter: 99.6,
    });
    log.journal.enter(exchange);
    log.journal.end(exchange, outcome());
  }
  expect([...store.records.values()]).toEqual([
    {
      at: 'end',
      id: exchange.id,
      started_at: 1_763_700_000_123,
      instance: 'test',
      account_id: '0193d0a2-1111-7222-8333-123456789abc',
      key_hint: 'dp-a1b2…wxyz',
      method: 'POST',
      path: '/v1/chat/completions',
      endpoint: 'chat',
      is_metered: true,
      format: 'chat',
      model: 'gpt-6-sol',
      is_stream: false,
      route: 'other/gpt-6-sol',
      has_failover: true,
      outcome: 'answered',
      status: 200,
      duration_ms: 120,
      first_byte_ms: 100,
      first_content_ms: 100,
      bytes_in: 1200,
      bytes_out: 412,
      input_tokens: 100,
      output_tokens: 20,
      cache_read_tokens: 50,
      reasoning_tokens: 7,
      usage_estimated: false,
      notes: ['dropped logit_bias', 'approximated "x"'],
      attempts: [
        {
          route: 'openai/gpt-6-sol',
          outcome: 'failed',
          started_ms: 1,
          duration_ms: 31,
          status: 500,
          fault: 'route',
          error: 'answered 500',
        },
        {
          route: 'other/gpt-6-sol',
          format: 'messages',
          outcome: 'served',
          started_ms: 32,
          duration_ms: 90,
          status: 200,
        },
      ],
      remote_address: '203.0.113.7',
      user_agent: 'OpenAI/JS 7.55.0',
    },
  ]);
});

test('control characters break neither a line nor a terminal', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const nasty = '\r\n{"at":"end"}\u001b[31m\u202e"\\\u0000\ud800é🙂';
  {
    await using log = openLog({ folder, store });
    const exchange = arrive({ headers: { 'user-agent': nasty } });
    log.journal.begin(exchange);
    await log.journal.whenWritten(exchange);
    expect(folder.text().split('\n')).toHaveLength(2);
    log.journal.end(exchange, outcome());
  }
  expect(store.pluck('user_agent')).toEqual(['\\x0d\\x0a{"at":"end"}\\x1b[31m\\u202e"\\\\x00\ufffdé🙂']);
});

test('long texts are truncated and impossible numbers left out', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const widest = '\u202e'.repeat(100_000);
  {
    await using log = openLog({ folder, store });
    const exchange = arrive({
      path: widest,
      remoteAddress: widest,
      headers: { 'user-agent': widest, 'content-length': 'many' },
    });
    exchange.set(delivery, {
      attempts: Array.from({ length: 50 }, () => ({
        route: widest,
        startedAt: 0,
        duration: 1,
        outcome: 'failed' as const,
        error: widest,
      })),
      usage: { input: 1e12, output: -1, cacheRead: Number.NaN },
      notes: Array.from({ length: 1_000 }, () => widest),
      firstContentAfter: undefined,
    });
    log.journal.begin(exchange);
    log.journal.end(exchange, outcome({ error: new GatewayError('upstream_failed', widest) }));
    await until(() => folder.journal().length > 0);
    expect(
      Math.max(
        ...folder
          .text()
          .split('\n')
          .map((line) => line.length),
      ),
    ).toBeLessThan(65_536);
  }
  const [record] = store.records.values();
  expect(record).not.toHaveProperty('input_tokens');
  expect(record).not.toHaveProperty('output_tokens');
  expect(record).not.toHaveProperty('cache_read_tokens');
  expect(record).not.toHaveProperty('bytes_in');
  expect(record?.['notes']).toHaveLength(25);
});

test('no key gets into a record, neither in an error nor in an unknown path', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const keys = [
    'sk-proj-abcdefghijklmnop123456',
    'dp-0123456789abcdefABCDEF0123',
    'dp_0123456789abcdefABCDEF0123',
    'AIzaSyA1234567890abcdefghijk',
  ];
  {
    await using log = openLog({ folder, store });
    const unknown = { name: 'unknown', method: 'GET', path: '/v1/', isMetered: false } as const;
    const exchange = arrive({ endpoint: unknown, path: `/v1/${keys.join('/')}` });
    log.journal.begin(exchange);
    const error = new GatewayError('not_found', `there is nothing at ${keys.join(' ')}`);
    log.journal.end(exchange, outcome({ kind: 'refused', status: 404, error }));
  }
  const [record] = store.records.values();
  for (const key of keys) expect(JSON.stringify(record)).not.toContain(key);
  expect(record?.['path']).toBe('/v1/sk-pro…/dp-012…/dp_012…/AIzaSy…');
});
