import { expect, it } from 'vitest';
import { findClosureRule, closureRules } from '#core/gateway/model-call/closure-rules.ts';
import { readRefusal } from '#core/gateway/model-call/upstream-error.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { vendors } from '../../../../plugins/upstream/vendors.ts';

const partOf = (body: JsonObject, preset: string | undefined) => findClosureRule(readRefusal(body), preset)?.part;

/** As the vendors send them. */
const deactivated = {
  error: {
    message: 'The OpenAI account associated with this API key has been deactivated.',
    type: 'invalid_request_error',
    param: null,
    code: 'account_deactivated',
  },
};
const disabled = {
  type: 'error',
  error: { type: 'invalid_request_error', message: 'This organization has been disabled.' },
};
const suspended = {
  error: {
    code: 403,
    status: 'PERMISSION_DENIED',
    message: 'Permission denied: Consumer has been suspended.',
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'CONSUMER_SUSPENDED',
        domain: 'googleapis.com',
        metadata: { consumer: 'projects/123' },
      },
    ],
  },
};
const leaked = {
  error: {
    code: 403,
    status: 'PERMISSION_DENIED',
    message: 'Your API key was reported as leaked. Please use another API key.',
  },
};
const locked = { error: { code: '1112', message: 'Your account has been locked.' } };

it.each([
  ['openai', deactivated, 'account'],
  ['anthropic', disabled, 'account'],
  ['gemini', suspended, 'account'],
  ['vertex', suspended, 'account'],
  ['gemini-openai', leaked, 'key'],
  ['zhipu', locked, 'account'],
  ['zhipu-anthropic', { error: { code: 1121, message: 'locked' } }, 'account'],
] as const)('%s closes a key by words or codes that it documents', (preset, body, part) => {
  expect(partOf(body, preset)).toBe(part);
});

it('the error text of one vendor closes no key of another vendor or of an upstream without a preset', () => {
  for (const body of [deactivated, disabled, suspended, leaked, locked]) {
    expect(partOf(body, 'openrouter')).toBeUndefined();
    expect(partOf(body, undefined)).toBeUndefined();
  }
  expect(partOf(locked, 'openai')).toBeUndefined();
});

it('a refusal without such words closes nothing: an invalid key, a spent credit, an unpaid bill, a bare 403', () => {
  for (const { name } of vendors)
    for (const error of [
      { type: 'authentication_error', message: 'invalid x-api-key' },
      { code: 'invalid_api_key', message: 'Incorrect API key provided' },
      { code: 'credit_balance_exhausted', type: 'insufficient_quota', message: 'no credits' },
      { code: 'billing_not_active', message: 'Your account is not active, please check your billing details.' },
      { code: '1113', message: 'Insufficient balance' },
      { status: 'PERMISSION_DENIED', message: 'The caller does not have permission' },
      { message: 'He said: This organization has been disabled.' },
      // The name of a member that a client has sent.
      { message: 'This organization has been disabled: Extra inputs are not permitted' },
      { message: 'This organization has been disabled.: Extra inputs are not permitted' },
      { message: 'Your API key was reported as leaked. Please use another API key.: unknown field' },
    ])
      expect([name, partOf({ error }, name)]).toEqual([name, undefined]);
  expect(findClosureRule(readRefusal(undefined), 'openai')).toBeUndefined();
});

it('every row names presets that exist, and the page of the vendor', () => {
  const known = new Set(vendors.map(({ name }) => name));
  for (const { presets, source, codes, reasons, messagePattern: words } of closureRules) {
    expect(presets.filter((preset) => !known.has(preset))).toEqual([]);
    expect(source).toMatch(/^https:\/\//);
    expect([codes, reasons, words].some((one) => one !== undefined)).toBe(true);
  }
});
