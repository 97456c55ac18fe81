import type { Usage } from '#core/facts.ts';
import { isJsonObject, type JsonObject } from '#core/json.ts';
import type { StreamEvent } from '#core/model-call/event-framer.ts';
import { filledUsage, isCounted, type ReplyAdapter, rewriteData } from '../pass-through/reply-adapter.ts';
import { UsageMeter } from '../pass-through/usage-meter.ts';
import { writeUsage } from './reply-object.ts';
import { isSingleAnswer } from './stops.ts';

export class ChatReplyAdapter implements ReplyAdapter {
  readonly meter: UsageMeter;
  readonly #hasOwnOptions: boolean;
  /** True while the client waits for a chunk with the usage. */
  #owesUsage: boolean;
  #last: StreamEvent | undefined;
  #hasCalls = false;
  /** True when a finish reason has come, or may have: each of several answers has one of its own. */
  #hasFinished: boolean;

  constructor(body: JsonObject) {
    const options = body['stream_options'];
    this.meter = new UsageMeter(body);
    this.#hasOwnOptions = isJsonObject(options);
    this.#owesUsage = isJsonObject(options) && options['include_usage'] === true;
    this.#hasFinished = !isSingleAnswer(body);
  }

  event(event: StreamEvent, counted?: Usage): string {
    const { text, data } = event;
    this.#hasFinished ||= /"finish_reason"\s*:\s*"/.test(text);
    this.#hasCalls ||= text.includes('"tool_calls"') && /"tool_calls"\s*:\s*\[\s*\{/.test(text);
    if (isUsageChunk(event)) {
      if (isCounted(counted)) this.#owesUsage = false;
      // Requested by the gateway, not by the client.
      return !this.#hasOwnOptions && /"choices"\s*:\s*\[\s*\]/.test(text) ? '' : text;
    }
    if (data?.startsWith('[DONE]') === true) return this.#finish() + this.end(counted) + text;
    if (data !== undefined) {
      this.meter.delta(event);
      this.#last = event;
    }
    return text;
  }

  whole(text: string, body: JsonObject, counted?: Usage): string {
    if (isCounted(counted)) return text;
    this.meter.whole(body);
    return JSON.stringify({ ...body, usage: filledUsage(body['usage'], this.#usage(counted)) });
  }

  /** The chunk that the client requested and the upstream did not send. */
  end(counted?: Usage): string {
    if (!this.#owesUsage) return '';
    this.#owesUsage = false;
    return this.#repeatLast({ choices: [], usage: this.#usage(counted) });
  }

  failure(text: string, counted?: Usage): string {
    return this.end(counted) + text;
  }

  /** The finish reason that the upstream has not sent: the helpers of OpenAI's SDK throw without one. */
  #finish(): string {
    if (this.#hasFinished || this.#last === undefined) return '';
    this.#hasFinished = true;
    return this.#repeatLast({
      choices: [{ index: 0, delta: {}, finish_reason: this.#hasCalls ? 'tool_calls' : 'stop' }],
    });
  }

  /** The last chunk again, with other members. */
  #repeatLast(members: JsonObject): string {
    return rewriteData(this.#last?.text ?? '', { ...this.#last?.parse(), ...members });
  }

  #usage(counted: Usage | undefined): JsonObject {
    return writeUsage(this.meter.complete(counted, true));
  }
}

/** True for a chunk with usage where clients look for it: some vendors have it inside another member. */
function isUsageChunk(event: StreamEvent): boolean {
  return /"usage"\s*:\s*\{/.test(event.text) && isJsonObject(event.parse()?.['usage']);
}
