import type { Usage } from '#core/gateway/facts.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { readFailure } from '../../canonical/reply.ts';
import { asCount, readMember } from '../../wire/members.ts';
import type { ReplyObserver } from './pass-through.ts';

export class NonStreamingObserver implements ReplyObserver {
  hasContent = false;
  isComplete = false;
  isFinished = false;
  isOver = false;
  failure: GatewayError | undefined;
  usage: Usage | undefined;
  readonly #resultMembers: readonly string[];

  /** @param resultMembers names of the members that hold the results or their number */
  constructor(...resultMembers: readonly string[]) {
    this.#resultMembers = resultMembers;
  }

  observeEvent(): void {}

  observeReply(body: JsonObject): void {
    this.failure = readFailure(body);
    this.usage = readInputUsage(body['usage']) ?? readInputUsage(body['usageMetadata']);
    this.hasContent = this.#resultMembers.some((name) => isResult(body[name]));
    this.isComplete = this.isFinished = this.isOver = true;
  }
}

/** Reads the prompt's token count under OpenAI's or Google's name, or from the total, which other vendors report. */
export function readInputUsage(usage: JsonValue | undefined): Usage | undefined {
  for (const name of ['prompt_tokens', 'promptTokenCount', 'total_tokens']) {
    const input = asCount(readMember(usage, name));
    if (input !== undefined) return { input };
  }
  return undefined;
}

function isResult(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return typeof value === 'number' || (typeof value === 'object' && value !== null);
}
