import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import {
  type Answer,
  check,
  type ClientReader,
  type Counts,
  eventsOf,
  nothing,
  number,
  object,
  objects,
  string,
} from './answer.ts';

/** Reads generateContent as Google's SDK does: every chunk is a complete answer, and their parts add up. */
export const geminiReader: ClientReader = {
  stream(text) {
    const chunks = eventsOf(text).map(({ data }) => JSON.parse(data) as JsonObject);
    const ended = chunks.findIndex((chunk) => 'error' in chunk || finishOf(chunk) !== '' || 'promptFeedback' in chunk);
    check(ended >= 0, 'the stream has no end');
    check(ended === chunks.length - 1, 'something comes behind the end');
    const error = object(chunks.at(-1)?.['error']);
    if (typeof error['status'] !== 'string') return readChunks(chunks);
    check(error['code'] !== undefined, 'an error has no status');
    const said = readChunks(chunks.slice(0, -1));
    return { ...nothing, text: said.text, error: { code: error['status'], message: string(error['message']) } };
  },
  whole: (body) => readChunks([body]),
};

function readChunks(chunks: readonly JsonObject[]): Answer {
  const parts = chunks.flatMap((chunk) => objects(object(candidateOf(chunk)['content'])['parts']));
  const calls = parts
    .flatMap(({ functionCall }) => (isJsonObject(functionCall) ? [functionCall] : []))
    .reduce(joinPieces, []);
  const texts = (isThought: boolean) =>
    parts.filter(({ thought }) => (thought === true) === isThought).map(({ text }) => string(text));
  const last = chunks.at(-1) ?? {};
  return {
    ...nothing,
    text: texts(false).join(''),
    reasoning: texts(true).join(''),
    calls: calls.map(({ id, name, args }) => {
      check(isJsonObject(args), 'the arguments of a call are no object');
      return { id: string(id), name: string(name), arguments: args };
    }),
    citations: chunks.flatMap((chunk) => {
      const { groundingMetadata, citationMetadata } = candidateOf(chunk);
      const found = objects(object(groundingMetadata)['groundingChunks']).map(({ web, maps }) => object(web ?? maps));
      const { citationSources, citations } = object(citationMetadata);
      return [...found, ...objects(citationSources), ...objects(citations)].map(({ uri }) => string(uri));
    }),
    images: parts.flatMap(({ inlineData, thought }) =>
      isJsonObject(inlineData) && thought !== true ? [string(inlineData['data'])] : [],
    ),
    finish: readFinish(last, calls.length > 0),
    usage: readUsage(chunks.findLast((chunk) => isJsonObject(chunk['usageMetadata']))?.['usageMetadata']),
  };
}

/** A call may come in pieces, its name first and then its arguments one by one. Source: Vertex AI, streaming of arguments. */
function joinPieces(calls: JsonObject[], piece: JsonObject): JsonObject[] {
  if (string(piece['name']) !== '') {
    return [...calls, piece['willContinue'] === true ? { ...piece, args: {} } : piece];
  }
  const args = object(calls.at(-1)?.['args']);
  for (const { jsonPath, stringValue, numberValue } of objects(piece['partialArgs'])) {
    const name = string(jsonPath).replace('$.', '');
    args[name] = numberValue ?? string(args[name]) + string(stringValue);
  }
  return calls;
}

function candidateOf(chunk: JsonObject): JsonObject {
  return objects(chunk['candidates'])[0] ?? {};
}

function finishOf(chunk: JsonObject): string {
  return string(candidateOf(chunk)['finishReason']);
}

const filters = new Set(['SAFETY', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'RECITATION']); // for which content is withheld

/** An answer with calls has the same finish reason as any other. */
function readFinish(chunk: JsonObject, hasCalls: boolean): string {
  if (isJsonObject(chunk['promptFeedback'])) return 'content_filter';
  const reason = finishOf(chunk);
  if (reason === 'STOP') return hasCalls ? 'tool_calls' : 'stop';
  if (reason === 'MAX_TOKENS') return 'length';
  return filters.has(reason) ? 'content_filter' : reason;
}

function readUsage(usage: JsonValue | undefined): Counts | undefined {
  if (!isJsonObject(usage)) return undefined;
  const reasoning = number(usage['thoughtsTokenCount']);
  return {
    input: (number(usage['promptTokenCount']) ?? 0) + (number(usage['toolUsePromptTokenCount']) ?? 0),
    output: (number(usage['candidatesTokenCount']) ?? 0) + (reasoning ?? 0),
    cached: number(usage['cachedContentTokenCount']) ?? 0,
    reasoning: reasoning ?? 0,
  };
}
