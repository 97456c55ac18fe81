import { ok } from 'node:assert/strict';
import type { JsonObject } from '#core/platform/json.ts';
import type { TextFormat } from '../../support/formats.ts';
import { clients } from '../clients/index.ts';
import { type Answer, type Entry, isObject, objectOf, objectsOf, textOf } from '../conversation.ts';
import type { VendorTurn } from './scenarios.ts';
import type { Place } from './vendor-fixture.ts';

/**
 * Checks that a vendor received everything that the client sent, in order. The order and form that a vendor requires are in its rules.
 *
 * @throws AssertionError with what is lost
 */
export function checkRequest({ ask, habits }: VendorTurn, turns: readonly VendorTurn[], body: JsonObject): void {
  const { system, tools = [], schema } = ask;
  ok(system === undefined || wordsOf(body).some((word) => word.includes(system)), 'the system prompt is lost');
  checkDialogue(wantedWords(ask.entries, turns, habits?.lateSystem), body);
  for (const { name } of tools) ok(wordsOf(body['tools']).includes(name), `the tool ${name} is lost`);
  const text = JSON.stringify(body).replaceAll('\\"', '"');
  for (const name of Object.keys(schema?.['properties'] ?? {})) ok(text.includes(`"${name}"`), 'the schema is lost');
}

function checkDialogue(wanted: readonly string[][], body: JsonObject): void {
  const words = wordsOf(body['messages'] ?? body['input'] ?? body['contents']);
  let last = 0;
  for (const spellings of wanted) {
    const found = words.findIndex((word, index) => index >= last && spellings.some((one) => word.includes(one)));
    ok(found !== -1, `the vendor did not receive "${String(spellings[0])}": ${JSON.stringify(body)}`);
    last = found;
  }
}

/** Texts of the dialogue in order, each with its spellings. */
function wantedWords(entries: readonly Entry[], turns: readonly VendorTurn[], late: string | undefined): string[][] {
  const words = entries.flatMap((entry) => wordsOfEntry(entry, turns));
  return late === undefined ? words : words.toSpliced(1, 0, [late]);
}

function wordsOfEntry(entry: Entry, turns: readonly VendorTurn[]): string[][] {
  switch (entry.type) {
    case 'text':
      return [[entry.text]];
    case 'result':
      return [[entry.text], ...(entry.image === undefined ? [] : [spellingsOf(entry.image)])];
    case 'image':
      return [spellingsOf(entry.image)];
    case 'echo':
      return wordsOfAnswer(turns[entry.turn]?.answer);
    default:
      return [];
  }
}

/** A data URL, or its data alone. */
function spellingsOf(image: string): string[] {
  return [image, image.split(',')[1] ?? image];
}

function wordsOfAnswer(answer: Answer | undefined): string[][] {
  return (answer?.blocks ?? []).flatMap((block) => {
    if (block.type === 'thought') return [];
    return [[block.type === 'call' ? block.name : block.text]];
  });
}

/** All texts of a JSON value, in order. */
function wordsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(wordsOf);
  return isObject(value) ? Object.values(value).flatMap(wordsOf) : [];
}

/** What the client asked for and the request to the vendor cannot express. */
export function lossesOf({ ask, habits }: VendorTurn, client: TextFormat, place: Place, body: JsonObject): string[] {
  const { isAskedToThink } = place.endpoint;
  const isFreeform = ask.tools?.some(({ grammar }) => grammar !== undefined) === true;
  const isShown = ask.entries.some((entry) => entry.type === 'result' && entry.image !== undefined);
  const isSerialLost = ask.isSerial === true && clients[client].hasSerialCalls && !isSerial(body);
  return [
    ...(ask.schema === undefined ? [] : lossOfSchema(body)),
    ...(habits?.isForced === true && !isForced(body) ? ['tool calls cannot be forced'] : []),
    ...(isFreeform && !hasGrammar(body) ? ['the grammar of freeform tools is described, not enforced'] : []),
    ...(isShown && !showsInResult(body) ? ['images in tool results are sent in a user message'] : []),
    ...(habits?.hasSearch === true && !hasSearch(body) ? [searchIsOff] : []),
    ...(isSerialLost ? ['parallel tool calls cannot be disabled'] : []),
    ...(ask.effort === undefined ? [] : lossOfEffort(isAskedToThink, body)),
  ];
}

function lossOfSchema(body: JsonObject): string[] {
  const formats = [
    body['response_format'],
    objectOf(body['text'])['format'],
    objectOf(body['output_config'])['format'],
  ];
  const types = new Set(formats.map((format) => textOf(objectOf(format)['type'])));
  const hasSchema = types.has('json_schema') || 'responseJsonSchema' in objectOf(body['generationConfig']);
  if (hasSchema) return [];
  return types.has('json_object')
    ? ['the schema is in the prompt; only JSON is enforced']
    : ['the schema is in the prompt; nothing is enforced'];
}

export const searchIsOff = 'web search is not available';

function hasSearch({ tools, web_search_options }: JsonObject): boolean {
  return web_search_options !== undefined || /web_search|googleSearch/.test(JSON.stringify(tools ?? []));
}

function hasGrammar(body: JsonObject): boolean {
  return objectsOf(body['tools']).some(({ type }) => type === 'custom');
}

/** True when the result of a call has the picture, in any form of the formats. */
function showsInResult(body: JsonObject): boolean {
  const entries = objectsOf(body['messages'] ?? body['input'] ?? body['contents']);
  return entries
    .flatMap((entry) => [entry, ...objectsOf(entry['content']), ...objectsOf(entry['parts'])])
    .filter(
      (entry) => 'tool_use_id' in entry || 'functionResponse' in entry || textOf(entry['type']).endsWith('_output'),
    )
    .some((result) => wordsOf(result).some((word) => word.includes('iVBORw0KGgo')));
}

function isForced(body: JsonObject): boolean {
  const choice = body['tool_choice'];
  const mode = objectOf(objectOf(body['toolConfig'])['functionCallingConfig'])['mode'];
  return choice === 'required' || choice === 'any' || objectOf(choice)['type'] === 'any' || mode === 'ANY';
}

function isSerial(body: JsonObject): boolean {
  return body['parallel_tool_calls'] === false || objectOf(body['tool_choice'])['disable_parallel_tool_use'] === true;
}

function lossOfEffort(isAskedToThink: ((body: JsonObject) => boolean) | undefined, body: JsonObject): string[] {
  if (isAskedToThink === undefined) return ['reasoning effort cannot be set'];
  ok(isAskedToThink(body), `reasoning is not asked for: ${JSON.stringify(body)}`);
  return [];
}
