import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { createUpstream, type FaultyUpstream, type Handler } from './faulty-upstream.ts';

/** The signature of the upstream's thoughts, which must come back with the call that they led to. */
export const ownSignature = 'c2VhbGVkIHRob3VnaHRz';
const skipped = 'skip_thought_signature_validator';

/**
 * Imitates a Gemini 3 model. It validates contents just as strictly, answers with two calls if there are tools, and with text once their
 * results have arrived. Source: Gemini docs, "Function calling", "Thought signatures".
 */
export function createGeminiUpstream(): Promise<FaultyUpstream> {
  return createUpstream(answer);
}

const answer: Handler = (request, response) => {
  const body = request.json<JsonObject>();
  const isStream = request.path.includes(':streamGenerateContent?alt=sse');
  const wrong = findFault(body);
  if (wrong !== undefined)
    return response.json(400, { error: { code: 400, message: wrong, status: 'INVALID_ARGUMENT' } });
  const pieces = wantsCalls(body) ? callPieces : textPieces;
  if (!isStream) return response.json(200, createReply(pieces.flat(), true));
  response.sse(...pieces.map((parts, index) => createReply(parts, index === pieces.length - 1)));
  response.end();
};

const callPieces: readonly JsonObject[][] = [
  [{ text: 'Both at ', thought: true }],
  [{ text: 'once.', thought: true }],
  [{ text: 'Let me look.' }],
  [
    { functionCall: { id: 'fc_1', name: 'look', args: { at: 'sky' } }, thoughtSignature: ownSignature },
    { functionCall: { id: 'fc_2', name: 'wait', args: {} } },
  ],
];
const textPieces: readonly JsonObject[][] = [
  [{ text: 'Grüße' }],
  [{ text: ' you' }],
  [{ text: '', thoughtSignature: ownSignature }],
];

function createReply(parts: JsonObject[], isLast: boolean): JsonObject {
  return {
    candidates: [{ content: { role: 'model', parts }, index: 0, ...(isLast && { finishReason: 'STOP' }) }],
    usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 6, thoughtsTokenCount: 3, totalTokenCount: 29 },
    modelVersion: 'gemini-there',
    responseId: 'r1',
  };
}

interface Content {
  readonly role: JsonValue | undefined;
  readonly parts: readonly JsonObject[];
}

function wantsCalls(body: JsonObject): boolean {
  const last = readContents(body).at(-1);
  return Array.isArray(body['tools']) && last?.parts.every((part) => part['functionResponse'] === undefined) === true;
}

function readContents({ contents }: JsonObject): Content[] {
  if (!Array.isArray(contents)) return [];
  return contents.map((content) => {
    const { role, parts } = content as JsonObject;
    return { role, parts: Array.isArray(parts) ? parts.filter(isJsonObject) : [] };
  });
}

function findFault(body: JsonObject): string | undefined {
  const contents = readContents(body);
  const unknown = Object.keys(body).find((name) => !members.has(name));
  if (unknown !== undefined) return `Unknown name "${unknown}": Cannot find field.`;
  if (contents.length === 0) return 'contents is not specified';
  if (contents[0]?.role !== 'user') return 'the first content should be with role user';
  return contents.flatMap((content, index) => findContentFaults(content, contents[index + 1]))[0];
}

const members = new Set(['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'safetySettings']);

function findContentFaults({ role, parts }: Content, next: Content | undefined): string[] {
  if (role !== 'user' && role !== 'model') return ['Please use a valid role: user, model.'];
  if (parts.length === 0) return ['contents.parts must not be empty.'];
  const calls = parts.filter((part) => part['functionCall'] !== undefined);
  const answers = (next?.parts ?? []).flatMap((part) =>
    isJsonObject(part['functionResponse']) ? [part['functionResponse']] : [],
  );
  const isSigned = [ownSignature, skipped].includes(String(calls[0]?.['thoughtSignature']));
  return [
    ...(calls.length > 0 && !isSigned ? ['Function call is missing a thought_signature in functionCall parts.'] : []),
    ...(calls.length > 0 && answers.length !== calls.length
      ? ['The number of function response parts must equal that of function calls.']
      : []),
    ...(answers.every(({ response, name }) => isJsonObject(response) && typeof name === 'string')
      ? []
      : ['Invalid function response.']),
  ];
}
