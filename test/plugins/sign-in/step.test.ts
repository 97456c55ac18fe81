import type { Request, ResponseToolkit } from '@hapi/hapi';
import { describe, expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { checkStep } from '../../../plugins/sign-in/providers/step.ts';

const cookie = 'dp_sign_in_google';

/** The lines in the log after a provider has sent readers back with these queries. */
async function linesAfter(queries: readonly Readonly<Record<string, string>>[], state: object = { [cookie]: {} }) {
  const host = createTestHost();
  const response = { code: () => response, location: () => response, header: () => response, takeover: () => response };
  const h = { response: () => response, unstate: () => undefined } as never as ResponseToolkit;
  for (const query of queries) {
    const request = { query, state, path: '/sign-in/google', info: { id: 'r1' }, server: { host: () => host } };
    await checkStep(request as unknown as Request, h, cookie);
  }
  return host.lines.map((line) => line.replace(/^warn:? */, ''));
}

describe('a refusal on the way back from a provider', () => {
  it.each(['invalid_scope', 'server_error', 'unauthorized_client'])('is in the log: %s', async (error) => {
    const query = { error, error_description: 'not allowed', state: 'x' };
    expect(await linesAfter([query])).toEqual([`google rejected the sign-in: ${error}, not allowed, request r1`]);
  });

  it('is in the log in ASCII, and cut', async () => {
    const [line = ''] = await linesAfter([
      { error: 'invalid_scope', error_description: `Größe\n${'x'.repeat(3_000)}` },
    ]);
    expect(line).toMatch(/^google rejected the sign-in: invalid_scope, Gr\?e\?x{100,}, request r1$/);
    expect(line.length).toBeLessThan(260);
  });

  it('is in the log once in ten seconds', async () => {
    expect(await linesAfter([{ error: 'server_error' }, { error: 'server_error' }])).toHaveLength(1);
  });

  it('by the reader is not in the log', async () => {
    expect(await linesAfter([{ error: 'access_denied' }, { denied: 'token' }])).toEqual([]);
  });

  it('without the cookie of a sign-in is not in the log: anybody could send it', async () => {
    expect(await linesAfter([{ error: 'invalid_scope' }], {})).toEqual([]);
  });
});
