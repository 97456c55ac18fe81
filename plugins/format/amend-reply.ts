import type { Route } from '#core/catalog.ts';
import { isJsonObject, type JsonObject } from '#core/json.ts';
import type { StateKind } from './canonical/conversation.ts';
import { estimateTokens } from './canonical/estimate.ts';
import { originOf, tagState } from './canonical/opaque-state.ts';
import type { ClientRequest } from './client-request.ts';

/**
 * Changes in a reply that otherwise passes as it came: sealed reasoning gets a tag of its origin, and counts of tokens
 * are where the format's clients cannot do without. Works on the text, so that every other byte stays.
 */
export interface ReplyAmender {
  /** Takes one whole event, blank line included, and returns what the client gets for it. */
  event(text: string): string;
  whole(text: string): string;
}

/** Undefined when replies of the format need no change. */
export function amenderFor(client: ClientRequest, route: Route): ReplyAmender | undefined {
  if (client.purpose === 'count') return undefined;
  const origin = originOf(route.upstream);
  switch (client.format) {
    case 'chat':
      return client.isStream ? new ChatAmender(client) : undefined;
    case 'responses':
      return new ResponsesAmender(client, origin);
    case 'messages':
      return new MessagesAmender(client, origin);
    case 'gemini':
      return new GeminiAmender(origin);
    case 'images':
      return undefined;
  }
}

/** Puts a tag behind the opening quote of a member's value. Inside of strings quotes are escaped, and so not met. */
function tagger(name: string, kind: StateKind, origin: string): (text: string) => string {
  const member = new RegExp(`("${name}"\\s*:\\s*")(?=[^"])`, 'g');
  const quick = `"${name}"`;
  const tag = tagState({ kind, origin, data: '' });
  return (text) => (text.includes(quick) ? text.replace(member, `$1${tag}`) : text);
}

class GeminiAmender implements ReplyAmender {
  readonly event: (text: string) => string;
  readonly whole: (text: string) => string;

  constructor(origin: string) {
    this.event = tagger('thoughtSignature', 'thought', origin);
    this.whole = this.event;
  }
}

class MessagesAmender implements ReplyAmender {
  readonly #requestBytes: number;
  readonly #tagSignature: (text: string) => string;
  readonly #tagRedacted: (text: string) => string;
  #bytes = 0;

  constructor(client: ClientRequest, origin: string) {
    this.#requestBytes = client.bytes.length;
    this.#tagSignature = tagger('signature', 'signature', origin);
    this.#tagRedacted = tagger('data', 'redacted', origin);
  }

  event(text: string): string {
    this.#bytes += text.length;
    // Elsewhere these could be members of a tool's input.
    if (text.includes('"signature_delta"') || text.includes('"thinking"')) return this.#tagSignature(text);
    if (text.includes('"redacted_thinking"')) return this.#tagRedacted(text);
    return text.includes('"message_delta"') ? this.#withUsage(text) : text;
  }

  whole(text: string): string {
    if (!text.includes('thinking"')) return text;
    const body = JSON.parse(text) as JsonObject;
    const content = Array.isArray(body['content']) ? body['content'] : [];
    const tagged = content.map((block) => (isJsonObject(block) ? this.#tagBlock(block) : block));
    return JSON.stringify({ ...body, content: tagged });
  }

  #tagBlock(block: JsonObject): JsonObject {
    if (block['type'] === 'thinking') return JSON.parse(this.#tagSignature(JSON.stringify(block))) as JsonObject;
    if (block['type'] === 'redacted_thinking')
      return JSON.parse(this.#tagRedacted(JSON.stringify(block))) as JsonObject;
    return block;
  }

  /** Clients of the AI SDK die of a `message_delta` without counts. */
  #withUsage(text: string): string {
    if (text.includes('"usage"') && !/"usage"\s*:\s*null/.test(text)) return text;
    return rewriteData(text, (event) => ({
      ...event,
      usage: { input_tokens: estimateTokens(this.#requestBytes), output_tokens: estimateTokens(this.#bytes / 8) },
    }));
  }
}

class ResponsesAmender implements ReplyAmender {
  readonly #requestBytes: number;
  readonly #tag: (text: string) => string;

  constructor(client: ClientRequest, origin: string) {
    this.#requestBytes = client.bytes.length;
    this.#tag = tagger('encrypted_content', 'encrypted', origin);
  }

  event(text: string): string {
    const tagged = this.#tag(text);
    if (!tagged.includes('"response.completed"') && !tagged.includes('"response.incomplete"')) return tagged;
    if (/"usage"\s*:\s*\{/.test(tagged)) return tagged;
    return rewriteData(tagged, (event) =>
      isJsonObject(event['response']) ? { ...event, response: this.#withUsage(event['response']) } : event,
    );
  }

  whole(text: string): string {
    const tagged = this.#tag(text);
    if (/"usage"\s*:\s*\{/.test(tagged)) return tagged;
    const body: unknown = JSON.parse(tagged);
    return isJsonObject(body) ? JSON.stringify(this.#withUsage(body)) : tagged;
  }

  /** OpenCode asks again without end when the counts are missing, and Codex when the total is. */
  #withUsage(response: JsonObject): JsonObject {
    const input = estimateTokens(this.#requestBytes);
    const output = estimateTokens(JSON.stringify(response['output'] ?? []).length);
    const usage = {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    };
    return { ...response, usage };
  }
}

class ChatAmender implements ReplyAmender {
  readonly #wantsUsage: boolean;
  readonly #hasOwnOptions: boolean;
  readonly #requestBytes: number;
  #hasUsage = false;
  #chunks = 0;
  #last: string | undefined;

  constructor({ body, bytes }: ClientRequest) {
    const options = body['stream_options'];
    this.#hasOwnOptions = isJsonObject(options);
    this.#wantsUsage = isJsonObject(options) && options['include_usage'] === true;
    this.#requestBytes = bytes.length;
  }

  event(text: string): string {
    if (text.includes('"usage"') && /"usage"\s*:\s*\{/.test(text)) {
      this.#hasUsage = true;
      // The gateway has asked for this one, not the client.
      return !this.#hasOwnOptions && /"choices"\s*:\s*\[\s*\]/.test(text) ? '' : text;
    }
    if (this.#wantsUsage && /^data:\s?\[DONE\]/m.test(text)) return this.#hasUsage ? text : this.#usageChunk() + text;
    if (text.startsWith('data')) {
      this.#chunks++;
      this.#last = text;
    }
    return text;
  }

  whole(text: string): string {
    return text;
  }

  /** What the client has asked for and the upstream has not given: chunks are about as many as tokens. */
  #usageChunk(): string {
    const input = estimateTokens(this.#requestBytes);
    const usage = { prompt_tokens: input, completion_tokens: this.#chunks, total_tokens: input + this.#chunks };
    return rewriteData(this.#last ?? 'data: {}\n\n', (chunk) => ({ ...chunk, choices: [], usage }));
  }
}

/** Writes an event anew with other data. One that is no JSON stays as it is. */
function rewriteData(text: string, change: (data: JsonObject) => JsonObject): string {
  const lines = text.split(/\r\n|\n|\r/);
  const data = lines.flatMap((line) => (line.startsWith('data:') ? [line.slice(5)] : [])).join('\n');
  try {
    const value: unknown = JSON.parse(data);
    if (!isJsonObject(value)) return text;
    const head = lines.filter((line) => line !== '' && !line.startsWith('data:'));
    return `${[...head, `data: ${JSON.stringify(change(value))}`].join('\n')}\n\n`;
  } catch {
    return text;
  }
}
