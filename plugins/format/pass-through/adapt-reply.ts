import type { Route } from '#core/catalog/catalog.ts';
import type { Usage } from '#core/facts.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { StateKind } from '../canonical/conversation.ts';
import { originOf, tagState } from '../canonical/opaque-state.ts';
import type { ClientRequest } from '../request/client-request.ts';
import { sealSignatures } from '../gemini/thought-signature.ts';
import { writeUsage as writeChatUsage } from '../chat/reply-object.ts';
import { writeUsage as writeGeminiUsage } from '../gemini/usage.ts';
import { writeUsage as writeMessagesUsage } from '../messages/usage.ts';
import { writeUsage as writeResponsesUsage } from '../responses/reply-object.ts';
import { member } from '../request/members.ts';
import { isOneAnswer } from './adapt-parameters.ts';
import { dataOf, UsageMeter } from './usage-meter.ts';

/**
 * Changes in a reply that otherwise passes as it came: sealed reasoning gets a tag of its origin, and counts of tokens
 * are where the format's clients cannot do without. Works on the text, so that every other byte stays.
 */
export interface ReplyAmender {
  readonly meter: UsageMeter;
  /**
   * Takes one whole event, blank line included, and returns what the client gets for it.
   *
   * @param counted what the upstream has counted, this event included
   */
  event(text: string, counted?: Usage): string;
  whole(text: string, counted?: Usage): string;
  /** What the client gets at the end of a stream that is complete. */
  end?(counted?: Usage): string;
}

/** Undefined when replies of the format need no change. */
export function amenderFor(client: ClientRequest, route: Route): ReplyAmender | undefined {
  if (client.purpose === 'count') return undefined;
  const origin = originOf(route.upstream);
  switch (client.format) {
    case 'chat':
      return new ChatAmender(client);
    case 'responses':
      return new ResponsesAmender(client, origin);
    case 'messages':
      return new MessagesAmender(client, origin);
    case 'gemini':
      return new GeminiAmender(client, origin);
    case 'images':
      return undefined;
  }
}

/** Puts a tag behind the opening quote of a member's value. Inside of strings quotes are escaped, and so not met. */
function tagger(name: string, kind: StateKind, origin: string): (text: string) => string {
  const pattern = new RegExp(`("${name}"\\s*:\\s*")(?=[^"])`, 'g');
  const quick = `"${name}"`;
  const tag = tagState({ kind, origin, data: '' });
  return (text) => (text.includes(quick) ? text.replace(pattern, `$1${tag}`) : text);
}

/** True when the upstream has counted what was asked and what was answered. */
function isCounted(usage: Usage | undefined): usage is Usage & { readonly input: number; readonly output: number } {
  return usage?.input !== undefined && usage.output !== undefined;
}

class GeminiAmender implements ReplyAmender {
  readonly meter: UsageMeter;
  readonly #tag: (text: string) => string;

  constructor({ body }: ClientRequest, origin: string) {
    this.meter = new UsageMeter(body);
    this.#tag = (text) => sealSignatures(text, origin);
  }

