import { describe, expect, it } from 'vitest';
import { detectDialect } from '#core/gateway/http/dialect.ts';
import { chatEndpoint, modelsEndpoint } from '../../../support/exchange.ts';
import { descriptors } from '../../../support/formats.ts';

const anthropic = { 'anthropic-version': '2023-06-01' };

describe('the dialect of a caller', () => {
  it.each([
    ['chat', 'openai'],
    ['responses', 'openai'],
    ['images', 'openai'],
    ['messages', 'anthropic'],
  ] as const)('on a path of %s is %s, whatever the headers say', (format, dialect) => {
    const headers = dialect === 'openai' ? anthropic : { authorization: 'Bearer x' };
    expect(detectDialect({ ...chatEndpoint, format: descriptors[format] }, headers)).toBe(dialect);
  });

  it('is the endpoint’s where it has one', () => {
    expect(detectDialect({ ...modelsEndpoint, dialect: 'openai' }, anthropic)).toBe('openai');
  });

  it.each([
    anthropic,
    { 'anthropic-beta': 'tools' },
    { 'x-api-key': 'dp-x' },
    { 'user-agent': 'claude-cli/2.0 (external)' },
    { 'user-agent': 'Anthropic/Python 0.60' },
  ])('on a shared path is Anthropic’s with %j', (headers) => {
    expect(detectDialect(modelsEndpoint, headers)).toBe('anthropic');
  });

  it.each([
    {},
    { authorization: 'Bearer x' },
    { 'x-api-key': 'dp-x', authorization: 'Bearer x' },
    { 'user-agent': 'OpenAI/Python 2.0' },
    { 'user-agent': 'my Anthropic/1' },
  ])('on a shared path is OpenAI’s with %j', (headers) => {
    expect(detectDialect(modelsEndpoint, headers)).toBe('openai');
  });

  it.each([
    ['/anthropic/v1/models', 'anthropic'],
    ['/openai/v1/models', 'openai'],
    ['/v1beta/openai/models', 'openai'],
  ])('on a shared path is that of the vendor in %s', (path, dialect) => {
    expect(detectDialect(modelsEndpoint, { 'x-goog-api-key': 'dp-x' }, path)).toBe(dialect);
  });

  it('follows the headers where there is no endpoint', () => {
    expect([detectDialect(undefined, anthropic), detectDialect(undefined, {})]).toEqual(['anthropic', 'openai']);
  });

  it.each(['/v1beta/nothing', '/v1beta', '/v1/v1beta/nothing'])(
    'is Google’s at %s, where there is no endpoint',
    (path) => {
      expect(detectDialect(undefined, {}, path)).toBe('google');
      expect(detectDialect(undefined, anthropic, path)).toBe('google');
    },
  );
});
