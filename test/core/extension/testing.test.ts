import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { defineSection } from '#core/config/section.ts';
import { chatReply, createTestHost, runStage } from '#core/extension/testing/index.ts';
import { defineStage, type Stage } from '#core/gateway/pipeline/stage.ts';

const stageOf = (stage: Stage) =>
  defineStage({
    name: 'ours',
    description: 'Ours.',
    options: { type: 'object', properties: { depth: { type: 'integer', default: 3 } }, additionalProperties: false },
    create: () => stage,
  });

describe('runStage', () => {
  it('gives the stage every moment, and an answer behind it', async () => {
    const moments: string[] = [];
    const { status, text, outcome } = await runStage(
      stageOf({
        activate: () => void moments.push('activate'),
        start: () => void moments.push('start'),
        enter: () => void moments.push('enter'),
        leave: () => void moments.push('leave'),
        done: () => void moments.push('done'),
        [Symbol.asyncDispose]: () => void moments.push('release'),
      }),
    );
    expect(moments).toEqual(['activate', 'start', 'enter', 'leave', 'done', 'release']);
    expect([status, outcome.kind, JSON.parse(text)]).toMatchObject([200, 'answered', { object: 'chat.completion' }]);
  });

  it('refuses options that gateway.yaml could not have', async () => {
    await expect(runStage(stageOf({}), { options: { dept: 1 } })).rejects.toThrow(/ours\.dept: .*depth/);
  });

  it('finds the endpoint of a path, with its parameters and its format', async () => {
    const { exchange } = await runStage(stageOf({}), { path: '/v1beta/models/gpt:streamGenerateContent?alt=sse' });
    expect([exchange.format?.name, exchange.params, exchange.query.get('alt')]).toEqual([
      'gemini',
      { id: 'gpt' },
      'sse',
    ]);
  });

  it('refuses a path on which the gateway has no endpoint', async () => {
    await expect(runStage(stageOf({}), { path: '/v1/nowhere' })).rejects.toThrow('no endpoint POST /v1/nowhere');
  });

  it('turns a mistake of the stage into a reply, and logs it', async () => {
    const { status, outcome, host } = await runStage(
      stageOf({
        enter() {
          throw new TypeError('oops');
        },
      }),
    );
    expect([status, outcome.kind]).toEqual([500, 'failed']);
    expect(host.lines.join()).toContain('TypeError: oops');
  });

  it('says what broke a body off, and what came before', async () => {
    const body = Readable.from(
      (async function* () {
        yield Buffer.from('data: 1\n\n');
        throw new Error('cut');
      })(),
      { objectMode: false, highWaterMark: 1 },
    );
    const { text, error, outcome } = await runStage(stageOf({}), { answer: { ...chatReply(''), body } });
    expect([text, String(error), outcome.kind]).toEqual(['data: 1\n\n', 'Error: cut', 'failed']);
  });
});

describe('a test host', () => {
  const notes = defineSection({
    name: 'notes',
    schema: { type: 'object', default: {}, properties: { days: { type: 'integer', default: 30 } } },
  });

  it('has sections as they are written, with defaults', () => {
    expect(createTestHost().section(notes)).toEqual({ days: 30 });
    expect(createTestHost({ sections: { notes: { days: 2 } } }).section(notes)).toEqual({ days: 2 });
    expect(() => createTestHost({ sections: { notes: { days: 'x' } } }).section(notes)).toThrow('notes.days');
  });

  it('has a clock that moves only when it is moved', () => {
    const host = createTestHost({ now: 5 });
    host.clock.advance(10);
    expect(host.now()).toBe(15);
  });

  it('has a clock for waits that setting the wall clock does not change', () => {
    const host = createTestHost();
    const before = host.monotonic();
    host.clock.advance(10);
    host.clock.now -= 3_600_000;
    expect(host.monotonic() - before).toBe(10);
  });

  it('records jobs and events', async () => {
    const host = createTestHost();
    await host.jobs.add('remove', { id: 1 });
    await host.events.publish('key.rotated', { accountId: 'a', keyId: 'k' });
    expect(host.addedJobs).toEqual([{ name: 'remove', data: { id: 1 } }]);
    expect(host.publishedEvents).toEqual([{ name: 'key.rotated', payload: { accountId: 'a', keyId: 'k' } }]);
  });

  it('says that it has no database when the plugin uses one', () => {
    expect(() => createTestHost().database.fork()).toThrow('the plugin uses database.fork');
  });
});
