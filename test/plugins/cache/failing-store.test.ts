import { describe, expect, it, vi } from 'vitest';
import { SharedUnavailable } from '#core/shared/shared.ts';
import { CacheStand, outcome, whole } from './stand.ts';

const stand = CacheStand.use();

const away = async () => {
  throw new SharedUnavailable('the shared store did not answer');
};

describe('a store that fails', () => {
  it.each(['get', 'claim'] as const)('in %s does not fail a request, and is reported once', async (name) => {
    const failing = vi.spyOn(stand.shared.cache, name).mockImplementation(away);
    for (let count = 1; count <= 3; count++)
      expect(await stand.ask()).toMatchObject({ status: 200, text: `{"n":${count}}` });
    expect(failing).toHaveBeenCalledOnce();
    expect(stand.warn.mock.calls).toEqual([['answers are not cached: the shared store did not answer']]);
  });

  it('is asked again after a second', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    vi.spyOn(stand.shared.cache, 'get').mockImplementationOnce(away);
    expect((await stand.ask()).cache).toBeUndefined();
    vi.advanceTimersByTime(1_001);
    expect((await stand.ask()).cache).toBe('miss');
    expect((await stand.ask()).cache).toBe('hit');
  });

  it.each(['set', 'release'] as const)('in %s does not fail a request', async (name) => {
    vi.spyOn(stand.shared.cache, name).mockImplementation(away);
    expect(await stand.ask()).toMatchObject({ status: 200, text: '{"n":1}' });
    await vi.waitFor(() => expect(stand.warn).toHaveBeenCalledOnce(), { timeout: 15_000 });
  });

  it('in set leaves nobody waiting', async () => {
    vi.spyOn(stand.shared.cache, 'set').mockImplementation(away);
    const release = vi.spyOn(stand.shared.cache, 'release');
    const { exchange, reply, answer } = await stand.lead();
    answer.resolve(whole('{}'));
    await reply;
    await stand.pipeline.finish(exchange, outcome);
    await vi.waitFor(() => expect(release).toHaveBeenCalledOnce(), { timeout: 15_000 });
  });

  it('in claim, but only seems to, does not keep the claim', async () => {
    const claim = stand.shared.cache.claim.bind(stand.shared.cache);
    vi.spyOn(stand.shared.cache, 'claim').mockImplementationOnce(async (...parameters) => {
      await claim(...parameters);
      return away();
    });
    const release = vi.spyOn(stand.shared.cache, 'release');
    expect(await stand.ask()).toMatchObject({ status: 200, text: '{"n":1}' });
    expect(release).toHaveBeenCalledOnce();
  });

  it('while others wait lets each go on alone', async () => {
    const { exchange, reply, answer } = await stand.lead();
    vi.spyOn(stand.shared.events, 'subscribe').mockImplementation(away);
    expect(await stand.ask()).toMatchObject({ status: 200, text: '{"n":1}' });
    answer.resolve(whole('{}'));
    await reply;
    await stand.pipeline.finish(exchange, outcome);
  });

  it('with something unforeseen does not fail a request, and is reported', async () => {
    const mistake = new Error('out of memory');
    vi.spyOn(stand.shared.cache, 'set').mockRejectedValue(mistake);
    expect((await stand.ask()).status).toBe(200);
    await vi.waitFor(() => expect(stand.logged).toHaveBeenCalledWith('an answer could not be cached', mistake), {
      timeout: 15_000,
    });
  });

  it('by holding something that cannot be read counts as empty', async () => {
    await stand.ask();
    vi.spyOn(stand.shared.cache, 'get').mockResolvedValue({
      value: Buffer.from('{"version":9}\n'),
      age: 1,
      expiresIn: 9,
    });
    expect(await stand.ask()).toMatchObject({ status: 200, text: '{"n":2}' });
  });
});
