import { expect, it } from 'vitest';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import type { QuirkSettings } from '#core/config/catalog/quirks.ts';
import { describeAdaptations } from '../../../../plugins/format/catalog/describe-adaptations.ts';
import type { Format } from '../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { hostOf, modelOf } from './catalog-fixture.ts';

/** The lines of a route, each as format and words. */
function described(formats: readonly Format[], quirks: QuirkSettings): string[] {
  const route = routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats }), { profile: mergeProfiles({ quirks }) });
  const { catalog } = hostOf([modelOf('a', [], { routes: [route] }), modelOf('b', [], { routes: [route] })]);
  return describeAdaptations(catalog)
    .slice(1, -1)
    .map((line) => line.replace(/^ +\S+ +/, '').replace(/ {2,}/, ': '));
}

/** A vendor that takes everything. */
const origin: QuirkSettings = {
  late_system: true,
  strict_tools: true,
  hosted_search: true,
  betas: true,
  signed_thinking: false,
};

it('a route whose vendor accepts everything has no line', () => {
  expect(described(['chat', 'responses', 'messages', 'gemini'], origin)).toEqual([]);
});

it('a route has one line for each format, whatever models it serves', () => {
  expect(described(['chat', 'messages'], { ...origin, late_system: false })).toEqual([
    'messages: late system messages as user text',
    'chat: late system messages as user text',
  ]);
});

it('a line names what is changed, then what is omitted', () => {
  const quirks = { ...origin, reasoning: 'budget', betas: false, strict_tools: false, stop: 0 } as const;
  expect(described(['messages'], quirks)).toEqual([
    'messages: adaptive thinking as a budget; stop sequences cut here; without strict, betas',
  ]);
});

it.each([
  ['unique', 'repeated call ids numbered'],
  ['nine_characters', 'call ids of nine characters'],
  ['functions', 'call ids as functions.NAME:N'],
] as const)('ids of calls that must be %s are named', (ids, words) => {
  expect(described(['messages'], { ...origin, tool_call_ids: ids })).toEqual([`messages: ${words}`]);
});

it('a quirk of one format appears only in the line of that format', () => {
  expect(described(['chat', 'responses'], { ...origin, by_format: { chat: { refuses: ['store'] } } })).toEqual([
    'chat: without store',
  ]);
});

it('long lists of omitted members are shortened', () => {
  const refuses = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  expect(described(['chat'], { ...origin, refuses })).toEqual(['chat: without a, b, c, d, e, f and 2 more']);
});

it('a model that holds no conversations has no line, although its upstream speaks formats of conversations', () => {
  const route = routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats: ['chat', 'images'] }), {
    profile: mergeProfiles({ quirks: { ...origin, late_system: false } }),
  });
  const { catalog } = hostOf([modelOf('painter', [], { kind: 'image', routes: [route] })]);
  expect(describeAdaptations(catalog)).toEqual([]);
});
