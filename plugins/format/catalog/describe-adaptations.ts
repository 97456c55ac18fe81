import type { Catalog, Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import { alignColumns } from '#core/extension/commands/table-text.ts';
import type { Quirks } from '#core/config/catalog/quirks.ts';
import type { ClientTextFormat } from '../formats/contract/descriptor.ts';
import { clientTextFormats } from '../formats/formats.ts';

type Change = readonly [words: string, isMade: (quirks: Quirks) => boolean, formats: readonly string[]];

const anthropicAndOpenai = ['chat', 'responses', 'messages'];

const changed: readonly Change[] = [
  ['late system messages as user text', ({ late_system: late }) => !late, anthropicAndOpenai],
  ['system messages merged', ({ single_system: isSingle }) => isSingle, ['chat']],
  ['content as text', ({ text_content: isText }) => isText, ['chat']],
  ['adaptive thinking as a budget', ({ reasoning }) => reasoning === 'budget', ['messages']],
  ['thinking budgets as adaptive', ({ reasoning }) => reasoning === 'adaptive', ['messages']],
  [
    'reasoning sent back',
    ({ replay_reasoning: when }) => when === 'tool_turns' || when === 'always',
    ['chat', 'messages'],
  ],
  ['repeated call ids numbered', ({ tool_call_ids: ids }) => ids === 'unique', anthropicAndOpenai],
  ['call ids of nine characters', ({ tool_call_ids: ids }) => ids === 'nine_characters', anthropicAndOpenai],
  ['call ids as functions.NAME:N', ({ tool_call_ids: ids }) => ids === 'functions', anthropicAndOpenai],
  ['stop sequences cut here', ({ stop }) => stop === 0, ['chat', 'messages']],
];
const omitted: readonly Change[] = [
  ['strict', ({ strict_tools: isStrict }) => !isStrict, anthropicAndOpenai],
  ['web search', ({ hosted_search: isHosted }) => !isHosted, ['responses', 'messages', 'gemini']],
  ['betas', ({ betas }) => !betas, ['responses', 'messages']],
  ['unsigned thinking', ({ signed_thinking: isSigned }) => isSigned, ['messages']],
  ['sampling', ({ sampling }) => !sampling, anthropicAndOpenai],
  ['the user id', ({ end_user: isTaken }) => !isTaken, anthropicAndOpenai],
  ['unknown members', ({ accepts }) => accepts.length > 0, [...anthropicAndOpenai, 'gemini']],
];

/**
 * Lines for `daypass check`: changes to a request on a route of its own format if the vendor rejects some of its members. Members
 * that are only renamed, and so not lost, are omitted.
 */
export function describeAdaptations({ models }: Catalog): string[] {
  const talking = models.filter(({ kind }) => kind === 'chat');
  const routes = new Map(talking.flatMap((model) => model.routes.map((route) => [route.id, route])));
  const rows = [...routes.values()].flatMap((route) =>
    clientTextFormats.flatMap((format) => {
      const words = route.upstream.formats.includes(format.name) ? wordsFor(route, format) : '';
      return words === '' ? [] : [[route.id, format.name, words]];
    }),
  );
  return rows.length === 0
    ? []
    : ['changed for the vendor, where client and route have the same format', ...alignColumns(rows), ''];
}

function wordsFor(route: Route, { name }: ClientTextFormat): string {
  const { quirks } = profileIn(name, route.profile);
  const holding = (changes: readonly Change[]): string[] =>
    changes.flatMap(([words, isMade, formats]) => (formats.includes(name) && isMade(quirks) ? [words] : []));
  const without = shortList([...holding(omitted), ...quirks.refuses]);
  const isHashed = route.upstream.endUser === 'hash';
  const isTaken = quirks.end_user && anthropicAndOpenai.includes(name);
  const endUser = isTaken ? 'the account, by a hash, as end user' : 'no field for the end user (end_user: hash)';
  return [
    ...holding(changed),
    ...(isHashed ? [endUser] : []),
    ...(route.upstream.isolatesCache === true ? ['a mark of the account, by which prompt caches are apart'] : []),
    ...(without === '' ? [] : [`without ${without}`]),
  ].join('; ');
}

const mostNamed = 6;

function shortList(names: readonly string[]): string {
  const more = names.length - mostNamed;
  return names.slice(0, mostNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
