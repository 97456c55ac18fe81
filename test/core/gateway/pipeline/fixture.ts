import { Pipeline } from '#core/gateway/pipeline/pipeline.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { Outcome, Stage } from '#core/gateway/pipeline/stage.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { Logger } from '#core/platform/logger.ts';
import { createExchange } from '../../../support/exchange.ts';

/** A whole answer. */
export const reply = (body: string): Reply => ({ status: 200, headers: {}, body });
/** The outcome of a successful exchange. */
export const outcome: Outcome = {
  kind: 'answered',
  status: 200,
  error: undefined,
  bytesSent: 0,
  duration: 0,
  firstByteAfter: undefined,
};

/** A pipeline of stages that write down what happens to them, `a` first. */
export function trace(...stages: Stage[]) {
  const events: string[] = [];
  const log: Logger = { info() {}, warn() {}, error: (message) => void events.push(`log: ${message}`) };
  const named = stages.map((stage, index) => {
    const name = String.fromCharCode(97 + index);
    const traced: Stage = {
      start(exchange) {
        events.push(`${name} start`);
        stage.start?.(exchange);
      },
      enter(exchange) {
        events.push(`${name} enter`);
        return stage.enter?.(exchange);
      },
      leave(exchange, came) {
        events.push(`${name} leave`);
        return stage.leave?.(exchange, came);
      },
      done(exchange, how) {
        events.push(`${name} done`);
        return stage.done?.(exchange, how);
      },
      async [Symbol.asyncDispose]() {
        events.push(`${name} released`);
        await stage[Symbol.asyncDispose]?.();
      },
    };
    return { name, stage: traced };
  });
  return { pipeline: new Pipeline(named, log), events };
}

/** One exchange from begin to finish. */
export async function run({ pipeline }: { pipeline: Pipeline }, exchange = createExchange()): Promise<Reply> {
  pipeline.start(exchange);
  const answer = await pipeline.answer(exchange);
  await pipeline.finish(exchange, outcome);
  return answer;
}

/** Says no, as a stage does. */
export const refuse = (): never => {
  throw new GatewayError('forbidden', 'not today');
};
/** A mistake in the code of a stage. */
export const fail = (): never => {
  throw new TypeError('a mistake with dp-secret in it');
};

/** Adds to the body on its way out. */
export const add = (text: string): Stage => ({ leave: (_exchange, { body }) => reply(`${String(body)}${text}`) });
