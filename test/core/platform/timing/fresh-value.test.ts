import { beforeEach, describe, expect, it } from 'vitest';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';

let now: number;
/** Readings that have begun and wait for a test to end them. */
let readings: PromiseWithResolvers<string>[];
beforeEach(() => {
  now = 1_000;
  readings = [];
});

function read(): Promise<string> {
  const reading = Promise.withResolvers<string>();
  readings.push(reading);
  return reading.promise;
}

function create(staleFor = 0): FreshValue<string> {
  return new FreshValue({ read, maxAgeMs: 100, staleWhileReadMs: staleFor, timeoutMs: 60_000, now: () => now });
}

async function getAfterReading(value: FreshValue<string>, text: string): Promise<string> {
  const got = value.get();
  readings.at(-1)?.resolve(text);
  return got;
}

describe('a fresh value', () => {
  it('is read once by readers at the same time, and again when it is too old', async () => {
    const value = create();
    const both = Promise.all([value.get(), value.get()]);
    readings[0]?.resolve('first');
    expect(await both).toEqual(['first', 'first']);
    now += 99;
    expect(await value.get()).toBe('first');
    now += 1;
    expect(await getAfterReading(value, 'second')).toBe('second');
    expect(readings).toHaveLength(2);
  });

  it('fails at once while it is read again after a failure', async () => {
    const value = create();
    const failed = value.get();
    readings[0]?.reject(new Error('the database is away'));
    await expect(failed).rejects.toThrow('the database is away');
    now += 100;
    await expect(value.get()).rejects.toThrow('the database is away');
    expect(readings).toHaveLength(2);
    readings[1]?.resolve('back');
    await new Promise((resolve) => setImmediate(resolve));
    expect(await value.get()).toBe('back');
  });

  it('that is kept for an hour is read again seconds after a failure', async () => {
    const value = new FreshValue({ read, maxAgeMs: 3_600_000, timeoutMs: 60_000, now: () => now });
    const failed = value.get();
    now += 30_000;
    readings[0]?.reject(new Error('the database is away'));
    await expect(failed).rejects.toThrow('the database is away');
    now += 14_999;
    await expect(value.get()).rejects.toThrow('the database is away');
    expect(readings).toHaveLength(1);
    now += 1;
    expect(await getAfterReading(value, 'back')).toBe('back');
    now += 3_599_999;
    expect(await value.get()).toBe('back');
    expect(readings).toHaveLength(2);
  });

  it('is old while it is read again, for as long as it may be', async () => {
    const value = create(200);
    await getAfterReading(value, 'old');
    now += 150;
    expect(await value.get()).toBe('old');
    expect(readings).toHaveLength(2);
    now += 150;
    const late = value.get();
    readings.at(-1)?.resolve('new');
    expect(await late).toBe('new');
  });

  it('is what is known while it is late or fails, for as long as that counts, and says so', async () => {
    const value = new FreshValue({
      read,
      maxAgeMs: 100,
      timeoutMs: 60_000,
      maxWaitMs: 5,
      staleIfErrorMs: 1_000,
      now: () => now,
    });
    const none = value.get();
    await expect(none).rejects.toThrow('no answer within 5 ms');
    expect(value.isStale).toBe(true);
    readings[0]?.resolve('known');
    expect(await value.get()).toBe('known');
    expect(value.isStale).toBe(false);
    now += 100;
    expect(await value.get()).toBe('known');
    expect(value.isStale).toBe(true);
    readings[1]?.reject(new Error('the database is away'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(await value.get()).toBe('known');
    now += 900;
    await expect(value.get()).rejects.toThrow('the database is away');
  });

  it('does not hide that it cannot be read any more', async () => {
    const value = create(10_000);
    await getAfterReading(value, 'old');
    now += 150;
    await value.get();
    readings[1]?.reject(new Error('the database is away'));
    await new Promise((resolve) => setImmediate(resolve));
    await expect(value.get()).rejects.toThrow('the database is away');
  });
});
