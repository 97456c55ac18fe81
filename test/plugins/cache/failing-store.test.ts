import { describe, expect, it, vi } from 'vitest';
import { SharedUnavailable } from '#core/platform/shared/shared.ts';
import { CacheFixture, outcome, whole } from './fixture.ts';

const fixture = CacheFixture.use();

const away = async () => {
  throw new SharedUnavailable('the shared store did not answer');
};

describe('a failing store', () => {
  it.each(['get', 'claim'] as const)('a store that fails in %s fails no request and is logged once', async (name) => {
    const failing = vi.spyOn(fixture.shared.cache, name).mockImplementation(away);
    for (let count = 1; count <= 3; count++)
      expect(await fixture.ask()).toMatchObject({ status: 200, text: `{"n":${count}}` });
    expect(failing).toHaveBeenCalledTimes(3);
    expect(fixture.warn.mock.calls).toEqual([['responses are not cached: the shared store did not answer']]);
  });

  it('a store that has failed is asked again by the next request', async () => {
    vi.spyOn(fixture.shared.cache, 'get').mockImplementationOnce(away);
    expect((await fixture.ask()).cache).toBeUndefined();
    expect((await fixture.ask()).cache).toBe('miss');
    expect((await fixture.ask()).cache).toBe('hit');
  });

  it.each(['set', 'release'] as const)('a store that fails in %s fails no request', async (name) => {
    vi.spyOn(fixture.shared.cache, name).mockImplementation(away);
    expect(await fixture.ask()).toMatchObject({ status: 200, text: '{"n":1}' });
    await vi.waitFor(() => expect(fixture.warn).toHaveBeenCalledOnce(), { timeout: 15_000 });
  });

  it('a store that fails in set releases the waiting requests', async () => {
    vi.spyOn(fixture.shared.cache, 'set').mockImplementation(away);
    const release = vi.spyOn(fixture.shared.cache, 'release');
    const { exchange, reply, answer } = await fixture.lead();
    answer.resolve(whole('{}'));
    await reply;
    await fixture.pipeline.finish(exchange, outcome);
    await vi.waitFor(() => expect(release).toHaveBeenCalledOnce(), { timeout: 15_000 });
  });

  it('a claim is released if the store fails after granting it', async () => {
    const claim = fixture.shared.cache.claim.bind(fixture.shared.cache);
    vi.spyOn(fixture.shared.cache, 'claim').mockImplementationOnce(async (...parameters) => {
      await claim(...parameters);
      return away();
    });
    const release = vi.spyOn(fixture.shared.cache, 'release');
    expect(await fixture.ask()).toMatchObject({ status: 200, text: '{"n":1}' });
    expect(release).toHaveBeenCalledOnce();
  });

  it('each waiting request makes its own call when the store fails', async () => {
    const { exchange, reply, answer } = await fixture.lead();
    vi.spyOn(fixture.shared.events, 'subscribe').mockImplementation(away);
    expect(await fixture.ask()).toMatchObject({ status: 200, text: '{"n":1}' });
    answer.resolve(whole('{}'));
    await reply;
    await fixture.pipeline.finish(exchange, outcome);
  });

  it('an unexpected error of the store fails no request and is logged', async () => {
    const mistake = new Error('out of memory');
    vi.spyOn(fixture.shared.cache, 'set').mockRejectedValue(mistake);
    expect((await fixture.ask()).status).toBe(200);
    await vi.waitFor(() => expect(fixture.logged).toHaveBeenCalledWith('could not cache a response', mistake), {
      timeout: 15_000,
    });
  });

  it('a malformed entry counts as a miss', async () => {
    await fixture.ask();
    vi.spyOn(fixture.shared.cache, 'get').mockResolvedValue({
      value: Buffer.from('{"version":9}\n'),
      age: 1,
      expiresIn: 9,
    });
    expect(await fixture.ask()).toMatchObject({ status: 200, text: '{"n":2}' });
  });
});
