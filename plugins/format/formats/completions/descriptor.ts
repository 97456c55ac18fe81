import { renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { reportedFailure } from '#core/gateway/model-call/reported-failure.ts';
import { readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import { isPromptRefused } from '../chat/reply/prompt-filter.ts';
import { adaptUser, plainUser } from '../adaptation/adapt-parameters.ts';
import { asList, count, member } from '../../wire/members.ts';
import type { ClientFormat } from '../contract/descriptor.ts';
import { boolean, integer, number, parameters, text } from '../contract/parameters.ts';
import type { ReplyObserver } from '../contract/pass-through.ts';

/** Source: OpenAI API reference, "Create completion". */
const completionsParameters = parameters({
  stream: boolean,
  suffix: text,
  n: integer(1, 128),
  max_tokens: integer(0),
  temperature: number(0, 2),
  top_p: number(0, 1),
});

/** OpenAI's Completions, which editors use to fill in code between a prompt and a suffix. */
export const completions: ClientFormat = {
  name: 'completions',
  kind: 'chat',
  dialect: 'openai',
  reasoningStyles: [],
  path: () => '/completions',
  client: {
    endpoints: [
      {
        name: 'completions',
        method: 'POST',
        path: '/v1/completions',
        isMetered: true,
        isAliased: true,
        purpose: 'answer',
        required: ['prompt'],
      },
    ],
    parameters: completionsParameters,
    adapt: adaptUser(plainUser),
    observe: (id, { n }) => new CompletionsObserver(id, Number(n) || 1),
    modelPlace: { member: 'model' },
  },
};

/** Observes a Completions reply, whose end is an event without JSON. */
class CompletionsObserver implements ReplyObserver {
  readonly endMark = 'data: [DONE]\n\n';
  hasContent = false;
  isComplete = false;
  isOver = false;
  failure: GatewayError | undefined;
  usage: Usage | undefined;
  isPolicyRefusal = false;
  readonly #id: string;
  readonly #choices: number;
  readonly #finished = new Set<unknown>();

  /** @param choices that the client asks for */
  constructor(id: string, choices: number) {
    this.#id = id;
    this.#choices = choices;
  }

  event(event: StreamEvent): void {
    if (event.data?.trim() === '[DONE]') {
      this.isComplete = true;
      this.isOver = true;
      return;
    }
    const body = event.parse();
    if (body !== undefined) this.#read(body);
  }

  whole(body: JsonObject): void {
    this.#read(body);
    // An empty text is an answer: there may be nothing to fill in.
    this.hasContent ||= asList(body['choices']).length > 0;
    this.isComplete = true;
  }

  get isFinished(): boolean {
    return this.isComplete;
  }

  renderFailure(error: GatewayError): string {
    return renderStreamError(error, { id: this.#id, format: undefined, dialect: 'openai' });
  }

  #read(body: JsonObject): void {
    const error = readReportedError(body);
    if (error !== undefined) this.failure = reportedFailure(error);
    for (const choice of asList(body['choices'])) {
      const reason = member(choice, 'finish_reason');
      const isFinished = typeof reason === 'string' && reason !== '';
      this.isPolicyRefusal ||= reason === 'content_filter';
      this.hasContent ||= isFinished || member(choice, 'text') !== '';
      if (isFinished) this.#finished.add(member(choice, 'index'));
      this.isComplete ||= this.#finished.size >= this.#choices;
    }
    this.usage = usageOf(body) ?? this.usage;
    if (isPromptRefused(body)) this.hasContent = this.isComplete = this.isPolicyRefusal = true;
  }
}

function usageOf({ usage }: JsonObject): Usage | undefined {
  const input = count(member(usage, 'prompt_tokens'));
  const output = count(member(usage, 'completion_tokens'));
  return input === undefined && output === undefined ? undefined : { input, output };
}
