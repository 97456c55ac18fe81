import type { Request, ResponseToolkit } from '@hapi/hapi';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { finishSignIn } from '../../../plugins/sign-in/providers/callback.ts';

it('sign-ins that a provider fails are logged once in ten seconds, and those of another one besides', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const host = createTestHost();
  const error = new Error('Failed obtaining access token');
  const request = { server: { host: () => host }, auth: { isAuthenticated: false, error }, info: { id: 'r1' } };
  const response = { code: () => response, location: () => response, header: () => response };
  const failAfter = async (ms: number, provider: string) => {
    vi.advanceTimersByTime(ms);
    await finishSignIn(
      request as unknown as Request,
      { response: () => response } as never as ResponseToolkit,
      provider,
    );
    return host.lines.length;
  };
  expect(await failAfter(0, 'google')).toBe(1);
  expect(await failAfter(9_999, 'google')).toBe(1);
  expect(await failAfter(0, 'github')).toBe(2);
  expect(await failAfter(1, 'google')).toBe(3);
});
