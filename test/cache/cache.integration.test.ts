import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBareDatabase, dropDatabase } from '../support/database.ts';
import { type CacheFixture, openCacheFixture } from './fixture.ts';
import type { Cell } from './play.ts';
import { firstChange, readPrompt } from './prompt.ts';
import { faultsOf, playCell } from './results.ts';
import { rulesOf, VendorCache } from './vendor-cache.ts';

let databaseUrl: string;
let fixture: CacheFixture;
beforeAll(async () => {
  databaseUrl = await createBareDatabase();
  fixture = await openCacheFixture(databaseUrl);
});
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]();
  await dropDatabase(databaseUrl);
});

/** A part of what `npm run cache` plays. */
const cells: readonly Cell[] = [
  { client: 'chat', vendor: 'messages', layout: 'one', hasSession: false },
  { client: 'messages', vendor: 'chat', layout: 'three', hasSession: true },
  { client: 'responses', vendor: 'deepseek', layout: 'backup', hasSession: false },
  { client: 'gemini', vendor: 'responses', layout: 'three', hasSession: false },
];

describe('a conversation of 38 turns with tools', { timeout: 60_000 }, () => {
  it.each(cells)('keeps its cache from $client to a vendor of $vendor, routes: $layout', async (cell) => {
    const result = await playCell(fixture, cell);
    expect(faultsOf(result)).toEqual([]);
    expect(result.direct.share).toBeGreaterThan(0.8);
  });
});

const text = 'x'.repeat(20_000);

function body(...texts: string[]) {
  return { messages: texts.map((content) => ({ role: 'user', content })) };
}

function blocks(count: number) {
  return Array.from({ length: count }, (_, index) => ({ type: 'text', text: `${index}` }));
}

/** A text, then so many blocks, with a breakpoint at the end. */
function marked(count: number) {
  return readPrompt({
    messages: [{ role: 'user', content: [{ type: 'text', text }, ...blocks(count)] }],
    cache_control: {},
  });
}

describe('the scripted vendors', () => {
  it('read nothing of a prompt whose beginning changes, and all of one that goes on, until it has lived long enough', () => {
    const cache = new VendorCache(rulesOf.chat);
    const read = (prompt: ReturnType<typeof body>, now: number) => cache.read(readPrompt(prompt), '', now).cached;
    expect(read(body(text), 0)).toBe(0);
    expect(read(body(`changed ${text}`), 10)).toBe(0);
    expect(read(body(text, 'more'), 20)).toBeGreaterThan(4_900);
    expect(read(body(text, 'more'), 400)).toBe(0);
  });

  it('that cache at breakpoints find one twenty blocks back, and none before', () => {
    for (const [count, isFound] of [
      [19, true],
      [20, false],
    ] as const) {
      const cache = new VendorCache(rulesOf.messages);
      cache.read(marked(0), '', 0);
      expect(cache.read(marked(count), '', 1).cached > 0).toBe(isFound);
    }
  });

  it('tell where a turn differs from the one before', () => {
    const [one, next] = [body(text, 'a'), body(text, 'b', 'c')].map(readPrompt);
    expect(firstChange(one as never, next as never)).toContain('segment 1 of 2');
    expect(firstChange(readPrompt({ ...body('a'), seed: 1 }), readPrompt(body('a', 'b')))).toContain('other members');
  });
});
