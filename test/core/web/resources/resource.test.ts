import { expect, it } from 'vitest';
import { InvalidQuery } from '#core/business/operator-actions/query.ts';
import { createTestHost } from '#core/extension/testing/index.ts';
import { boolean, object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { defineResource, createReading, renderListJson } from '#core/web/resources/resource.ts';

interface Parcel {
  readonly id: string;
  readonly sentTo: string | undefined;
}

const asked: unknown[] = [];
const parcels = defineResource({
  name: 'parcel',
  summary: 'list parcels',
  query: object({
    state: { enum: ['sent', 'lost'], description: 'Only parcels in this state.' },
    late: boolean('Only late ones.'),
    day: { type: 'string', format: 'date', description: 'Of this day, such as 2026-11-22.' },
  }),
  view: defineView<Parcel>()({ parcel: { type: 'id', of: 'id' } }, ['parcel']),
  none: 'No parcel found.',
  async list(_host, query, options) {
    asked.push({ query, ...options });
    return { entries: [{ id: 'p1', sentTo: 'Ani' }], next: null };
  },
});

const read = (query: string) => createReading(parcels).read(createTestHost(), '', new URLSearchParams(query));

it('the API lists a resource at the plural of its name, and describes its parameters', async () => {
  const { path, query } = createReading(parcels);
  expect(path).toBe('/parcels');
  expect(query).toEqual({
    state: 'Only parcels in this state. One of sent, lost.',
    late: 'true: Only late ones.',
    day: 'Of this day, such as 2026-11-22.',
  });
  expect(await read('state=lost&late=true&day=2026-11-22&other=1')).toEqual({
    parcels: [{ id: 'p1', sentTo: 'Ani' }],
    next: null,
  });
  expect(asked.at(-1)).toEqual({
    query: { state: 'lost', late: true, day: '2026-11-22' },
    limit: 100,
    timeZone: 'Asia/Jakarta',
  });
});

it.each([
  ['state=los', '"state" is "los"; did you mean "lost"? Allowed: sent, lost.'],
  ['state=', '"state" is ""; use one of: sent, lost.'],
  ['late=1', '"late" is "1"; must be true or false.'],
  ['day=2026-02-30', '"day" is "2026-02-30"; expected: Of this day, such as 2026-11-22.'],
])('the API refuses %s with a sentence', async (query, message) => {
  await expect(read(query)).rejects.toThrow(new InvalidQuery(message));
});

it('a command prints what was found in snake case, or as the resource writes it', () => {
  const found = { entries: [{ id: 'p1', sentTo: undefined }], next: 'p1' };
  expect(JSON.parse(renderListJson(parcels, { ...found, entries: [{ id: 'p1', sentTo: 'Ani' }] }))).toEqual({
    parcels: [{ id: 'p1', sent_to: 'Ani' }],
    next: 'p1',
  });
  const others = { ...parcels, write: ({ entries }: { entries: readonly unknown[] }) => entries };
  expect(JSON.parse(renderListJson(others, found))).toEqual([{ id: 'p1' }]);
});
