import type { Usage } from '#core/facts.ts';
import { isJsonObject, type JsonObject } from '#core/json.ts';
import type { StreamEvent } from '#core/model-call/event-framer.ts';
import { tagState } from '../canonical/opaque-state.ts';
import {
  filledUsage,
  isCounted,
  type ReplyAdapter,
  rewriteData,
  tagMember,
  withName,
} from '../pass-through/reply-adapter.ts';
import { UsageMeter } from '../pass-through/usage-meter.ts';
import { writeUsage } from './reply-object.ts';

const total = /"total_tokens"\s*:\s*\d/;

export class ResponsesReplyAdapter implements ReplyAdapter {
  readonly meter: UsageMeter;
  readonly #tag: string;

  constructor(body: JsonObject, origin: string) {
    this.meter = new UsageMeter(body);
    this.#tag = tagState({ kind: 'encrypted', origin, data: '' });
  }

  event(event: StreamEvent, counted?: Usage): string {
    const text = withName(event);
    const type = String(event.name ?? event.parse()?.['type']);
    if (type.endsWith('.delta')) this.meter.delta(event);
    const isEnding = type === 'response.completed' || type === 'response.incomplete';
    return this.#tagged(isEnding ? this.#ending(event, text, counted) : text);
  }

  whole(text: string, body: JsonObject, counted?: Usage): string {
    const isCountedInFull = isCounted(counted) && total.test(text);
    return this.#tagged(isCountedInFull ? text : JSON.stringify(this.#withUsage(body, counted)));
  }

  failure(text: string): string {
    return this.#tagged(text);
  }

  #ending(event: StreamEvent, text: string, counted: Usage | undefined): string {
    const ending = event.parse();
    if (!isJsonObject(ending?.['response']) || (isCounted(counted) && total.test(text))) return text;
    return rewriteData(text, { ...ending, response: this.#withUsage(ending['response'], counted) });
  }

  /** OpenCode repeats the request endlessly without counts, and Codex without their total. */
  #withUsage(response: JsonObject, counted: Usage | undefined): JsonObject {
    this.meter.whole(response);
    const usage = writeUsage(this.meter.complete(counted, true));
    return { ...response, usage: filledUsage(response['usage'], usage) };
  }

  #tagged(text: string): string {
    return tagMember(text, 'encrypted_content', this.#tag);
  }
}
