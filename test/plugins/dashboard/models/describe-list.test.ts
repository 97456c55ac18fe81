import { describe, expect, it } from 'vitest';
import { describeList } from '../../../../plugins/dashboard/models/describe-list.ts';
import {
  buildModelsPath,
  unfilteredQuery,
  containsWords,
  buildModelPath,
  type ModelsQuery,
  parseQuery,
} from '../../../../plugins/dashboard/models/query.ts';
import { modelOf } from '../../format/catalog/catalog-fixture.ts';
import { now, reader, readingOf, withProfile } from './models-fixture.ts';

const readings = [
  readingOf(modelOf('slow', ['chat'], { maxInputTokens: 400_000 }), { firstTokenMs: 900, uptime: () => 1 }),
  readingOf(modelOf('unused')),
  readingOf(withProfile('blind', ['chat'], { capabilities: { images: false } }), {
    firstTokenMs: 80,
    uptime: () => 0.5,
  }),
  readingOf(modelOf('vectors', ['images'], { kind: 'embedding' }), { firstTokenMs: 300 }),
];
const listOf = (query: Partial<ModelsQuery>, all = readings) =>
  describeList(all, { ...unfilteredQuery, ...query }, reader, now);
const namesIn = (query: Partial<ModelsQuery>) => listOf(query).rows.map(({ name }) => name.slice('dp/'.length));

describe('the list of models', () => {
  it('has the order of gateway.yaml, or that of a figure, with models without it last', () => {
    expect(namesIn({})).toEqual(['slow', 'unused', 'blind', 'vectors']);
    expect(namesIn({ sort: { column: 'first', direction: 'ascending' } })).toEqual([
      'blind',
      'vectors',
      'slow',
      'unused',
    ]);
    expect(namesIn({ sort: { column: 'first', direction: 'descending' } })).toEqual([
      'slow',
      'vectors',
      'blind',
      'unused',
    ]);
    expect(namesIn({ sort: { column: 'name', direction: 'ascending' } })[0]).toBe('blind');
  });

  it('turns a column around at the second click, and returns to the order of gateway.yaml at the third', () => {
    const first = listOf({}).columns.first;
    expect(first).toMatchObject({ path: '/dashboard/models?sort=first', sorted: '' });
    const second = listOf({ sort: { column: 'first', direction: 'ascending' } }).columns.first;
    expect(second).toMatchObject({ path: '/dashboard/models?sort=-first', sorted: 'ascending', arrow: '↑' });
    const third = listOf({ sort: { column: 'first', direction: 'descending' } }).columns.first;
    expect(third).toMatchObject({ path: '/dashboard/models', sorted: 'descending' });
  });

  it('is filtered by kind and by what people ask for', () => {
    expect(namesIn({ kind: 'embedding' })).toEqual(['vectors']);
    expect(namesIn({ filters: ['long'] })).toEqual(['slow']);
    expect(namesIn({ filters: ['images', 'long'] })).toEqual(['slow']);
    expect(namesIn({ filters: ['images'] })).toEqual(['slow', 'unused']);
    expect(namesIn({ search: 'embedding' })).toEqual(['vectors']);
  });

  it('counts the models of each kind, and has no kinds when all are of one', () => {
    expect(listOf({}).kinds.map(({ label, count }) => `${label} ${count}`)).toEqual([
      'All 4',
      'Text 3',
      'Embeddings 1',
    ]);
    expect(listOf({}, readings.slice(0, 3)).kinds).toEqual([]);
  });

  it('keeps the other choices in each link', () => {
    const query = { search: 'a', kind: 'chat', filters: ['images'] } as const;
    const { kinds, filters } = listOf(query);
    expect(kinds[0]?.path).toBe('/dashboard/models?search=a&can=images');
    expect(filters.find(({ isCurrent }) => isCurrent)?.path).toBe('/dashboard/models?search=a&kind=chat');
  });

  it('has pages of a hundred models, and the last one for a page that does not exist', () => {
    const many = Array.from({ length: 205 }, (_, index) => readingOf(modelOf(`m-${index}`)));
    expect(listOf({}, many.slice(0, 100)).pages).toBeUndefined();
    const second = listOf({ page: 2 }, many);
    expect(second.rows).toHaveLength(100);
    expect(second.pages).toEqual({
      shown: '101–200 of 205 models',
      previous: '/dashboard/models',
      next: '/dashboard/models?page=3',
    });
    expect(listOf({ page: 99 }, many).pages).toMatchObject({ shown: '201–205 of 205 models', next: '' });
  });
});

describe('the address of the page', () => {
  it.each([
    {},
    { search: 'a b&c', kind: 'image', filters: ['reasoning', 'long'], page: 3 },
    { sort: { column: 'uptime', direction: 'ascending' } },
    { sort: { column: 'uptime', direction: 'descending' } },
  ] as Partial<ModelsQuery>[])('is read back as it was written: %j', (changes) => {
    const query = { ...unfilteredQuery, ...changes };
    const { searchParams } = new URL(buildModelsPath(query), 'https://x');
    expect(parseQuery(Object.fromEntries(searchParams))).toEqual(query);
  });

  it.each([
    { sort: 'nothing', page: '0', kind: 'x', can: 'a,b' },
    { sort: '__proto__', page: '1e9', can: ',' },
    { sort: '-', page: '-1', kind: '' },
  ])('means every model where it makes no sense: %j', (query) => {
    expect(parseQuery(query)).toEqual(unfilteredQuery);
  });

  it('of a model has the slashes of its name, and nothing else that a path could misread', () => {
    expect(buildModelPath('dp/a b?c#d/e')).toBe('/dashboard/models/dp/a%20b%3Fc%23d/e');
  });

  it.each([
    ['GPT', true],
    ['dp anthropic', true],
    ['dp mistral', false],
    ['', true],
  ])('finds by words in any case: %s', (search, isFound) => {
    expect(containsWords(search, ['dp/gpt-6-sol', 'Anthropic'])).toBe(isFound);
  });
});
