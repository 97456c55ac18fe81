import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import type { ReplyContext } from '../../../../plugins/format/canonical/codec.ts';
import { GrammarGuard } from '../../../../plugins/format/canonical/guard.ts';
import { tagState } from '../../../../plugins/format/canonical/opaque-state.ts';
import type { CompleteReply, Fragment, ReplyEvent } from '../../../../plugins/format/canonical/reply.ts';
import { commonNameRules, ToolNames } from '../../../../plugins/format/canonical/tool-names.ts';
import { ClientRequest } from '../../../../plugins/format/request/client-request.ts';
import { RequestContent } from '../../../../plugins/format/request/request-content.ts';
import { type TextFormat, conversational, textFormats } from '../../../support/formats.ts';
import { clientTool } from '../codec-fixture.ts';

/** Every format that there is; what holds for one has to hold for all. */
export const formats = textFormats;

/** Every client with every upstream. */
export const pairs = formats.flatMap((client) => formats.map((upstream) => [client, upstream] as const));

/** A tool of raw text, which some formats can only say as a function. */
export const patch = clientTool({ name: 'patch', form: 'freeform' });

/** What a client asks that wants to see all there is. */
const wantsAll: JsonObject = {
  stream_options: { include_usage: true },
  generationConfig: { thinkingConfig: { includeThoughts: true } },
  thinking: { type: 'adaptive' },
  max_tokens: 9,
};
export const context: ReplyContext = { id: 'x1', model: 'asked-for', created: 1_700_000_000, request: wantsAll };
export const exchange = { id: 'req_x1', receivedAt: 1_700_000_000_000, headers: {} } as Exchange;

export function requestOf(
  format: TextFormat,
  body: JsonObject = wantsAll,
  text: string = JSON.stringify(body),
): ClientRequest {
  const said = { format: conversational[format], purpose: 'answer', model: 'asked-for', isStream: true } as const;
  return new ClientRequest(said, RequestContent.fromText(text, body));
}

export function newGuard(): GrammarGuard {
  return new GrammarGuard({
    toolNames: new ToolNames({ tools: [patch], items: [] }, commonNameRules),
    tagState: (kind, data) => tagState({ kind, origin: '0a1b2c3d', data }),
    exchangeId: 'x1',
    estimateInputTokens: () => 25,
    rules: { hasLogprobs: true },
  });
}

/** What the guard makes of fragments, which have to end. */
export function settle(fragments: readonly Fragment[]): { events: ReplyEvent[]; reply: CompleteReply } {
  const guard = newGuard();
  const events = [...guard.push(fragments), ...guard.close()];
  if (guard.failure !== undefined) throw guard.failure;
  if (guard.reply === undefined) throw new Error('the reply is not complete');
  return { events, reply: guard.reply };
}

/** What a client gets for these events. */
export function streamOf(format: TextFormat, events: readonly ReplyEvent[]): string {
  const encoder = conversational[format].client.text.createEncoder(context);
  return events.map((event) => encoder.encodeEvent(event)).join('');
}

/** What a client gets for this reply, as it travels. */
export function wholeOf(format: TextFormat, reply: CompleteReply): JsonObject {
  return JSON.parse(
    JSON.stringify(conversational[format].client.text.createEncoder(context).encodeWhole(reply)),
  ) as JsonObject;
}

export interface SentEvent {
  readonly name: string | undefined;
  readonly data: string;
}

export function eventsOf(stream: string): SentEvent[] {
  const sent: SentEvent[] = [];
  createParser({ onEvent: ({ event, data }) => sent.push({ name: event, data }) }).feed(stream);
  return sent;
}

/** The reply that a stream of the format holds. */
export function readStream(format: TextFormat, stream: string): CompleteReply {
  const decoder = conversational[format].text.createDecoder();
  return settle(eventsOf(stream).flatMap(({ name, data }) => decoder.readEvent(name, data))).reply;
}

export function readWhole(format: TextFormat, body: JsonObject): CompleteReply {
  return settle(conversational[format].text.createDecoder().readWhole(body)).reply;
}

/** Text without spaces at its ends, which formats trim where they have to join it. */
export const words = fc
  .string({
    unit: fc.oneof(fc.constantFrom(...'ab \n"\\{}:'), fc.constantFrom('é', '😀', '語', '\u2028')),
    maxLength: 12,
  })
  .map((text) => `x${text}y`);
const names = fc.constantFrom('weather', 'now', 'list_files');
export const jsonObject: fc.Arbitrary<JsonObject> = fc
  .dictionary(fc.constantFrom('a', 'b', 'c d', 'é'), fc.jsonValue({ maxDepth: 2 }))
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

/** One call: its input in two pieces, cut anywhere. */
const callOf = (key: number): fc.Arbitrary<Fragment[]> =>
  fc.tuple(names, jsonObject, fc.nat(40)).map(([name, input, cut]) => {
    const text = JSON.stringify(input);
    return [
      { type: 'call', key, id: `call_${key}`, name },
      { type: 'input', key, text: text.slice(0, cut) },
      { type: 'input', key, text: text.slice(cut) },
      { type: 'call_end', key },
    ];
  });
const said = fc.oneof(
  fc
    .array(words, { minLength: 1, maxLength: 3 })
    .map((texts): Fragment[] => texts.map((text) => ({ type: 'text', text }))),
  words.map((text): Fragment[] => [{ type: 'text', text }, { type: 'break' }]),
);
const thought = fc
  .tuple(words, fc.option(fc.base64String({ minLength: 4 }), { nil: undefined }))
  .map(([text, data]): Fragment[] => [
    { type: 'reasoning', text },
    data === undefined ? { type: 'break' } : { type: 'reasoning_state', kind: 'signature', data },
  ]);
const usage = fc
  .record({
    plain: fc.integer({ min: 1, max: 1e6 }),
    cacheRead: fc.nat(1e5),
    cacheWrite: fc.nat(1e4),
    said: fc.integer({ min: 1, max: 1e5 }),
    reasoning: fc.nat(1e4),
  })
  .map(({ plain, said: output, ...rest }): Fragment => ({
    type: 'usage',
    usage: { ...rest, input: plain + rest.cacheRead + rest.cacheWrite, output: output + rest.reasoning },
  }));
export const finishes = ['stop', 'length', 'content_filter', 'stop_sequence', 'context_length', 'pause'] as const;

/** What an upstream says that keeps to its format, from thoughts to the end. */
export const answer: fc.Arbitrary<Fragment[]> = fc
  .tuple(
    fc.array(thought, { maxLength: 2 }),
    fc.array(said, { minLength: 1, maxLength: 3 }),
    fc.tuple(callOf(0), callOf(1), callOf(2)),
    fc.nat(3),
    usage,
    fc.constantFrom(...finishes),
  )
  .map(([thoughts, texts, calls, count, counted, reason]) => [
    ...[thoughts, texts, calls.slice(0, count)].flat(2),
    counted,
    { type: 'finish', reason: count > 0 ? 'tool_calls' : reason },
    { type: 'end' },
  ]);

/** The values inside texts of JSON, where spelling and order do not matter. */
export function parsed(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? value : text;
}
