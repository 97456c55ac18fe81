import { mergeProfiles } from '#core/config/catalog/profile.ts';
import type { QuirkSettings } from '#core/config/catalog/quirks.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { ChatReplyRepair } from '../../../../../plugins/format/formats/chat/repair/reply-repair.ts';
import { streamEvent } from '../../codec-fixture.ts';

export const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 7, model: 'there' };
export const choice = (delta: JsonObject | null, more: JsonObject = {}): JsonObject => ({
  index: 0,
  delta,
  finish_reason: null,
  ...more,
});
export const chunk = (delta: JsonObject | null, more: JsonObject = {}): JsonObject => ({
  ...head,
  choices: [choice(delta, more)],
});
export const finish = (reason: string, delta: JsonObject = {}): JsonObject => chunk(delta, { finish_reason: reason });
export const begin = chunk({ role: 'assistant', content: '' });
export const calls = (...entries: JsonObject[]): JsonObject => chunk({ tool_calls: entries });
export const entry = (index: number, id: string, name: string, input = ''): JsonObject => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: input },
});
export const next = (index: number, input: string): JsonObject => ({ index, function: { arguments: input } });

export function newRepair(request: JsonObject = {}, quirks: QuirkSettings = {}): ChatReplyRepair {
  return new ChatReplyRepair({ id: 'x', model: 'asked', created: 9, request }, mergeProfiles({ quirks }));
}

/** The chunks that a client gets for those of an upstream. */
export function repaired(chunks: readonly (JsonObject | '[DONE]')[], repair = newRepair()): JsonObject[] {
  const texts = chunks.map((each) => `data: ${each === '[DONE]' ? each : JSON.stringify(each)}\n\n`);
  const events = texts.flatMap((text) => repair.repairEvent(streamEvent(text)));
  const data = events.map((event) => event.data ?? '').filter((each) => each !== '[DONE]');
  return data.map((each) => JSON.parse(each) as JsonObject);
}

export const wholeOf = (body: JsonObject, repair = newRepair()) => repair.repairReply(body, JSON.stringify(body));
export const choicesOf = (body: JsonObject | undefined) => (body?.['choices'] ?? []) as JsonObject[];
export const deltasOf = (chunks: readonly JsonObject[], index = 0) =>
  chunks
    .flatMap((each) => choicesOf(each).filter((one) => one['index'] === index))
    .map(({ delta }) => delta as JsonObject);
export const textOf = (chunks: readonly JsonObject[], name = 'content', index = 0) =>
  deltasOf(chunks, index)
    .map((delta) => (delta[name] ?? '') as string)
    .join('');
export const entriesOf = (chunks: readonly JsonObject[]) =>
  deltasOf(chunks).flatMap(({ tool_calls }) => (tool_calls ?? []) as JsonObject[]);
export const finishesOf = (chunks: readonly JsonObject[], index = 0) =>
  chunks
    .flatMap((each) => choicesOf(each).filter((one) => one['index'] === index))
    .map(({ finish_reason }) => finish_reason ?? null)
    .filter((reason) => reason !== null);

export const piece = (text: string) => chunk({ content: text });

/** An event of a stream. */
export const line = (body: JsonObject) => `data: ${JSON.stringify(body)}\n\n`;
