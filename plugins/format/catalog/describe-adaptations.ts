import type { Catalog, Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import type { Quirks } from '#core/config/catalog/quirks.ts';
import { alignColumns } from '#core/extension/commands/table-text.ts';
import type { ClientTextFormat } from '../formats/contract/descriptor.ts';
import { clientTextFormats } from '../formats/formats.ts';

type Change = readonly [description: string, isMade: (quirks: Quirks) => boolean, formats: readonly string[]];

const anthropicAndOpenai = ['chat', 'responses', 'messages'];

const modifications: readonly Change[] = [
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
const omissions: readonly Change[] = [
  ['strict', ({ strict_tools: isStrict }) => !isStrict, anthropicAndOpenai],
  ['web search', ({ hosted_search: isHosted }) => !isHosted, ['responses', 'messages', 'gemini']],
  ['betas', ({ betas }) => !betas, ['responses', 'messages']],
  ['unsigned thinking', ({ signed_thinking: isSigned }) => isSigned, ['messages']],
  ['sampling', ({ sampling }) => !sampling, anthropicAndOpenai],
  ['the user id', ({ end_user: isAccepted }) => !isAccepted, anthropicAndOpenai],
  ['unknown members', ({ accepts }) => accepts.length > 0, [...anthropicAndOpenai, 'gemini']],
];

/**
 * Describes for `daypass check` how a request is changed on a route of its own format whose vendor rejects some members. Members that are
 * only renamed are omitted, because nothing is lost.
 */
export function describeAdaptations({ models }: Catalog): string[] {
  const chatModels = models.filter(({ kind }) => kind === 'chat');
  const routes = new Map(chatModels.flatMap((model) => model.routes.map((route) => [route.id, route])));
  const rows = [...routes.values()].flatMap((route) =>
    clientTextFormats.flatMap((format) => {
      const changes = route.upstream.formats.includes(format.name) ? describeRoute(route, format) : '';
      return changes === '' ? [] : [[route.id, format.name, changes]];
    }),
  );
  return rows.length === 0
    ? []
    : ['changed for the vendor, where client and route have the same format', ...alignColumns(rows), ''];
}

function describeRoute(route: Route, { name }: ClientTextFormat): string {
  const { quirks } = profileIn(name, route.profile);
  const applicable = (changes: readonly Change[]): string[] =>
    changes.flatMap(([description, isMade, formats]) =>
      formats.includes(name) && isMade(quirks) ? [description] : [],
    );
  const omitted = joinShortened([...applicable(omissions), ...quirks.refuses]);
  const isHashed = route.upstream.endUser === 'hash';
  const hasEndUser = quirks.end_user && anthropicAndOpenai.includes(name);
  const endUser = hasEndUser ? 'the account as a hashed end user' : 'no field for the end user (end_user: hash)';
  return [
    ...applicable(modifications),
    ...(isHashed ? [endUser] : []),
    ...(route.upstream.isolatesCache === true ? ['an account mark that separates prompt caches'] : []),
    ...(omitted === '' ? [] : [`without ${omitted}`]),
  ].join('; ');
}

const maxListedNames = 6;

function joinShortened(names: readonly string[]): string {
  const omittedCount = names.length - maxListedNames;
  return names.slice(0, maxListedNames).join(', ') + (omittedCount > 0 ? ` and ${omittedCount} more` : '');
}
