import type { Usage } from '#core/gateway/facts.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { reportedFailure } from '#core/gateway/model-call/reported-failure.ts';
import { readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import { count, member } from '../../wire/members.ts';
import type { ReplyObserver } from './pass-through.ts';

/** Observes the reply of an endpoint that never streams. */
export class WholeObserver implements ReplyObserver {
  hasContent = false;
  isComplete = false;
  failure: GatewayError | undefined;
  usage: Usage | undefined;
  readonly #resultMembers: readonly string[];

  /** @param results names of the members that hold the results or their number */
  constructor(...results: readonly string[]) {
    this.#resultMembers = results;
  }

  event(): void {}

  whole(body: JsonObject): void {
    const error = readReportedError(body);
    if (error !== undefined) this.failure = reportedFailure(error);
    this.usage = inputUsage(body['usage']) ?? inputUsage(body['usageMetadata']);
    this.hasContent = this.#resultMembers.some((name) => isFilled(body[name]));
    this.isComplete = true;
  }

  get isFinished(): boolean {
    return this.isComplete;
  }

  get isOver(): boolean {
    return this.isComplete;
  }
}

/** Reads the token count of the prompt, from the names that OpenAI and Google use or from the total, which other vendors report. */
export function inputUsage(usage: JsonValue | undefined): Usage | undefined {
  for (const name of ['prompt_tokens', 'promptTokenCount', 'total_tokens']) {
    const input = count(member(usage, name));
    if (input !== undefined) return { input };
  }
  return undefined;
}

function isFilled(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return typeof value === 'number' || (typeof value === 'object' && value !== null);
}
