import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LateReply, ReplyWatch } from '#core/platform/shared/reply-watch.ts';

/** Ms of a turn on a loop that is never late. */
const turn = 12;
const onSilence = vi.fn<() => void>();
let watch: ReplyWatch;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate'] });
  onSilence.mockClear();
  watch = new ReplyWatch(onSilence);
});
afterEach(() => vi.useRealTimers());

const pass = (turns: number) => vi.advanceTimersByTimeAsync(turns * (turn + 1));
const never = () => new Promise<string>(() => undefined);

describe('a reply', () => {
  it('is the result if it arrives in time, and leaves no timer', async () => {
    expect(await watch.wait(async () => 'reply')).toEqual({ value: 'reply', isLate: false });
    await pass(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that is late is replaced after 36 ms by what its caller does instead', async () => {
    const fallback = vi.fn<() => string>(() => 'own');
    const waiting = watch.wait(never, fallback);
    await pass(2);
    expect(fallback).not.toHaveBeenCalled();
    await pass(1);
    expect(await waiting).toEqual({ value: 'own', isLate: true });
  });

  it('that is late is waited for by a caller that has nothing instead, who is asked once', async () => {
    const reply = Promise.withResolvers<string>();
    const fallback = vi.fn<() => undefined>();
    const waiting = watch.wait(() => reply.promise, fallback);
    await pass(10);
    reply.resolve('late');
    expect(await waiting).toEqual({ value: 'late', isLate: true });
    expect(fallback).toHaveBeenCalledTimes(1);
  });

  it('gives those behind it time again', async () => {
    const first = Promise.withResolvers<string>();
    const fallback = vi.fn<() => string>(() => 'own');
    const waiting = [watch.wait(() => first.promise), watch.wait(never, fallback)];
    await pass(2);
    first.resolve('first');
    await waiting[0];
    await pass(2);
    expect(fallback).not.toHaveBeenCalled();
    await pass(1);
    expect(fallback).toHaveBeenCalledTimes(1);
  });

  it('to an earlier command does so for 100 ms at most', async () => {
    const fallback = vi.fn<() => string>(() => 'own');
    void watch.wait(never, fallback);
    for (let turns = 0; turns < 7; turns++) {
      await watch.wait(async () => 'earlier');
      await pass(1);
    }
    expect(fallback).not.toHaveBeenCalled();
    await pass(1);
    expect(fallback).toHaveBeenCalledTimes(1);
  });
});

it('silence is reported after 240 ms, when some have waited for all of it', async () => {
  void watch.wait(never);
  await pass(19);
  expect(onSilence).not.toHaveBeenCalled();
  await pass(1);
  expect(onSilence).toHaveBeenCalledTimes(1);
});

it('a failed watch fails all that wait, and waits for nothing', async () => {
  const waiting = [watch.wait(never), watch.wait(never)];
  const settled = Promise.allSettled(waiting);
  await pass(4);
  watch.fail(new LateReply());
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await pass(1);
  expect(vi.getTimerCount()).toBe(0);
});

it('an error of the command is the caller’s', async () => {
  await expect(watch.wait(() => Promise.reject(new TypeError('no such script')))).rejects.toThrow(TypeError);
});
