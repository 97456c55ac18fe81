import type { JsonObject } from '#core/platform/json.ts';
import {
  type Answer,
  type AnswerBlock,
  type Ask,
  compact,
  dataUrl,
  type End,
  type Entry,
  isObject,
  maybeText,
  objectOf,
  objectsOf,
  textOf,
  type Usage,
} from '../conversation.ts';
import { geminiRequestSchema } from './gemini-request.ts';
import { checkAnswered, piecesOf, unnamed, type UpstreamFormat } from './upstream-format.ts';

/** A generateContent endpoint. Source: Gemini API reference, "GenerateContent"; docs, "Thought signatures". */
export const geminiUpstream: UpstreamFormat = {
  path: (model, isStream) => `/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  schema: geminiRequestSchema,
  read(body) {
    const contents = objectsOf(body['contents']);
    checkOrder(contents);
    const config = objectOf(body['generationConfig']);
    const declared = objectsOf(body['tools']).flatMap((tool) => objectsOf(tool['functionDeclarations']));
    const system = objectsOf(objectOf(body['systemInstruction'])['parts']).map(({ text }) => textOf(text));
    return compact({
      system: maybeText(system.join('\n\n')),
      entries: contents.flatMap(({ role, parts }) =>
        objectsOf(parts).flatMap((part) => readPart(role === 'user' ? 'user' : 'model', part)),
      ),
      tools:
        body['tools'] &&
        declared.map(({ name, description, parametersJsonSchema }) => ({
          name,
          description,
          schema: parametersJsonSchema,
        })),
      effort: maybeText(objectOf(config['thinkingConfig'])['thinkingLevel'])?.toLowerCase(),
      schema: config['responseJsonSchema'],
      stop: config['stopSequences'],
      limit: config['maxOutputTokens'],
    }) as unknown as Ask;
  },
  whole: (answer, model) => reply(answer, model, [...writeParts(answer)], true),
  events(answer, model) {
    const parts = writeParts(answer).flatMap(chop);
    return parts.map((part, index) => reply(answer, model, [part], index === parts.length - 1));
  },
  frame: unnamed,
  failures: {
    overflow: {
      status: 400,
      body: {
        error: {
          code: 400,
          message: 'The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).',
          status: 'INVALID_ARGUMENT',
        },
      },
    },
    'rate limit': {
      status: 429,
      body: { error: { code: 429, message: 'Resource has been exhausted', status: 'RESOURCE_EXHAUSTED' } },
    },
    'bad key': {
      status: 401,
      body: { error: { code: 401, message: 'API key not valid.', status: 'UNAUTHENTICATED' } },
    },
  },
};

/** The first turn is the user's, roles alternate, and the turn after calls has as many results. */
function checkOrder(contents: readonly JsonObject[]): void {
  for (const [index, { role, parts }] of contents.entries()) {
    if (role !== (index % 2 === 0 ? 'user' : 'model'))
      throw new Error(`contents[${index}]: ${textOf(role)} is out of turn`);
    const calls = namesOf(contents[index - 1]?.['parts'], 'functionCall');
    checkAnswered(calls, namesOf(parts, 'functionResponse'), `contents[${index}]`);
    const first = objectsOf(parts).find(({ functionCall }) => functionCall !== undefined);
    if (first !== undefined && first['thoughtSignature'] === undefined) {
      throw new Error(`contents[${index}]: a first call without a thoughtSignature`);
    }
  }
}

function namesOf(parts: unknown, member: 'functionCall' | 'functionResponse'): string[] {
  return objectsOf(parts).flatMap((part) => (isObject(part[member]) ? [textOf(objectOf(part[member])['name'])] : []));
}

/** The placeholder for a lost signature. Source: Gemini docs, "Thought signatures". */
const skipped = 'skip_thought_signature_validator';
/** The first call of an answer is always signed, thoughts or not. */
const unthinking = 'bm8gdGhvdWdodHM=';

function readPart(by: 'user' | 'model', part: JsonObject): Entry[] {
  const { functionCall, functionResponse, inlineData, fileData } = part;
  const signature = maybeText(part['thoughtSignature']);
  const isThought = signature !== undefined && signature !== skipped && signature !== unthinking;
  // Returned thought text has no meaning.
  const tagged: Entry[] = isThought ? [{ type: 'thought', text: '', signature }] : [];
  if (isObject(functionCall)) {
    const { id, name, args } = functionCall;
    return [...tagged, { type: 'call', id: textOf(id), name: textOf(name), input: objectOf(args) }];
  }
  if (isObject(functionResponse)) return [readResult(functionResponse)];
  if (isObject(inlineData)) return [{ type: 'image', image: dataUrl(inlineData['mimeType'], inlineData['data']) }];
  if (isObject(fileData)) return [{ type: 'image', image: textOf(fileData['fileUri']) }];
  const text = textOf(part['text']);
  return text === '' || part['thought'] === true ? tagged : [...tagged, { type: 'text', by, text }];
}

function readResult({ id, response, parts }: JsonObject): Entry {
  const output = objectOf(response);
  const images = objectsOf(parts).map(({ inlineData }) => objectOf(inlineData));
  return {
    type: 'result',
    id: textOf(id),
    // AI SDK calls it content.
    text: textOf(output['error'] ?? output['result'] ?? output['output'] ?? output['content']),
    ...(images.length > 0 && { image: images.map((image) => dataUrl(image['mimeType'], image['data'])).join() }),
    ...('error' in output && { isError: true }),
  };
}

/** The signature is on the part that the thoughts led to. */
function writeParts({ blocks }: Answer): JsonObject[] {
  const first = blocks.find(({ type }) => type === 'call');
  let signature: string | undefined;
  return blocks.map((block) => {
    if (block.type === 'thought') {
      signature = block.signature;
      return { text: block.text, thought: true };
    }
    const thoughtSignature = signature ?? (block === first ? unthinking : undefined);
    signature = undefined;
    return compact({ ...writePart(block), thoughtSignature });
  });
}

function writePart(block: Exclude<AnswerBlock, { type: 'thought' }>): JsonObject {
  if (block.type !== 'call') return { text: block.text };
  const args = typeof block.input === 'string' ? { input: block.input } : block.input;
  return { functionCall: { id: block.id, name: block.name, args } };
}

/** Texts are streamed in pieces, calls whole; the signature comes with the last piece. */
function chop(part: JsonObject): JsonObject[] {
  if (typeof part['text'] !== 'string') return [part];
  const { text, thoughtSignature, ...rest } = part;
  const pieces: JsonObject[] = piecesOf(text).map((piece) => ({ ...rest, text: piece }));
  return pieces.map((piece, index) => (index === pieces.length - 1 ? compact({ ...piece, thoughtSignature }) : piece));
}

const finishReasons: Readonly<Record<End, string>> = {
  stop: 'STOP',
  stop_sequence: 'STOP',
  length: 'MAX_TOKENS',
  calls: 'STOP',
  withheld: 'SAFETY',
};

function reply({ end, usage }: Answer, model: string, parts: JsonObject[], isLast: boolean): JsonObject {
  const candidate = {
    content: { role: 'model', parts },
    ...(isLast && { finishReason: finishReasons[end] }),
    index: 0,
  };
  return compact({
    candidates: [candidate],
    usageMetadata: usage && writeUsage(usage),
    modelVersion: model,
    responseId: 'there',
  });
}

function writeUsage({ input, cached, output, thinking }: Usage): JsonObject {
  return {
    promptTokenCount: input,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    candidatesTokenCount: output - thinking,
    ...(thinking > 0 && { thoughtsTokenCount: thinking }),
    totalTokenCount: input + output,
  };
}