  event(text: string, counted?: Usage): string {
    if (text.includes('"candidates"')) this.meter.delta(text);
    const tagged = this.#tag(text);
    if (isCounted(counted) || !text.includes('"finishReason"')) return tagged;
    return rewriteData(tagged, (chunk) => (hasFinished(chunk) ? this.#withUsage(chunk, counted) : chunk));
  }

  whole(text: string, counted?: Usage): string {
    const tagged = this.#tag(text);
    if (isCounted(counted)) return tagged;
    const body = JSON.parse(tagged) as JsonObject;
    this.meter.whole(body);
    return JSON.stringify(this.#withUsage(body, counted));
  }

  #withUsage(body: JsonObject, counted: Usage | undefined): JsonObject {
    const usage = writeGeminiUsage(this.meter.complete(counted, true));
    return { ...body, usageMetadata: { ...asObject(body['usageMetadata']), ...usage } };
  }
}

/** True for the chunk that says why a candidate ends. */
function hasFinished({ candidates }: JsonObject): boolean {
  return Array.isArray(candidates) && candidates.some((one) => typeof member(one, 'finishReason') === 'string');
}

class MessagesAmender implements ReplyAmender {
  readonly meter: UsageMeter;
  readonly #tagSignature: (text: string) => string;
  readonly #tagRedacted: (text: string) => string;
  #hasStarted = false;

  constructor({ body }: ClientRequest, origin: string) {
    this.meter = new UsageMeter(body);
    this.#tagSignature = tagger('signature', 'signature', origin);
    this.#tagRedacted = tagger('data', 'redacted', origin);
  }

  event(said: string, counted?: Usage): string {
    const text = withName(said);
    if (!this.#hasStarted && text.includes('"message_start"')) return this.#start(text, counted);
    if (text.includes('"content_block_delta"')) this.meter.delta(text);
    // Elsewhere these could be members of a tool's input.
    if (text.includes('"signature_delta"') || text.includes('"thinking"')) return this.#tagSignature(text);
    if (text.includes('"redacted_thinking"')) return this.#tagRedacted(text);
    return text.includes('"message_delta"') ? this.#withOutput(text, counted) : text;
  }

  whole(text: string, counted?: Usage): string {
    const isComplete = isCounted(counted);
    if (isComplete && !text.includes('thinking"')) return text;
    const body = JSON.parse(text) as JsonObject;
    const content = Array.isArray(body['content']) ? body['content'] : [];
    const tagged = content.map((block) => (isJsonObject(block) ? this.#tagBlock(block) : block));
    if (isComplete) return JSON.stringify({ ...body, content: tagged });
    this.meter.whole(body);
    const usage = filledUsage(body['usage'], writeMessagesUsage(this.meter.complete(counted, true)));
    return JSON.stringify({ ...body, content: tagged, usage });
  }

  #tagBlock(block: JsonObject): JsonObject {
    if (block['type'] === 'thinking') return JSON.parse(this.#tagSignature(JSON.stringify(block))) as JsonObject;
    if (block['type'] === 'redacted_thinking')
      return JSON.parse(this.#tagRedacted(JSON.stringify(block))) as JsonObject;
    return block;
  }

  /** Anthropic's own SDK adds up from here, and dies where there is nothing to add to. */
  #start(text: string, counted: Usage | undefined): string {
    this.#hasStarted = true;
    if (counted?.input !== undefined) return text;
    return rewriteData(text, (event) => {
      const message = asObject(event['message']);
      const counts = writeMessagesUsage({ ...counted, input: this.meter.input });
      return { ...event, message: { ...message, usage: filledUsage(message['usage'], counts) } };
    });
  }

  /** Clients of the AI SDK die of a `message_delta` without counts. */
  #withOutput(text: string, counted: Usage | undefined): string {
    if (/"output_tokens"\s*:\s*\d/.test(text)) return text;
    this.meter.distrustOutput();
    const usage = writeMessagesUsage({
      ...counted,
      input: counted?.input ?? this.meter.input,
      output: this.meter.output,
    });
    return rewriteData(text, (event) => ({ ...event, usage: filledUsage(event['usage'], usage) }));
  }
}

class ResponsesAmender implements ReplyAmender {
  readonly meter: UsageMeter;
  readonly #tag: (text: string) => string;

  constructor({ body }: ClientRequest, origin: string) {
    this.meter = new UsageMeter(body);
    this.#tag = tagger('encrypted_content', 'encrypted', origin);
  }

  event(text: string, counted?: Usage): string {
    const tagged = this.#tag(withName(text));
    if (tagged.includes('.delta"')) this.meter.delta(tagged);
    if (!tagged.includes('"response.completed"') && !tagged.includes('"response.incomplete"')) return tagged;
    if (isCounted(counted) && /"total_tokens"\s*:\s*\d/.test(tagged)) return tagged;
    return rewriteData(tagged, (event) =>
      isJsonObject(event['response']) ? { ...event, response: this.#withUsage(event['response'], counted) } : event,
    );
  }

  whole(text: string, counted?: Usage): string {
    const tagged = this.#tag(text);
    if (isCounted(counted) && /"total_tokens"\s*:\s*\d/.test(tagged)) return tagged;
    return JSON.stringify(this.#withUsage(JSON.parse(tagged) as JsonObject, counted));
  }

  /** OpenCode asks again without end when the counts are missing, and Codex when the total is. */
  #withUsage(response: JsonObject, counted: Usage | undefined): JsonObject {
    this.meter.whole(response);
    const usage = writeResponsesUsage(this.meter.complete(counted, true));
    return { ...response, usage: filledUsage(response['usage'], usage) };
  }
}

class ChatAmender implements ReplyAmender {
  readonly meter: UsageMeter;
  readonly #hasOwnOptions: boolean;
  #isOwed: boolean;
  #last: string | undefined;
  #hasCalls = false;
  /** True when a finish reason has come, or may have: of several answers each has one of its own. */
  #hasFinished: boolean;

  constructor({ body }: ClientRequest) {
    const options = body['stream_options'];
    this.meter = new UsageMeter(body);
    this.#hasOwnOptions = isJsonObject(options);
    this.#isOwed = isJsonObject(options) && options['include_usage'] === true;
    this.#hasFinished = !isOneAnswer(body);
  }

  event(text: string, counted?: Usage): string {
    this.#hasFinished ||= /"finish_reason"\s*:\s*"/.test(text);
    this.#hasCalls ||= text.includes('"tool_calls"') && /"tool_calls"\s*:\s*\[\s*\{/.test(text);
    if (text.includes('"usage"') && /"usage"\s*:\s*\{/.test(text)) {
      // The gateway has asked for this one, not the client.
      return !this.#hasOwnOptions && /"choices"\s*:\s*\[\s*\]/.test(text) ? '' : text;
    }
    if (/^data:\s?\[DONE\]/m.test(text)) return this.#finish() + this.end(counted) + text;
    if (text.startsWith('data')) {
      this.meter.delta(text);
      this.#last = text;
    }
    return text;
  }

  whole(text: string, counted?: Usage): string {
    if (isCounted(counted)) return text;
    const body = JSON.parse(text) as JsonObject;
    this.meter.whole(body);
    return JSON.stringify({ ...body, usage: filledUsage(body['usage'], this.#usage(counted)) });
  }

  /** The reason that the upstream has not given, as a translation would: the helpers of OpenAI's SDK throw without one. */
  #finish(): string {
    if (this.#hasFinished || this.#last === undefined) return '';
    this.#hasFinished = true;
    const choice = { index: 0, delta: {}, finish_reason: this.#hasCalls ? 'tool_calls' : 'stop' };
    return rewriteData(this.#last, (chunk) => ({ ...chunk, choices: [choice] }));
  }

  /** The chunk that the client has asked for and the upstream has not given. */
  end(counted?: Usage): string {
    if (!this.#isOwed || isCounted(counted)) return '';
    this.#isOwed = false;
    const usage = this.#usage(counted);
    return rewriteData(this.#last ?? 'data: {}\n\n', (chunk) => ({ ...chunk, choices: [], usage }));
  }

  #usage(counted: Usage | undefined): JsonObject {
    return writeChatUsage(this.meter.complete(counted, true));
  }
}

/** Clients of Messages skip events without a name, those of Responses insist on it; some who speak them at second hand leave it out. */
function withName(event: string): string {
  if (event.startsWith('event:') || /^event:/m.test(event)) return event;
  const type = dataOf(event)?.['type'];
  return typeof type === 'string' ? `event: ${type}\n${event}` : event;
}

function asObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Counts in place of those that are missing; what else an upstream has said of them stays. */
function filledUsage(given: JsonValue | undefined, counts: JsonObject): JsonObject {
  const said = Object.entries(asObject(given)).filter(
    ([name, value]) => value !== null && value !== undefined && typeof counts[name] !== 'number',
  );
  return { ...counts, ...Object.fromEntries(said) };
}

/** Writes an event anew with other data. One that is no JSON stays as it is. */
function rewriteData(text: string, change: (data: JsonObject) => JsonObject): string {
  const value = dataOf(text);
  if (value === undefined) return text;
  const head = text.split(/\r\n|\n|\r/).filter((line) => line !== '' && !line.startsWith('data:'));
  return `${[...head, `data: ${JSON.stringify(change(value))}`].join('\n')}\n\n`;
}
