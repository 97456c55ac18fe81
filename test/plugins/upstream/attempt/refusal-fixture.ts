import { parseRefusal } from '../../../../plugins/upstream/attempt/refusal.ts';

export const now = Date.parse('2026-01-01T00:00:00Z');
export const refusal = (status: number, body: string | object = '', headers = {}) =>
  parseRefusal(status, headers, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), now);

/** Errors of self-hosted servers, as they were seen. */
export const fromServer = (code: number, type: string, message: string, more = {}) => ({
  error: { code, message, type, ...more },
});
