import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';

/** The request cannot be answered as it is. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest';
  /** The parameter at fault. */
  readonly param: string | null;
  readonly status: number;

  constructor(message: string, param: string | null = null, status = 400) {
    super(message);
    this.param = param;
    this.status = status;
  }
}

/** What the script needs to know of a request, whichever format it came in. */
export interface Prompt {
  readonly model: string;
  readonly isStream: boolean;
  /** Instructions are left out: the demo obeys nobody. */
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly allowsParallelCalls: boolean;
  /** Undefined: as the text says. */
  readonly wantsReasoning: boolean | undefined;
  /** JSON Schema that the answer has to satisfy. */
  readonly schema: JsonObject | undefined;
  readonly maxTokens: number | undefined;
  readonly inputTokens: number;
}

export interface Turn {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  /** The tool whose result this is. */
  readonly tool?: string | undefined;
  readonly isError?: boolean;
}

export interface Tool {
  readonly name: string;
  readonly namespace?: string | undefined;
  /** JSON Schema of the arguments; undefined for a tool that takes plain text. */
  readonly schema: JsonObject | undefined;
}

export interface ToolChoice {
  readonly mode: 'auto' | 'none' | 'required';
  /** Only these may be called. */
  readonly names?: readonly string[] | undefined;
}

export function lastUserText({ turns }: Prompt): string {
  return turns.findLast(({ role }) => role === 'user')?.text ?? '';
}

/** Results of tools that nobody has answered yet. */
export function openToolResults({ turns }: Prompt): readonly Turn[] {
  return turns.slice(turns.findLastIndex(({ role }) => role !== 'tool') + 1);
}

/** @throws BadRequest when the model is not named */
export function readModel(body: JsonObject): string {
  const { model } = body;
  if (typeof model !== 'string' || model === '') throw new BadRequest('model is missing; name one', 'model');
  return model;
}

/** @throws BadRequest when it is neither absent nor a positive integer */
export function readLimit(body: JsonObject, name: string): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  throw new BadRequest(`${name} has to be a positive integer`, name);
}

/** @throws BadRequest when it is not a list of objects with at least one entry */
export function readList(body: JsonObject, name: string): readonly JsonObject[] {
  const value = body[name];
  if (Array.isArray(value) && value.length > 0 && value.every(isJsonObject)) return value;
  throw new BadRequest(`${name} has to be a list of objects, and not empty`, name);
}

export function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

export function textMember(value: JsonValue | undefined, name: string): string {
  const found = member(value, name);
  return typeof found === 'string' ? found : '';
}

/** Joins the texts of a content, which is a string or a list of parts in every format. */
export function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return objectsIn(content)
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : `[${textMember(part, 'type')}]`))
    .join('\n');
}
