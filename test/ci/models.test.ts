import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endSources as sources, modelEnds } from '#core/config/catalog/model-ends.ts';
import { findEnding } from '../../.ci/model-ends.ts';

const sdk = join(import.meta.dirname, '..', '..', 'node_modules', '@anthropic-ai', 'sdk');

/** Days on which models end, as the pinned SDK of Anthropic says: `'claude-x': 'November 30th, 2026'`. */
function readSdk(): [model: string, day: string][] {
  const text = readFileSync(join(sdk, 'internal', 'data', 'deprecated-models.mjs'), 'utf8');
  return [...text.matchAll(/'([\w-]+)': '(\w+ \d+)[a-z]+, (\d{4})'/g)].map(([, model = '', day = '', year = '']) => [
    model.replace(/-\d{8}$/, ''),
    new Date(`${day}, ${year} UTC`).toISOString().slice(0, 10),
  ]);
}

describe('a sample', () => {
  it.each([
    ['on the day before the end', '2026-11-29', [{ name: 'claude-sonnet-4-5', line: 2, hasEnded: false }]],
    ['on the day of the end', '2026-11-30', [{ name: 'claude-sonnet-4-5', line: 2, hasEnded: true }]],
    ['sixty days before the end', '2026-10-01', [{ name: 'claude-sonnet-4-5', line: 2, hasEnded: false }]],
    ['sixty-one days before the end', '2026-09-30', []],
  ])('with a model that ends is found by its day: %s', (_when, today, found) => {
    const yaml = 'models:\n  claude-sonnet: { routes: [claude/claude-sonnet-4-5] }\n';
    expect(findEnding(yaml, today)).toMatchObject(found);
  });

  it.each([
    ['openrouter/anthropic/claude-sonnet-4.5', 'claude-sonnet-4.5'],
    ['bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
    ['vertex/claude-sonnet-4-5@20250929', 'claude-sonnet-4-5'],
    ['claude/claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
    ['dp/gpt-5', 'gpt-5'],
    ['models.gpt-5.routes[0]', 'gpt-5'],
    ['It is gpt-5.', 'gpt-5'],
    ['openai/gpt-5-2025-08-07', 'gpt-5'],
    ['openai/gpt-5-mini', 'gpt-5-mini'],
    ['openai/gpt-5.6-sol', undefined],
    ['gpt-5-deployment', undefined],
    ['my-gpt-5', undefined],
    ['gpt-5*', undefined],
    ['gpt-4.*', undefined],
    ['gpt-55', undefined],
  ])('%s names %s', (text, name) => {
    expect(findEnding(text, '2030-01-01').map((one) => one.name)).toEqual(name === undefined ? [] : [name]);
  });
});

describe('the list of ends', () => {
  it('has every model of which the SDK of Anthropic warns, with its day', () => {
    const days = readSdk();
    expect(days.length).toBeGreaterThan(0);
    expect(days.map(([model]) => [model, modelEnds.get(model)?.day])).toEqual(days);
  });

  it('names each model once, and a page and a day for it', () => {
    expect(modelEnds.size).toBe(sources.flatMap(({ ends }) => Object.values(ends).flat()).length);
    for (const { page, comparedOn: read, ends } of sources) {
      expect(page).toMatch(/^https:\/\//);
      for (const day of [read, ...Object.keys(ends)])
        expect(new Date(`${day}T00:00Z`).toISOString().slice(0, 10)).toBe(day);
    }
  });
});
