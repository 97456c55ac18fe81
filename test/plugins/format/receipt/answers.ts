import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { isJsonObject } from '#core/platform/json.ts';
import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { GrammarGuard } from '../../../../plugins/format/canonical/guard.ts';
import { tagState } from '../../../../plugins/format/canonical/opaque-state.ts';
import { plainNames, ToolNames } from '../../../../plugins/format/canonical/tool-names.ts';
import { TranslatingReader } from '../../../../plugins/format/routes/translation/reader.ts';
import { conversational } from '../../../support/formats.ts';
import { context } from '../invariants/fixture.ts';
import type { Probe } from './published.ts';
import type { ClientFormatName } from './routes.ts';

/** What becomes of an answer. */
interface Fate {
  /** Undefined where it ends with an error. */
  readonly written: string | undefined;
  readonly failure?: string;
  readonly notes: readonly string[];
}

/** What becomes of a member of an answer. */
export type AnswerReceipt = 'arrives' | 'noted' | 'silent';

const fates = new Map<string, Fate>();

/** The answer of an upstream as a client of another format gets it. */
function fateOf(upstream: ClientFormatName, client: ClientFormatName, answer: JsonObject): Fate {
  const body = JSON.stringify(framed(upstream, realistic(answer) as JsonObject));
  const key = `${upstream} ${client} ${body}`;
  const known = fates.get(key) ?? translate(upstream, client, body);
  fates.set(key, known);
  return known;
}

function translate(upstream: ClientFormatName, client: ClientFormatName, body: string): Fate {
  const reader = readerBetween(upstream, client);
  try {
    return { written: reader.whole(Buffer.from(body)).body.toString(), notes: reader.notes };
  } catch (error) {
    if (error instanceof GatewayError) return { written: undefined, failure: error.message, notes: reader.notes };
    throw error;
  }
}

function readerBetween(upstream: ClientFormatName, client: ClientFormatName): TranslatingReader {
  const { text } = conversational[client].client;
  const guard = new GrammarGuard({
    names: new ToolNames({ tools: [], items: [] }, plainNames),
    tag: (kind, data) => tagState({ kind, origin: '0a1b2c3d', data }),
    id: 'x1',
    inputTokens: () => 25,
    endsWithAnswer: text.endsWithAnswer,
    images: text.answerImages,
  });
  const reply = { decoder: conversational[upstream].text.createDecoder(), framer: new SseFramer() };
  return new TranslatingReader(reply, guard, text.createEncoder(context));
}

export function receiptOfAnswer(upstream: ClientFormatName, client: ClientFormatName, probe: Probe): AnswerReceipt {
  const fate = fateOf(upstream, client, probe.value);
  const before = fateOf(upstream, client, probe.without);
  if (fate.written !== before.written || fate.failure !== before.failure) return 'arrives';
  return fate.notes.length > 0 || before.notes.length > 0 ? 'noted' : 'silent';
}

/** What becomes of an event before a message of a streamed response. */
export function receiptOfEvent(client: ClientFormatName, event: JsonObject): AnswerReceipt {
  const given = realistic(event) as JsonObject;
  // The event is about nothing without it.
  if (given['annotation'] === null) given['annotation'] = { type: 'file_citation', file_id: 'x' };
  const [fate, before] = [[given], []].map((events) => {
    const reader = readerBetween('responses', client);
    const stream = [...events, { type: 'response.output_text.delta', output_index: 9, delta: hi }, completed];
    const written = stream.map((one) => reader.push(Buffer.from(`data: ${JSON.stringify(one)}\n\n`)).toString());
    return { written: written.join(''), failure: reader.failure?.message, notes: reader.notes };
  });
  if (fate?.written !== before?.written || fate?.failure !== before?.failure) return 'arrives';
  return (fate?.notes.length ?? 0) > 0 ? 'noted' : 'silent';
}

const completed = { type: 'response.completed', response: { status: 'completed', output: [] } };
const hi = 'Hi x';

/** A whole answer with these members: one with a text, in which citations find their words. */
function framed(format: ClientFormatName, given: JsonObject): JsonObject {
  switch (format) {
    case 'chat': {
      const [choice = {}] = list(given['choices']);
      const { message } = choice;
      const said = isJsonObject(message) ? { ...message, content: message['content'] ?? hi } : { content: hi };
      const answered = { ...choice, finish_reason: choice['finish_reason'] ?? 'stop', message: said };
      return { ...given, choices: [answered] };
    }
    case 'responses': {
      const item = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: hi }] };
      const status = isJsonObject(given['error']) ? 'failed' : 'completed';
      const ended = isJsonObject(given['incomplete_details']) ? 'incomplete' : status;
      return { ...given, status: given['status'] ?? ended, output: [...list(given['output']), item] };
    }
    case 'messages':
      return { stop_reason: 'end_turn', ...given, content: [...list(given['content']), { type: 'text', text: hi }] };
    case 'gemini': {
      if (isJsonObject(given['promptFeedback']))
        return { ...given, promptFeedback: { blockReason: 'SAFETY', ...given['promptFeedback'] } };
      const usage = given['usageMetadata'];
      const usageMetadata = isJsonObject(usage) ? { promptTokenCount: 5, ...usage } : {};
      const [candidate = {}] = list(given['candidates']);
      const content = isJsonObject(candidate['content']) ? candidate['content'] : {};
      const parts = [...list(content['parts']), { text: hi }];
      const answered = { finishReason: 'STOP', ...candidate, ...withChunks(candidate), content: { ...content, parts } };
      return { ...given, usageMetadata, candidates: [answered] };
    }
  }
}

/** A source means nothing without an address, and a support nothing without sources. */
function withChunks({ groundingMetadata: grounding }: JsonObject): JsonObject {
  if (!isJsonObject(grounding)) return {};
  const chunks = list(grounding['groundingChunks'] ?? [{ web: {} }]).map((chunk) =>
    Object.fromEntries(
      Object.entries(chunk).map(([kind, source]) => [
        kind,
        isJsonObject(source) ? { uri: 'https://example.com/a', ...source } : source,
      ]),
    ),
  );
  const supports = list(grounding['groundingSupports']).map((support) => ({
    groundingChunkIndices: [0],
    segment: { text: 'Hi' },
    ...support,
  }));
  return {
    groundingMetadata: { ...grounding, groundingChunks: chunks, groundingSupports: supports } as JsonObject,
  };
}

function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Values that mean something to a reader. */
function realistic(value: JsonValue, name = ''): JsonValue {
  if (Array.isArray(value)) return value.map((entry) => realistic(entry, name));
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [
        key,
        key === 'functionCall' ? { name: 'x', ...(entry as JsonObject) } : realistic(entry as JsonValue, key),
      ]),
    );
  if (value === 1 && (name === 'index' || /(?:start|end)_?index/i.test(name) || name === 'groundingChunkIndices'))
    return 0;
  if (value === 1 && /tokens|TokenCount/.test(name)) return 7;
  if (value !== 'x') return value;
  if (/^(?:url|uri|fileUri|image_url|sourceUri)$/i.test(name)) return 'https://example.com/a.png';
  if (name === 'data' || name === 'result') return 'aGVsbG8=';
  if (name === 'mimeType') return 'image/png';
  return name === 'arguments' ? '{}' : value;
}
