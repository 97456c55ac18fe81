import { renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { Dialect, GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { reportedFailure } from '#core/gateway/model-call/reported-failure.ts';
import { readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import { count, member } from '../../wire/members.ts';
import type { ReplyObserver } from './pass-through.ts';

/** Observes an answer of an endpoint that never streams. */
export class WholeObserver implements ReplyObserver {
  hasContent = false;
  isComplete = false;
  failure: GatewayError | undefined;
  usage: Usage | undefined;
  readonly #id: string;
  readonly #dialect: Dialect;
  readonly #results: readonly string[];

  /** @param results names of the member that holds the results */
  constructor(id: string, dialect: Dialect, ...results: readonly string[]) {
    this.#id = id;
    this.#dialect = dialect;
    this.#results = results;
  }

  event(): void {}

  whole(body: JsonObject): void {
    const error = readReportedError(body);
    if (error !== undefined) this.failure = reportedFailure(error);
    this.usage = inputUsage(body['usage']) ?? inputUsage(body['usageMetadata']);
    this.hasContent = this.#results.some((name) => isFilled(body[name]));
    this.isComplete = true;
  }

  get isFinished(): boolean {
    return this.isComplete;
  }

  get isOver(): boolean {
    return this.isComplete;
  }

  renderFailure(error: GatewayError): string {
    return renderStreamError(error, { id: this.#id, format: undefined, dialect: this.#dialect });
  }
}

/** Nothing but a prompt is counted: by OpenAI and Google under these names, by others as a total only. */
export function inputUsage(usage: JsonValue | undefined): Usage | undefined {
  for (const name of ['prompt_tokens', 'promptTokenCount', 'total_tokens']) {
    const input = count(member(usage, name));
    if (input !== undefined) return { input };
  }
  return undefined;
}

function isFilled(value: JsonValue | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : typeof value === 'object' && value !== null;
}
