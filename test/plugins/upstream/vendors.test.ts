import { describe, expect, it } from 'vitest';
import { compileGlob } from '#core/config/catalog/glob.ts';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import { formats } from '../../../plugins/format/formats/formats.ts';
import { Connections, getTarget } from '../../../plugins/upstream/connections/connections.ts';
import { vendors } from '../../../plugins/upstream/vendors.ts';
import { routeTo, upstreamAt } from './fixture.ts';

describe('the table of vendors', () => {
  it('the table of vendors has every name once', () => {
    const names = vendors.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(vendors)('the table of vendors has kebab-case names: $name', ({ name }) => {
    expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  });

  it.each(vendors)('the table of vendors has formats of the gateway, each once: $name', ({ formats: spoken }) => {
    expect(spoken.length).toBeGreaterThan(0);
    expect(new Set(spoken).size).toBe(spoken.length);
    expect(formats.map(({ name }) => name)).toEqual(expect.arrayContaining([...spoken]));
  });

  const withUrl = vendors.flatMap(({ baseUrl, ...others }) => (baseUrl === undefined ? [] : [{ baseUrl, ...others }]));

  it.each(withUrl)('the table of vendors has a base URL to which a path can be appended: $name', ({ baseUrl }) => {
    expect(new URL(baseUrl).href.replace(/\/$/, '')).toBe(baseUrl);
    expect(baseUrl).not.toMatch(/[/?#]$/);
  });

  it.each(withUrl)('the table of vendors sends keys over TLS only: $name', ({ baseUrl, auth }) => {
    expect(baseUrl.startsWith('https:')).toBe(auth !== 'none');
  });
});

/** The quirks of a vendor's model, by the rows that match its name. */
function quirksOf(vendor: string, model: string) {
  const found = vendors.find(({ name }) => name === vendor);
  const rows = (found?.models ?? []).filter(({ match }) => compileGlob(match)(model));
  return mergeProfiles(found ?? {}, ...rows).quirks;
}

it.each([
  ['openai', 'gpt-4o', ['in_memory']],
  ['openai', 'gpt-4.1-2025-04-14', ['in_memory', '24h']],
  ['openai', 'gpt-4.1-mini', ['in_memory']],
  ['openai', 'gpt-5.1-codex-mini', ['in_memory', '24h']],
  ['openai', 'gpt-5.4', ['in_memory', '24h']],
  ['openai', 'gpt-5.5-pro', ['24h']],
  ['openai', 'gpt-5.6-mini', ['24h']],
  ['openai', 'gpt-6', ['24h']],
  ['azure-openai', 'gpt-4.1', []],
  ['xai', 'grok-4', []],
])('%s keeps caches of %s for %j', (vendor, model, taken) => {
  expect(quirksOf(vendor, model).cache_retention).toEqual(taken);
});

it.each([
  ['anthropic', 'claude-3-5-sonnet-20241022'],
  ['anthropic', 'claude-3-5-haiku-latest'],
  ['bedrock-anthropic', 'us.anthropic.claude-3-5-haiku-20241022-v1:0'],
  ['vertex-anthropic', 'claude-3-5-sonnet-v2@20241022'],
  ['anthropic', 'claude-sonnet-4-5-20250929'],
])('%s accepts a thinking budget, sampling and prefilled replies with %s', (vendor, model) => {
  expect(quirksOf(vendor, model)).toMatchObject({ reasoning: 'budget', sampling: true, prefill: true });
});

it.each([
  ['anthropic', 'claude-opus-5'],
  ['anthropic', 'claude-sonnet-5-20260801'],
  ['anthropic', 'claude-opus-5-5'],
  ['bedrock-anthropic', 'us.anthropic.claude-haiku-5'],
])('%s rejects a thinking budget, sampling and prefilled replies with %s', (vendor, model) => {
  expect(quirksOf(vendor, model)).toMatchObject({ reasoning: 'adaptive', sampling: false, prefill: false });
});

it.each([
  ['anthropic', 'claude-opus-4', 32_000],
  ['anthropic', 'claude-opus-4-0', 32_000],
  ['anthropic', 'claude-opus-4-20250514', 32_000],
  ['anthropic', 'claude-opus-4-1-20250805', 32_000],
  ['vertex-anthropic', 'claude-opus-4@20250514', 32_000],
  ['vertex-anthropic', 'claude-opus-4-1@20250805', 32_000],
  ['bedrock-anthropic', 'us.anthropic.claude-opus-4-20250514-v1:0', 32_000],
  ['anthropic', 'claude-3-5-sonnet-20241022', 8_192],
  ['anthropic', 'claude-3-7-sonnet-20250219', 64_000],
  ['anthropic', 'claude-haiku-4-5-20251001', 64_000],
  ['anthropic', 'claude-opus-4-6', 128_000],
  ['anthropic', 'claude-sonnet-4-6', 128_000],
  ['bedrock-anthropic', 'us.anthropic.claude-opus-4-8', 128_000],
  ['anthropic', 'claude-opus-5', 128_000],
  ['anthropic', 'claude-haiku-5-5', 128_000],
  ['anthropic', 'claude-fable-5-1', 128_000],
  ['anthropic', 'claude-opus-4-5-20251101', 64_000],
  ['anthropic', 'claude-sonnet-4-20250514', 64_000],
])('%s limits the output of %s to %i tokens', (vendor, model, limit) => {
  expect(quirksOf(vendor, model).max_output_tokens).toBe(limit);
});

it.each([
  ['anthropic', 'claude-opus-5-5'],
  ['vertex-anthropic', 'claude-opus-5-5@20260922'],
  ['bedrock-anthropic', 'global.anthropic.claude-fable-5-1'],
])('%s can neither force calls nor turn off the thinking of %s', (vendor, model) => {
  const { efforts, forced_tools } = quirksOf(vendor, model);
  expect({ efforts, forced_tools }).toEqual({
    efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
    forced_tools: false,
  });
});

it.each([
  ['anthropic', 'claude-sonnet-5-5', 'between_tools'],
  ['bedrock-anthropic', 'us.anthropic.claude-sonnet-5-5', 'between_tools'],
  ['anthropic', 'claude-haiku-5-5', 'disabled_to_high'],
  ['vertex-anthropic', 'claude-opus-5', 'disabled_to_high'],
  ['anthropic', 'claude-sonnet-5', 'disabled'],
])('%s turns off the thinking of %s as %s', (vendor, model, mode) => {
  const { efforts, no_thinking } = quirksOf(vendor, model);
  expect([efforts?.includes('none'), no_thinking]).toEqual([true, mode]);
});

it('anthropic cannot force calls of Sonnet 5.5', () => {
  expect(quirksOf('anthropic', 'claude-sonnet-5-5').forced_tools).toBe(false);
});

it.each(['claude-opus-5', 'claude-sonnet-5', 'claude-haiku-5-5'])('anthropic can do both with %s', (model) => {
  const { efforts, forced_tools } = quirksOf('anthropic', model);
  expect([efforts?.includes('none'), forced_tools]).toEqual([true, true]);
});

describe('the target of a route', () => {
  it.each([
    ['https://a.example/v1', 'https://a.example', '/v1'],
    ['https://a.example/v1/', 'https://a.example', '/v1'],
    ['http://127.0.0.1:8000', 'http://127.0.0.1:8000', ''],
    ['https://a.example/x/v4', 'https://a.example', '/x/v4'],
  ])('%s is %s and the path %j', (baseUrl, origin, path) => {
    expect(getTarget(routeTo(upstreamAt(baseUrl)))).toEqual({ origin, path });
  });
});

it('connections with the same origin and timeout share a pool', async () => {
  await using connections = new Connections();
  const pool = connections.getPool('http://127.0.0.1:1', 5);
  expect(connections.getPool('http://127.0.0.1:1', 5)).toBe(pool);
  expect(connections.getPool('http://127.0.0.1:1', 6)).not.toBe(pool);
  expect(connections.getPool('http://127.0.0.1:2', 5)).not.toBe(pool);
});
