import { describe, expect, it, vi } from 'vitest';

const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
const { promise: waiting, resolve: wait } = Promise.withResolvers<void>();

describe.concurrent('a mock of a concurrent test', () => {
  it('keeps its calls while other tests begin', async () => {
    const mock = vi.fn<() => void>();
    mock();
    wait();
    await begun;
    expect(mock).toHaveBeenCalledOnce();
  });

  // More tests than run at once, so the last begins after the first has made its call.
  it.each(Array.from({ length: 20 }, (_, index) => index))('begins, test %i', async (index) => {
    await waiting;
    if (index === 19) begin();
  });
});
